//! LocDiff's model: a conditional denoiser of SHDD codes ([`Model`], [`ModelConfig`]) and its training ([`train`]).
//! [`Predictor`] samples locations from embeddings, [`answer`] makes calibrated answers. [`eval`] and [`report`] measure them.

pub mod answer;
pub mod chance;
mod code_decoder;
mod codes;
mod config;
mod decode;
mod device_harmonics;
pub mod diffusion;
mod error;
pub mod eval;
mod head;
mod kept;
mod model;
mod network;
mod objective;
mod predictor;
mod quadrature;
pub mod report;
pub mod train;

pub use crate::diffusion::PredictionKind;
pub use code_decoder::CodeDecoder;
pub use codes::CodeWriter;
pub use config::{CodeScale, LossKind, MODEL_VERSION, ModelConfig, NetworkKind, QuadratureRecipe, ScheduleKind};
pub use decode::DeviceDecoder;
pub use device_harmonics::{DeviceHarmonics, DevicePoints};
pub use error::ModelError;
pub(crate) use error::Result;
pub use model::{CONFIG_FILE, Model, Standardisation, WEIGHTS_FILE};
pub use objective::Objective;
pub(crate) use objective::PAPER_ANCHORS;
pub use predictor::{Pooling, Prediction, Predictor, Query, Reading, SampleOptions, TraceStep};
pub use quadrature::QuadraturePoints;
