//! What the commands that train and test on embeddings share: data, budget, seeds.

use crate::terminal::{DeviceArg, named, parse_positive};
use anyhow::{Context, Result};
use clap::Args;
use locdiff_base::Named;
use locdiff_io::data::TableReader;
use locdiff_lab::{Effort, EffortPreset, Examples, Experiment, Splits};
use locdiff_model::train::{Dataset, EmbeddingSource};
use locdiff_nn::Device;
use std::path::{Path, PathBuf};

/// Embeddings and places to train on, to choose by and to report on.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct SplitArgs {
    /// Embeddings of the training photos, one per row: .safetensors or .npy, f16 or f32
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
    /// Leave out training photos within this distance of a test or validation photo: all of these then are of unseen places
    #[arg(long, value_name = "KM", value_parser = parse_positive)]
    hide_km: Option<f64>,
}

fn read(sources: &[EmbeddingSource], locations: &Path) -> Result<Examples> {
    Examples::read(&Dataset::open(sources, locations)?)
}

/// The collection of each row, empty if the file of places does not say it.
fn sources(locations: &Path) -> Result<Vec<String>> {
    let mut table = TableReader::open(locations)?;
    let (mut sources, column) = (Vec::new(), table.find(&["source"]));
    while let Some((_, fields)) = table.next_row()? {
        sources.push(column.map_or(String::new(), |column| fields[column].clone()));
    }
    Ok(sources)
}

impl SplitArgs {
    /// Photos of another set: a tensor of the same file, or a file.
    pub(crate) fn read_other(&self, name: &str, locations: &Path) -> Result<Examples> {
        read(&EmbeddingSource::with_copies(&self.embeddings, None, &[name.to_owned()])[1..], locations)
    }

    /// The collection of each validation photo, empty if the file of places does not say it.
    pub(crate) fn validation_sources(&self) -> Result<Vec<String>> {
        sources(&self.validation_locations)
    }

    /// The splits; of the validation photos those of the test photos' collections choose.
    pub(crate) fn read(&self) -> Result<Splits> {
        let (mut splits, own) = (self.read_all()?, sources(&self.test_locations)?);
        let each = self.validation_sources()?;
        let rows: Vec<usize> = (0..each.len()).filter(|row| own.contains(&each[*row])).collect();
        splits.choose_by(&rows)?;
        if let Some(km) = self.hide_km {
            splits.hide_near(km).context("--hide-km")?;
        }
        Ok(splits)
    }

    /// The splits with all validation photos.
    pub(crate) fn read_all(&self) -> Result<Splits> {
        let other = |path: &Option<PathBuf>, tensor: &Option<String>| {
            vec![EmbeddingSource {
                path: path.clone().unwrap_or_else(|| self.embeddings.clone()),
                tensor: tensor.clone(),
            }]
        };
        let training = EmbeddingSource::with_copies(&self.embeddings, self.train_tensor.as_deref(), &self.augmented);
        let validation = other(&self.validation_embeddings, &self.validation_tensor);
        let test = other(&self.test_embeddings, &self.test_tensor);
        Splits::new(
            read(&training, &self.locations)?,
            read(&validation, &self.validation_locations).context("validation")?,
            read(&test, &self.test_locations).context("test")?,
        )
    }
}

/// How much to do.
#[derive(Debug, Args)]
pub(crate) struct EffortArgs {
    /// The budget of every method that trains
    #[arg(long, value_parser = named::<EffortPreset>(), default_value = EffortPreset::Quick.name())]
    preset: EffortPreset,
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
        let (mut effort, _) = self.preset.effort();
        if let Some(steps) = self.steps {
            effort.steps = steps;
        }
        effort
    }

    pub(crate) fn seeds(&self) -> Vec<u64> {
        (0..u64::from(self.seeds.unwrap_or(self.preset.effort().1))).map(|k| self.seed + k).collect()
    }

    pub(crate) fn device(&self) -> Result<Device> {
        Ok(Device::open(self.device.device)?)
    }

    pub(crate) fn preset_name(&self) -> &'static str {
        self.preset.name()
    }
}

/// Data and budget of a table that trains models.
#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    #[command(flatten)]
    data: SplitArgs,
    #[command(flatten)]
    effort: EffortArgs,
}

impl ExperimentArgs {
    pub(crate) fn make<T>(&self, table: impl FnOnce(&Experiment<'_>) -> Result<T>) -> Result<T> {
        let (splits, device, seeds) = (self.data.read()?, self.effort.device()?, self.effort.seeds());
        table(&Experiment {
            device: &device,
            splits: &splits,
            effort: self.effort.effort(),
            effort_name: self.effort.preset_name(),
            seeds: &seeds,
        })
    }
}
