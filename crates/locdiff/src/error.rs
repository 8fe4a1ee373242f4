//! What can go wrong between a photo and an answer.

use locdiff_base::{BadSetting, WriteError};
use std::path::PathBuf;

/// Why there is no answer, in one line.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// The photo or the encoder.
    #[error(transparent)]
    Vision(#[from] locdiff_vision::VisionError),
    /// The model or its device.
    #[error(transparent)]
    Model(#[from] locdiff_model::ModelError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] locdiff_nn::NnError),
    /// A code that is none.
    #[error(transparent)]
    Code(#[from] locdiff_shdd::ShddError),
    /// A number that is no place or degree.
    #[error(transparent)]
    Sphere(#[from] locdiff_sphere::SphereError),
    /// A file that cannot be written.
    #[error(transparent)]
    Data(#[from] locdiff_data::DataError),
    /// A file that could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A calibration that cannot be used.
    #[error("{path}: {reason}", path = path.display())]
    Calibration {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// An encoder and a model that do not belong together.
    #[error(
        "the encoder gives embeddings of {encoder} numbers, the model takes {model}: use the encoder it was trained with"
    )]
    Mismatch {
        /// The encoder's.
        encoder: usize,
        /// The model's.
        model: usize,
    },
    /// A setting out of range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// What is known besides leaves no place.
    #[error("no place is left: the region or prior that was given weighs nothing anywhere on land or sea")]
    Impossible,
}
