//! `locdiff train`: embeddings and locations in, a model out.

pub(crate) use crate::args::DeviceArg;
use crate::args::named;
use crate::interrupt::Careful;
use crate::progress;
use anyhow::{Context, Result};
use clap::Args;
use locdiff_base::Named;
use locdiff_eval::Accuracy;
use locdiff_model::{
    CodeScale, LayoutKind, LossKind, ModelConfig, PredictionKind, QuadratureRecipe, ScheduleKind,
};
use locdiff_nn::Device;
use locdiff_train::{
    Dataset, Event, Job, Outcome, RateKind, Rows, RunConfig, Source, TrainPreset, split_by_blocks, train,
};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Train {
    /// Embeddings of the training photos, one a row: .safetensors or .npy, f16 or f32
    #[arg(long, value_name = "FILE")]
    embeddings: PathBuf,
    /// Tensor of a safetensors file that holds several
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    /// Another copy of the same photos (other crops): a tensor of the same file, or a file; may be repeated
    #[arg(long, value_name = "NAME")]
    augmented: Vec<String>,
    /// Locations of the training photos, row by row: .csv with lat and lon
    #[arg(long, value_name = "FILE")]
    locations: PathBuf,
    /// Embeddings to validate with
    #[arg(long, value_name = "FILE", requires = "validation_locations")]
    validation_embeddings: Option<PathBuf>,
    /// Tensor of the validation file
    #[arg(long, value_name = "NAME")]
    validation_tensor: Option<String>,
    /// Locations to validate with
    #[arg(long, value_name = "FILE", requires = "validation_embeddings")]
    validation_locations: Option<PathBuf>,
    /// Validate with about this share of the training rows instead, split by blocks of land
    #[arg(long, value_name = "SHARE", conflicts_with = "validation_embeddings")]
    validation_share: Option<f64>,
    /// Folder of the run: model, checkpoints, metrics
    #[arg(short, long, value_name = "FOLDER")]
    out: PathBuf,
    /// Continue the run in that folder
    #[arg(long)]
    resume: bool,
    /// All settings that are not given
    #[arg(long, value_parser = named::<TrainPreset>(), default_value = TrainPreset::Default.name())]
    preset: TrainPreset,
    #[command(flatten)]
    device: DeviceArg,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print a JSON summary when done
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    training: TrainingArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
struct ModelArgs {
    /// Spherical-harmonic degree L
    #[arg(short = 'L', long, value_name = "L")]
    degree: Option<usize>,
    /// The loss
    #[arg(long, value_parser = named::<LossKind>())]
    loss: Option<LossKind>,
    /// How the network's widths go
    #[arg(long, value_parser = named::<LayoutKind>())]
    layout: Option<LayoutKind>,
    /// The network's narrowest width
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Width after the first layer [default: (L+1)²]
    #[arg(long, value_name = "N")]
    hidden: Option<usize>,
    /// Share of values dropped
    #[arg(long, value_name = "SHARE")]
    dropout: Option<f32>,
    /// Factor inside the sine
    #[arg(long, value_name = "W0")]
    w0: Option<f32>,
    /// The noise schedule
    #[arg(long, value_parser = named::<ScheduleKind>())]
    schedule: Option<ScheduleKind>,
    /// Its length T
    #[arg(long, value_name = "T")]
    diffusion_steps: Option<usize>,
    /// What the network predicts; noise and v go with l1 and l2
    #[arg(long, value_parser = named::<PredictionKind>())]
    prediction: Option<PredictionKind>,
    /// Size of codes in the diffusion
    #[arg(long, value_parser = named::<CodeScale>())]
    code_scale: Option<CodeScale>,
    /// Points of the quadrature [default: by degree]
    #[arg(long, value_name = "N")]
    quadrature_points: Option<usize>,
    /// Blur the locations by a heat kernel of this deviation; 0 for none [default: 4800/(L+1) for nll, else none]
    #[arg(long, value_name = "KM")]
    low_pass_km: Option<f64>,
    /// Take embeddings as they are
    #[arg(long)]
    no_standardise: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Training")]
struct TrainingArgs {
    /// Steps in all
    #[arg(long, value_name = "N")]
    steps: Option<u32>,
    /// Rows a step
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// Highest learning rate
    #[arg(long, value_name = "RATE")]
    lr: Option<f64>,
    /// How the learning rate goes
    #[arg(long, value_parser = named::<RateKind>())]
    rate: Option<RateKind>,
    /// Steps of its rise
    #[arg(long, value_name = "N")]
    warmup_steps: Option<u32>,
    /// L2 decay
    #[arg(long, value_name = "X")]
    weight_decay: Option<f64>,
    /// Decay of the averaged weights
    #[arg(long, value_name = "X")]
    ema_decay: Option<f64>,
    /// Share of rows whose embedding is dropped, for guidance
    #[arg(long, value_name = "SHARE")]
    condition_dropout: Option<f32>,
    /// Deviation of noise on the standardised embeddings
    #[arg(long, value_name = "X")]
    embedding_noise: Option<f32>,
    /// Steps between validations; 0 for one at the end only
    #[arg(long, value_name = "N")]
    validate_every: Option<u32>,
    /// Stop after this many validations without a better one, and keep the best
    #[arg(long, value_name = "N")]
    patience: Option<u32>,
    /// Steps between checkpoints
    #[arg(long, value_name = "N")]
    checkpoint_every: Option<u32>,
    /// Checkpoints kept
    #[arg(long, value_name = "N")]
    keep_checkpoints: Option<usize>,
    /// Steps between rows of metrics
    #[arg(long, value_name = "N")]
    log_every: Option<u32>,
}

fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *place = value;
    }
}

impl ModelArgs {
    fn apply(&self, base: ModelConfig) -> ModelConfig {
        let degree = self.degree.unwrap_or(base.degree);
        let mut config = ModelConfig {
            degree,
            quadrature: ModelConfig::new(degree, base.embedding_dim).quadrature,
            ..base
        };
        set(&mut config.loss, self.loss);
        set(&mut config.layout, self.layout);
        set(&mut config.schedule, self.schedule);
        set(&mut config.prediction, self.prediction);
        set(&mut config.code_scale, self.code_scale);
        set(&mut config.width, self.width);
        config.hidden = self.hidden.or(config.hidden);
        set(&mut config.dropout, self.dropout);
        set(&mut config.w0, self.w0);
        set(&mut config.diffusion_steps, self.diffusion_steps);
        config.low_pass_km = match self.low_pass_km {
            Some(km) => (km != 0.0).then_some(km),
            // The preset's, for this degree; measured for nll only.
            None if config.loss == LossKind::Nll => {
                config.low_pass_km.map(|_| ModelConfig::usual_low_pass_km(degree))
            }
            None => None,
        };
        config.standardise &= !self.no_standardise;
        if !config.loss.has_quadrature() {
            config.quadrature = QuadratureRecipe::None;
        } else if let Some(points) = self.quadrature_points {
            config.quadrature = match config.quadrature {
                QuadratureRecipe::Pool { .. } => QuadratureRecipe::Pool { points },
                _ => QuadratureRecipe::Fibonacci { points },
            };
        }
        config
    }
}

impl Train {
    fn run_config(&self, columns: usize) -> RunConfig {
        let RunConfig { model, train: mut settings } = self.preset.run_config(columns);
        let mut model = self.model.apply(model);
        model.seed = self.seed;
        let given = &self.training;
        set(&mut settings.steps, given.steps);
        set(&mut settings.batch, given.batch);
        set(&mut settings.lr, given.lr);
        set(&mut settings.rate, given.rate);
        set(&mut settings.warmup_steps, given.warmup_steps);
        set(&mut settings.weight_decay, given.weight_decay);
        set(&mut settings.ema_decay, given.ema_decay);
        set(&mut settings.condition_dropout, given.condition_dropout);
        set(&mut settings.embedding_noise, given.embedding_noise);
        set(&mut settings.validate_every, given.validate_every);
        settings.patience = given.patience.or(settings.patience);
        set(&mut settings.checkpoint_every, given.checkpoint_every);
        set(&mut settings.keep_checkpoints, given.keep_checkpoints);
        set(&mut settings.log_every, given.log_every);
        RunConfig { model, train: settings }
    }

    /// The photos themselves, then their other copies.
    fn sources(&self) -> Vec<Source> {
        Source::with_copies(&self.embeddings, self.tensor.as_deref(), &self.augmented)
    }

    pub(crate) fn run(self) -> Result<()> {
        let data = Dataset::open(&self.sources(), &self.locations)?;
        let config = self.run_config(data.columns());
        config.model.check()?;
        let other = match (&self.validation_embeddings, &self.validation_locations) {
            (Some(path), Some(locations)) => {
                let source = Source { path: path.clone(), tensor: self.validation_tensor.clone() };
                Some(Dataset::open(&[source], locations)?)
            }
            _ => None,
        };
        let share = self.validation_share.unwrap_or(0.0);
        anyhow::ensure!(
            (0.0..1.0).contains(&share),
            "--validation-share {share}: give 0 up to but not including 1"
        );
        let split = split_by_blocks(data.places(), share, self.seed);
        let other_rows: Vec<u32> = (0..other.as_ref().map_or(0, Dataset::len) as u32).collect();
        let validation = match &other {
            Some(data) => Some(Rows { data, rows: &other_rows }),
            None if split.validation.is_empty() => None,
            None => Some(Rows { data: &data, rows: &split.validation }),
        };
        let device = Device::open(self.device.device)?;
        let steps = config.train.steps;
        let bar = progress::bar("training", Some(u64::from(steps)));
        bar.set_style(
            indicatif::ProgressStyle::with_template("{prefix} {wide_bar} {human_pos}/{human_len} {msg}")
                .context("the template is valid")?,
        );
        if !self.json {
            let rows = split.train.len();
            println!(
                "{device}: {rows} photos, {} copies each, degree {}",
                data.copies(),
                config.model.degree
            );
        }
        let careful = Careful::begin();
        let job = Job {
            device: &device,
            config,
            training: Rows { data: &data, rows: &split.train },
            validation,
            out: &self.out,
            resume: self.resume,
            stop: careful.stop(),
        };
        let mut accuracy = String::new();
        let json_out = self.json;
        let outcome = train(job, |event| match event {
            Event::Message(message) => bar.suspend(|| eprintln!("{message}")),
            Event::Progress { step, loss, lr, steps_per_second, .. } => {
                bar.set_position(u64::from(step));
                let left = f64::from(steps - step) / steps_per_second.max(1e-9);
                let left = indicatif::HumanDuration(std::time::Duration::from_secs_f64(left.min(1e9)));
                bar.set_message(format!(
                    "loss {loss:.3} lr {lr:.1e} {steps_per_second:.1}/s {left} left{accuracy}"
                ));
            }
            Event::Validation { step, accuracy: found } => {
                accuracy = format!(" | {}", percentages(&found));
                if !json_out {
                    bar.suspend(|| println!("step {step}: {}", describe(&found)));
                }
            }
        });
        drop(careful);
        bar.finish_and_clear();
        let outcome = outcome?;
        self.tell(&outcome, &device.to_string());
        if outcome.interrupted {
            std::process::exit(130);
        }
        Ok(())
    }

    fn tell(&self, outcome: &Outcome, device: &str) {
        if self.json {
            let summary = json!({
                "out": self.out, "step": outcome.step, "interrupted": outcome.interrupted, "device": device,
                "validation": outcome.validation, "best": outcome.best.map(|(score, step)| json!({"score": score, "step": step})),
                "steps_per_second": outcome.steps_per_second,
            });
            println!("{summary}");
        } else if outcome.interrupted {
            println!("stopped at step {}: continue with --resume", outcome.step);
        } else {
            let speed = outcome.steps_per_second;
            println!("{} steps ({speed:.1} a second): model in {}", outcome.step, self.out.display());
        }
    }
}

/// "25/200/750/2500 km: 1.0 5.2 30.1 50.3 %".
fn percentages(accuracy: &Accuracy) -> String {
    let shares: Vec<String> =
        accuracy.within[1..].iter().map(|share| format!("{:.1}", 100.0 * share)).collect();
    format!("25/200/750/2500 km: {} %", shares.join(" "))
}

/// Accuracy in one line.
pub(crate) fn describe(accuracy: &Accuracy) -> String {
    let shares: Vec<String> = accuracy.within.iter().map(|share| format!("{:.1}", 100.0 * share)).collect();
    let shares = shares.join(" ");
    format!(
        "within 1/25/200/750/2500 km: {shares} % (n = {}), median {:.0} km",
        accuracy.n, accuracy.median_km
    )
}
