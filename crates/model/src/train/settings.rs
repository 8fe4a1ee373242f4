//! How to train: settings and presets.

use crate::{CodeScale, LossKind, ModelConfig, NetworkKind, QuadratureRecipe, train::Result};
use locdiff_base::{ensure, named, setting};
use locdiff_nn::{AdamConfig, LrSchedule};
use serde::{Deserialize, Serialize};

named! {
    /// How the learning rate goes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RateKind: "rate" {
        #[default]
        Cosine = "cosine", "a linear rise, then half a cosine down to 0";
        Constant = "constant", "always the same";
    }
}

/// How to train.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainSettings {
    /// Steps in all.
    pub steps: u32,
    /// Rows a step, of all passes together.
    pub batch: usize,
    /// Passes over parts of the batch before the weights change: less memory for the same numbers.
    #[serde(default = "one", skip_serializing_if = "is_one")] // so that older runs can be resumed
    pub accumulate: usize,
    /// The highest learning rate.
    pub lr: f64,
    /// How it goes.
    pub rate: RateKind,
    /// Steps of its rise.
    pub warmup_steps: u32,
    /// L2 decay.
    pub weight_decay: f64,
    /// Largest norm of the gradient.
    pub clip_norm: f64,
    /// Decay of the averaged weights.
    pub ema_decay: f64,
    /// Share of rows whose embedding is dropped, for guidance.
    pub condition_dropout: f32,
    /// Share of rows at the noisiest step besides those that are drawn evenly: what is read at pure noise is trained
    /// there.
    #[serde(default)]
    pub pure_noise: f64,
    /// Deviation of normal noise on the standardised embeddings.
    pub embedding_noise: f32,
    /// Steps between validations; 0 for none but at the end.
    pub validate_every: u32,
    /// Samples an image in validations.
    pub validation_samples: usize,
    /// Sampler steps in validations.
    pub validation_steps: usize,
    /// Most rows that a validation looks at.
    pub validation_rows: usize,
    /// Stop after this many validations without a better one, and keep the best.
    pub patience: Option<u32>,
    /// Steps between checkpoints.
    pub checkpoint_every: u32,
    /// Checkpoints kept.
    pub keep_checkpoints: usize,
    /// Steps between rows of metrics.
    pub log_every: u32,
}

/// Values of `accumulate` that need not be written.
#[allow(clippy::trivially_copy_pass_by_ref)] // reason: serde hands over a reference
fn is_one(value: &usize) -> bool {
    *value == 1
}

fn one() -> usize {
    1
}

impl TrainSettings {
    /// Whether the settings can be used. Fails with the first one that cannot and what would be accepted.
    pub fn check(&self) -> Result<()> {
        let positive = [
            ("steps", self.steps as usize),
            ("batch", self.batch),
            ("accumulate", self.accumulate),
            ("checkpoint_every", self.checkpoint_every as usize),
            ("keep_checkpoints", self.keep_checkpoints),
            ("log_every", self.log_every as usize),
            ("validation_samples", self.validation_samples),
            ("validation_rows", self.validation_rows),
        ];
        if let Some((what, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(setting(what, 0, "at least 1"));
        }
        if !self.batch.is_multiple_of(self.accumulate) {
            return Err(setting("batch", self.batch, format!("a multiple of {} (passes)", self.accumulate)));
        }
        let most = [
            ("batch", self.batch, 1 << 20),
            ("validation_samples", self.validation_samples, 1 << 16),
            ("validation_steps", self.validation_steps, 100_000),
        ];
        if let Some((what, value, most)) = most.into_iter().find(|(_, value, most)| value > most) {
            return Err(setting(what, value, format!("at most {most}")));
        }
        let shares =
            [("condition_dropout", self.condition_dropout, 1.0), ("embedding_noise", self.embedding_noise, 10.0)];
        if let Some((what, value, _)) = shares.into_iter().find(|(_, value, most)| !(0.0..=*most).contains(value)) {
            return Err(setting(what, value, "0 to 1 (noise: to 10)"));
        }
        let rates = [("lr", self.lr), ("weight_decay", self.weight_decay), ("clip_norm", self.clip_norm)];
        if let Some((what, value)) = rates.into_iter().find(|(_, value)| !(*value >= 0.0 && value.is_finite())) {
            return Err(setting(what, value, "a finite number, 0 or more"));
        }
        ensure!((0.0..=0.99).contains(&self.pure_noise), setting("pure_noise", self.pure_noise, "0 to 0.99"));
        if !(0.0..1.0).contains(&self.ema_decay) {
            return Err(setting("ema_decay", self.ema_decay, "0 up to but not including 1"));
        }
        Ok(())
    }

    /// How often the noisiest step is repeated among `steps` that are drawn evenly, for the share that is asked for.
    pub(crate) fn pure_noise_repeats(&self, steps: usize) -> usize {
        (self.pure_noise * steps as f64 / (1.0 - self.pure_noise)).round() as usize
    }

    pub(crate) fn adam(&self) -> AdamConfig {
        let Self { lr, weight_decay, clip_norm, warmup_steps, steps: total_steps, .. } = *self;
        let schedule = match self.rate {
            RateKind::Constant => LrSchedule::Constant,
            RateKind::Cosine => LrSchedule::WarmupCosine { warmup_steps, total_steps, final_fraction: 0.0 },
        };
        let ema_decay = Some(self.ema_decay);
        AdamConfig { lr, schedule, weight_decay, clip_norm, ema_decay, ..AdamConfig::default() }
    }
}

/// A run's every choice: what `run.json` holds and a resumed run compares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// The model.
    pub model: ModelConfig,
    /// The training.
    pub train: TrainSettings,
}

named! {
    /// A named set of choices.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum TrainPreset: "preset" {
        #[default]
        Default = "default", "the most accurate on validation";
        Paper = "paper", "the paper's own settings";
        Small = "small", "a quick run on a CPU";
    }
}

impl TrainPreset {
    /// The preset's choices for embeddings of that size.
    pub fn run_config(self, embedding_dim: usize) -> RunConfig {
        let low_pass_km = |degree| Some(ModelConfig::usual_low_pass_km(degree));
        let default = RunConfig {
            model: ModelConfig {
                network: NetworkKind::Bayes,
                low_pass_km: low_pass_km(31),
                hidden: Some(1024),
                dropout: 0.5,
                ..ModelConfig::new(31, embedding_dim)
            },
            train: TrainSettings {
                steps: 2000,
                batch: 512,
                accumulate: 1,
                lr: 3e-4,
                rate: RateKind::Cosine,
                warmup_steps: 200,
                weight_decay: 5e-4,
                clip_norm: 1.0,
                ema_decay: 0.999,
                condition_dropout: 0.5,
                pure_noise: 0.0,
                embedding_noise: 1.0,
                validate_every: 1000,
                validation_samples: 8,
                validation_steps: 10,
                validation_rows: 1024,
                patience: None,
                checkpoint_every: 1000,
                keep_checkpoints: 3,
                log_every: 50,
            },
        };
        match self {
            Self::Default => default,
            Self::Paper => RunConfig {
                model: ModelConfig {
                    loss: LossKind::KlPaper,
                    code_scale: CodeScale::Paper,
                    quadrature: QuadratureRecipe::None,
                    ..ModelConfig::new(47, embedding_dim)
                },
                train: TrainSettings {
                    steps: 750_000,
                    lr: 1e-4,
                    rate: RateKind::Constant,
                    condition_dropout: 0.1,
                    embedding_noise: 0.0,
                    warmup_steps: 0,
                    validate_every: 10_000,
                    checkpoint_every: 5000,
                    log_every: 100,
                    ..default.train
                },
            },
            Self::Small => RunConfig {
                model: ModelConfig { width: 64, low_pass_km: low_pass_km(11), ..ModelConfig::new(11, embedding_dim) },
                train: TrainSettings {
                    steps: 400,
                    batch: 128,
                    lr: 1e-3,
                    warmup_steps: 50,
                    embedding_noise: 0.0,
                    validate_every: 200,
                    checkpoint_every: 100,
                    log_every: 20,
                    ..default.train
                },
            },
        }
    }
}
