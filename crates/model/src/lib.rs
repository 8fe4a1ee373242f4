//! LocDiff's model: a conditional denoiser of SHDD codes, its losses, its files, and places sampled from embeddings.
//!
//! | you want | item |
//! |---|---|
//! | every choice of a model | [`ModelConfig`] |
//! | a model and its folder | [`Model`] |
//! | its training losses on a device | [`Objective`] |
//! | the points that densities are integrated over | [`Anchors`] |
//! | samples for embeddings | [`CodeSampler`] |
//! | one place an image | [`answers`], [`Pooling`] |

mod answer;
pub mod chance;
mod code_sampler;
mod codes;
mod config;
mod error;
mod head;
mod model;
mod objective;
mod quadrature;

pub use answer::{Answer, Pooling, answers};
pub use code_sampler::{CodeSampler, SampleOptions};
pub use codes::CodeWriter;
pub use config::{
    CodeScale, LayoutKind, LossKind, MODEL_VERSION, ModelConfig, PredictionKind, QuadratureRecipe,
    ScheduleKind,
};
pub use error::ModelError;
pub use model::{CONFIG_FILE, Model, Standardisation, WEIGHTS_FILE};
pub use objective::{Objective, PAPER_ANCHORS, make_anchors};
pub use quadrature::Anchors;
