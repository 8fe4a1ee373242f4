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
    /// Set the spherical-harmonic degree L
    #[arg(short = 'L', long, value_name = "L")]
    degree: Option<usize>,
    /// Minimise this loss
    #[arg(long, value_parser = named::<LossKind>())]
    loss: Option<LossKind>,
    /// Use this network
    #[arg(long, value_parser = named::<NetworkKind>())]
    network: Option<NetworkKind>,
    /// Set the layout of a CS-UNet's widths
    #[arg(long, value_parser = named::<Layout>())]
    layout: Option<Layout>,
    /// Set the narrowest width of a CS-UNet
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Set the width after the first layer [default: the preset's; (L+1)² for a CS-UNet of another degree]
    #[arg(long, value_name = "N")]
    hidden: Option<usize>,
    /// Drop this share of values
    #[arg(long, value_name = "SHARE")]
    dropout: Option<f32>,
    /// Set the factor inside the sine
    #[arg(long, value_name = "W0")]
    w0: Option<f32>,
    /// Use this noise schedule
    #[arg(long, value_parser = named::<ScheduleKind>())]
    schedule: Option<ScheduleKind>,
    /// Set the length T of the noise schedule
    #[arg(long, value_name = "T")]
    diffusion_steps: Option<usize>,
    /// Predict this; noise and v need --loss l1 or l2
    #[arg(long, value_parser = named::<PredictionKind>())]
    prediction: Option<PredictionKind>,
    /// Scale codes in the diffusion this way
    #[arg(long, value_parser = named::<CodeScale>())]
    code_scale: Option<CodeScale>,
    /// Use N points in the quadrature [default: by degree]
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
    /// Train for N steps
    #[arg(long, value_name = "N")]
    steps: Option<u32>,
    /// Use N rows per step
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// Split each batch into N passes: less memory, the same result
    #[arg(long, value_name = "N")]
    accumulate: Option<usize>,
    /// Set the highest learning rate
    #[arg(long, value_name = "RATE")]
    lr: Option<f64>,
    /// Change the learning rate this way
    #[arg(long, value_parser = named::<RateKind>())]
    rate: Option<RateKind>,
    /// Raise the learning rate over the first N steps
    #[arg(long, value_name = "N")]
    warmup_steps: Option<u32>,
    /// Set the weight decay
    #[arg(long, value_name = "X")]
    weight_decay: Option<f64>,
    /// Set the decay of the averaged weights
    #[arg(long, value_name = "X")]
    ema_decay: Option<f64>,
    /// Drop the embedding of this share of rows, for guidance
    #[arg(long, value_name = "SHARE")]
    condition_dropout: Option<f32>,
    /// Add this share of rows at pure noise
    #[arg(long, value_name = "P")]
    pure_noise: Option<f64>,
    /// Add noise of this standard deviation to the standardised embeddings
    #[arg(long, value_name = "X")]
    embedding_noise: Option<f32>,
    /// Validate every N steps; 0 for once at the end
    #[arg(long, value_name = "N")]
    validate_every: Option<u32>,
    /// Stop after this many validations without a better one, and keep the best
    #[arg(long, value_name = "N")]
    patience: Option<u32>,
    /// Write a checkpoint every N steps
    #[arg(long, value_name = "N")]
    checkpoint_every: Option<u32>,
    /// Keep N checkpoints
    #[arg(long, value_name = "N")]
    keep_checkpoints: Option<usize>,
    /// Write a row of metrics every N steps
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
