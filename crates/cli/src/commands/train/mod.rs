//! `locdiff train`: embeddings and locations in, a model out.

mod settings;

use crate::interrupt::{InterruptGuard, Interrupted};
use crate::{args::DeviceArg, args::named, output, output::status, progress, say};
use anyhow::{Context, Result};
use clap::Args;
use locdiff_base::Named;
use locdiff_model::train::{Dataset, EmbeddingSource, Event, Outcome, Rows, RunConfig, TrainPreset, TrainingJob};
use locdiff_model::{ModelConfig, eval::Accuracy, train::clear_run, train::split_by_blocks, train::train};
use locdiff_nn::Device;
use serde_json::json;
pub(crate) use settings::{ModelArgs, TrainingArgs};
use std::{io::Write as _, path::PathBuf};

/// What to train, on which photos, how.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // reason: each is a flag of its own
pub(crate) struct Train {
    /// Read embeddings of the training photos, one row per photo: .safetensors or .npy, f16 or f32
    #[arg(long, value_name = "FILE")]
    embeddings: PathBuf,
    /// Read this tensor, if a safetensors file holds several
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    /// Use another copy of the same photos (other crops): a tensor of the same file, or a file. Repeat for several [default: augmented_1, augmented_2
    /// … that `embed --augment` made]
    #[arg(long, value_name = "NAME")]
    augmented: Vec<String>,
    /// Ignore the copies in the file
    #[arg(long, conflicts_with = "augmented")]
    no_copies: bool,
    /// Read locations of the training photos: .csv with lat and lon. Rows are matched by name if both tables name the photos, otherwise by
    /// order
    #[arg(long, value_name = "FILE")]
    locations: PathBuf,
    /// Validate with these embeddings
    #[arg(long, value_name = "FILE", requires = "validation_locations")]
    validation_embeddings: Option<PathBuf>,
    /// Read this tensor of the validation file
    #[arg(long, value_name = "NAME", requires = "validation_embeddings")]
    validation_tensor: Option<String>,
    /// Validate with these locations
    #[arg(long, value_name = "FILE", requires = "validation_embeddings")]
    validation_locations: Option<PathBuf>,
    /// Validate on about this share of the training rows instead, split by blocks of land
    #[arg(long, value_name = "SHARE", conflicts_with = "validation_embeddings")]
    validation_share: Option<f64>,
    /// Write model, checkpoints and metrics into this folder
    #[arg(short, long, value_name = "FOLDER")]
    out: PathBuf,
    /// Continue the run in --out
    #[arg(long)]
    resume: bool,
    /// Read embeddings from disk during training, even if the GPU's memory could hold them
    #[arg(long)]
    stream: bool,
    /// Use this preset for all settings that are not given
    #[arg(long, value_parser = named::<TrainPreset>(), default_value = TrainPreset::Default.name())]
    preset: TrainPreset,
    /// Where to compute.
    #[command(flatten)]
    device: DeviceArg,
    /// Set the seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
    /// The model.
    #[command(flatten)]
    model: ModelArgs,
    /// The training.
    #[command(flatten)]
    training: TrainingArgs,
}

impl Train {
    fn run_config(&self, columns: usize) -> RunConfig {
        let RunConfig { model, train } = self.preset.run_config(columns);
        let model = ModelConfig { seed: self.seed, ..self.model.apply(model) };
        RunConfig { model, train: self.training.apply(train) }
    }

    /// The photos themselves, then their other copies.
    fn sources(&self) -> Result<Vec<EmbeddingSource>> {
        let found;
        let copies = if self.no_copies || !self.augmented.is_empty() || self.tensor.is_some() {
            &self.augmented
        } else {
            found = EmbeddingSource::copies_in(&self.embeddings)?;
            &found
        };
        Ok(EmbeddingSource::with_copies(&self.embeddings, self.tensor.as_deref(), copies))
    }

    /// Trains to the end, or until it is interrupted.
    pub(crate) fn run(self) -> Result<()> {
        if self.train()? { Err(Interrupted.into()) } else { Ok(()) }
    }

    /// Trains; true where it was interrupted.
    fn train(&self) -> Result<bool> {
        output::finish_files();
        let device = Device::open(self.device.device)?;
        let data = Dataset::open(&self.sources()?, &self.locations)?;
        let mut config = self.run_config(data.columns());
        if let Some(count) = self.model.keep_dimensions {
            let places: Vec<_> = data.places().iter().map(|place| place.to_unit()).collect();
            config.model = config.model.keep_dimensions(count, &places).context("--keep-dimensions")?;
        }
        config.model.check()?;
        let other = match (&self.validation_embeddings, &self.validation_locations) {
            (Some(path), Some(locations)) => {
                let source = EmbeddingSource { path: path.clone(), tensor: self.validation_tensor.clone() };
                Some(Dataset::open(&[source], locations)?)
            }
            _ => None,
        };
        let share = self.validation_share.unwrap_or(0.0);
        anyhow::ensure!((0.0..1.0).contains(&share), "--validation-share {share}: give a share from 0 to below 1");
        let split = split_by_blocks(data.places(), share, self.seed);
        let other_rows: Vec<u32> = (0..other.as_ref().map_or(0, Dataset::len) as u32).collect();
        let validation = match &other {
            Some(data) => Some(Rows { data, rows: &other_rows }),
            None if split.validation.is_empty() => None,
            None => Some(Rows { data: &data, rows: &split.validation }),
        };
        let steps = config.train.steps;
        let bar = progress::bar("training", Some(u64::from(steps)));
        bar.set_style(
            indicatif::ProgressStyle::with_template("{prefix} {wide_bar} {human_pos}/{human_len} {msg}")
                .context("the template is valid")?,
        );
        if !self.json {
            let (rows, copies, degree) = (split.train.len(), data.copies(), config.model.degree);
            let held = validation.map_or(0, |own| own.rows.len());
            let copies = if copies > 1 { format!(", {copies} copies each") } else { String::new() };
            status!("{device}: {rows} photos{copies}, {held} to validate with, degree {degree}");
            if other.is_none() && held as f64 > 2.0 * share * data.len() as f64 {
                status!("note: validation takes whole regions, and the photos cover few: try another --seed");
            }
        }
        if output::is_forced() && !self.resume {
            clear_run(&self.out)?;
        }
        let guard = InterruptGuard::begin();
        let job = TrainingJob {
            device: &device,
            config,
            training: Rows { data: &data, rows: &split.train },
            validation,
            out: &self.out,
            resume: self.resume,
            stream: self.stream,
            stop: guard.stop(),
        };
        let mut accuracy = String::new();
        let outcome = train(job, |event| match event {
            Event::Message(message) => bar.suspend(|| say::line(&message)),
            Event::Progress { step, loss, lr, steps_per_second, .. } => {
                bar.set_position(u64::from(step));
                let left = f64::from(steps - step) / steps_per_second.max(1e-9);
                let left = indicatif::HumanDuration(std::time::Duration::from_secs_f64(left.min(1e9)));
                bar.set_message(format!("loss {loss:.3} lr {lr:.1e} {steps_per_second:.1}/s {left} left{accuracy}"));
            }
            Event::Validation { step, accuracy: found } => {
                accuracy = format!(" | {}", percentages(&found));
                if !self.json {
                    bar.suspend(|| drop(writeln!(output::human_out(), "step {step}: {found}")));
                }
            }
        });
        drop(guard);
        bar.finish_and_clear();
        let outcome = outcome?;
        self.tell(&outcome, &device.to_string())?;
        Ok(outcome.interrupted)
    }

    fn tell(&self, outcome: &Outcome, device: &str) -> Result<()> {
        if self.json {
            let summary = json!({
                "out": self.out, "step": outcome.step, "interrupted": outcome.interrupted, "device": device,
                "validation": outcome.validation, "best": outcome.best.map(|(score, step)| json!({"score": score, "step": step})),
                "steps_per_second": outcome.steps_per_second, "startup_seconds": outcome.startup_seconds,
            });
            status!("{summary}");
        } else if outcome.interrupted {
            status!("stopped at step {}: continue with --resume", outcome.step);
        } else {
            let (step, speed, startup) = (outcome.step, outcome.steps_per_second, outcome.startup_seconds);
            let out = self.out.display();
            status!("{step} steps ({speed:.1} per second, after {startup:.1} s to start): model in {out}");
        }
        Ok(())
    }
}

/// "25/200/750/2500 km: 1.0 5.2 30.1 50.3 %".
fn percentages(accuracy: &Accuracy) -> String {
    let shares: Vec<String> = accuracy.within[1..].iter().map(|share| format!("{:.1}", 100.0 * share)).collect();
    format!("25/200/750/2500 km: {} %", shares.join(" "))
}
