//! The settings of a model and of its training, as flags.

use crate::args::named;
use clap::Args;
use locdiff_model::train::{RateKind, TrainSettings};
use locdiff_model::{CodeScale, LossKind, ModelConfig, NetworkKind, PredictionKind, QuadratureRecipe, ScheduleKind};
use locdiff_nn::layers::Layout;

/// Settings of the model that differ from the preset's.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// Spherical-harmonic degree L
    #[arg(short = 'L', long, value_name = "L")]
    degree: Option<usize>,
    /// Loss function
    #[arg(long, value_parser = named::<LossKind>())]
    loss: Option<LossKind>,
    /// Network
    #[arg(long, value_parser = named::<NetworkKind>())]
    network: Option<NetworkKind>,
    /// Layout of a CS-UNet's widths
    #[arg(long, value_parser = named::<Layout>())]
    layout: Option<Layout>,
    /// Narrowest width of a CS-UNet
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Width after the first layer [default: the preset's; (L+1)² for a CS-UNet of another degree]
    #[arg(long, value_name = "N")]
    hidden: Option<usize>,
    /// Share of values dropped
    #[arg(long, value_name = "SHARE")]
    dropout: Option<f32>,
    /// Factor inside the sine
    #[arg(long, value_name = "W0")]
    w0: Option<f32>,
    /// Noise schedule
    #[arg(long, value_parser = named::<ScheduleKind>())]
    schedule: Option<ScheduleKind>,
    /// Length T of the noise schedule
    #[arg(long, value_name = "T")]
    diffusion_steps: Option<usize>,
    /// Predict this; noise and v need --loss l1 or l2
    #[arg(long, value_parser = named::<PredictionKind>())]
    prediction: Option<PredictionKind>,
    /// Scale of codes in the diffusion
    #[arg(long, value_parser = named::<CodeScale>())]
    code_scale: Option<CodeScale>,
    /// Points of the quadrature [default: by degree]
    #[arg(long, value_name = "N")]
    quadrature_points: Option<usize>,
    /// Keep only the N code dimensions that are largest over the training locations; the others are zero
    #[arg(long, value_name = "N")]
    pub(super) keep_dimensions: Option<usize>,
    /// Blur the locations by a heat kernel of this deviation; 0 is none [default: 3200/(L+1) for nll, else none]
    #[arg(long, value_name = "KM")]
    low_pass_km: Option<f64>,
    /// Do not standardise embeddings
    #[arg(long)]
    no_standardise: bool,
}

/// Settings of the training that differ from the preset's.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Training")]
pub(crate) struct TrainingArgs {
    /// Training steps
    #[arg(long, value_name = "N")]
    steps: Option<u32>,
    /// Rows per step
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// Split each batch into N passes: less memory, the same result
    #[arg(long, value_name = "N")]
    accumulate: Option<usize>,
    /// Highest learning rate
    #[arg(long, value_name = "RATE")]
    lr: Option<f64>,
    /// Schedule of the learning rate
    #[arg(long, value_parser = named::<RateKind>())]
    rate: Option<RateKind>,
    /// Steps of the learning rate's rise
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
    /// Share of rows at pure noise, in addition to rows at every step
    #[arg(long, value_name = "P")]
    pure_noise: Option<f64>,
    /// Standard deviation of noise on the standardised embeddings
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
    /// Number of checkpoints to keep
    #[arg(long, value_name = "N")]
    keep_checkpoints: Option<usize>,
    /// Steps between rows of metrics
    #[arg(long, value_name = "N")]
    log_every: Option<u32>,
}

/// Takes over the settings that were given.
macro_rules! set {
    ($to:ident from $given:ident: $($name:ident)*) => {
        $(if let Some(value) = $given.$name {
            $to.$name = value;
        })*
    };
}

impl ModelArgs {
    /// What was given, in the stead of a preset's.
    pub(super) fn apply(&self, base: ModelConfig) -> ModelConfig {
        let degree = self.degree.unwrap_or(base.degree);
        let mut config =
            ModelConfig { degree, quadrature: ModelConfig::new(degree, base.embedding_dim).quadrature, ..base };
        set! { config from self: loss network layout schedule prediction code_scale width dropout w0 diffusion_steps }
        config.hidden = self.hidden.or(config.hidden);
        config.low_pass_km = match self.low_pass_km {
            Some(km) => (km != 0.0).then_some(km),
            // The preset's, for this degree; measured for nll only.
            None if config.loss == LossKind::Nll => config.low_pass_km.map(|_| ModelConfig::usual_low_pass_km(degree)),
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

impl TrainingArgs {
    /// What was given, in the stead of a preset's.
    pub(super) fn apply(&self, mut settings: TrainSettings) -> TrainSettings {
        set! { settings from self: steps batch accumulate lr rate warmup_steps weight_decay ema_decay condition_dropout }
        set! { settings from self: pure_noise embedding_noise validate_every checkpoint_every keep_checkpoints log_every }
        settings.patience = self.patience.or(settings.patience);
        settings
    }
}
