//! What the commands that train and test on embeddings share: data, budget, seeds.

use crate::args::DeviceArg;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use locdiff_baselines::{Effort, Examples};
use locdiff_eval::{Nearby, Rules};
use locdiff_nn::Device;
use locdiff_sphere::LatLon;
use locdiff_train::{Dataset, Source};
use std::path::{Path, PathBuf};

/// Embeddings and places to train on, to choose by and to report on.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct SplitArgs {
    /// Embeddings of the training photos, one a row: .safetensors or .npy, f16 or f32
    #[arg(long, value_name = "FILE")]
    embeddings: PathBuf,
    /// Tensor of a safetensors file that holds several
    #[arg(long, value_name = "NAME")]
    train_tensor: Option<String>,
    /// Other copies of the training photos (other crops): a tensor of the same file, or a file; may be repeated
    #[arg(long, value_name = "NAME")]
    augmented: Vec<String>,
    /// Places of the training photos
    #[arg(long, value_name = "FILE")]
    locations: PathBuf,
    /// Embeddings of the validation photos, by which every choice is made [default: as --embeddings]
    #[arg(long, value_name = "FILE")]
    validation_embeddings: Option<PathBuf>,
    /// Their tensor
    #[arg(long, value_name = "NAME")]
    validation_tensor: Option<String>,
    /// Their places
    #[arg(long, value_name = "FILE")]
    validation_locations: PathBuf,
    /// Embeddings of the test photos, on which alone is reported [default: as --embeddings]
    #[arg(long, value_name = "FILE")]
    test_embeddings: Option<PathBuf>,
    /// Their tensor
    #[arg(long, value_name = "NAME")]
    test_tensor: Option<String>,
    /// Their places
    #[arg(long, value_name = "FILE")]
    test_locations: PathBuf,
    /// Leave out training photos within this distance of a test photo: every test photo then is of an unseen place
    #[arg(long, value_name = "KM", value_parser = crate::args::parse_positive)]
    hide_km: Option<f64>,
}

/// The three sets.
pub(crate) struct Splits {
    pub(crate) training: Examples,
    pub(crate) validation: Examples,
    pub(crate) test: Examples,
}

/// A file's photos, then their other copies: tensors of the same file, or files.
pub(crate) fn copies(path: &Path, tensor: Option<&str>, augmented: &[String]) -> Vec<Source> {
    let own = Source { path: path.to_owned(), tensor: tensor.map(str::to_owned) };
    let others = augmented.iter().map(|name| {
        let file = PathBuf::from(name);
        if file.is_file() {
            Source { path: file, tensor: None }
        } else {
            Source { path: path.to_owned(), tensor: Some(name.clone()) }
        }
    });
    std::iter::once(own).chain(others).collect()
}

impl SplitArgs {
    pub(crate) fn read(&self) -> Result<Splits> {
        let read = |sources: &[Source], locations: &Path| -> Result<Examples> {
            Ok(Examples::read(&Dataset::open(sources, locations)?)?)
        };
        let other = |path: &Option<PathBuf>, tensor: &Option<String>| {
            vec![Source {
                path: path.clone().unwrap_or_else(|| self.embeddings.clone()),
                tensor: tensor.clone(),
            }]
        };
        let training = copies(&self.embeddings, self.train_tensor.as_deref(), &self.augmented);
        let mut splits = Splits {
            training: read(&training, &self.locations)?,
            validation: read(
                &other(&self.validation_embeddings, &self.validation_tensor),
                &self.validation_locations,
            )
            .context("validation")?,
            test: read(&other(&self.test_embeddings, &self.test_tensor), &self.test_locations)
                .context("test")?,
        };
        let columns = splits.training.columns();
        for (name, examples) in [("validation", &splits.validation), ("test", &splits.test)] {
            anyhow::ensure!(
                examples.columns() == columns,
                "the {name} embeddings have {} numbers, those to train on {columns}: one encoder must make all",
                examples.columns()
            );
        }
        if let Some(km) = self.hide_km {
            let test: Vec<LatLon> = splits.test.points().iter().map(|point| point.to_latlon()).collect();
            let nearby = Nearby::new(&test, Rules::default());
            let is_far = |row: &usize| {
                nearby
                    .nearest_km(splits.training.points()[*row].to_latlon())
                    .is_none_or(|nearest| nearest > km)
            };
            let rows: Vec<usize> = (0..splits.training.len()).filter(is_far).collect();
            splits.training = splits.training.select(&rows).context("--hide-km leaves no training photo")?;
        }
        Ok(splits)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EffortArg {
    /// On two cores, half an hour for all methods with one seed
    Quick,
    /// What docs/results.md reports; for a GPU, or a night
    Full,
}

/// How much to do.
#[derive(Debug, Args)]
pub(crate) struct EffortArgs {
    /// The budget of every method that trains
    #[arg(long, value_enum, default_value_t = EffortArg::Quick)]
    preset: EffortArg,
    /// Training steps instead of the preset's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    steps: Option<u32>,
    /// Trainings of each method, with the seeds from --seed on [default: 1 for quick, 3 for full]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    seeds: Option<u32>,
    /// The first seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArg,
}

impl EffortArgs {
    pub(crate) fn effort(&self) -> Effort {
        let mut effort = match self.preset {
            EffortArg::Quick => Effort::quick(),
            EffortArg::Full => Effort::full(),
        };
        if let Some(steps) = self.steps {
            effort.steps = steps;
        }
        effort
    }

    pub(crate) fn seeds(&self) -> Vec<u64> {
        let default = if self.preset == EffortArg::Quick { 1 } else { 3 };
        (0..u64::from(self.seeds.unwrap_or(default))).map(|k| self.seed + k).collect()
    }

    pub(crate) fn device(&self) -> Result<Device> {
        Ok(Device::open(self.device.device)?)
    }

    pub(crate) fn preset_name(&self) -> &'static str {
        match self.preset {
            EffortArg::Quick => "quick",
            EffortArg::Full => "full",
        }
    }
}

/// Seconds of processor time this process has used on all threads, where the system tells (Linux).
pub(crate) fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which may hold anything, in brackets: state is field 3, user and system time 14 and 15, in 1/100 s.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}
