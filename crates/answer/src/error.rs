//! What can go wrong between a network's word and an answer.

use std::path::PathBuf;

/// Why there is no answer, in one line.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
#[non_exhaustive]
pub enum AnswerError {
    /// A code that is none, or of another degree.
    #[error(transparent)]
    Code(#[from] locdiff_shdd::ShddError),
    /// A number that is no place or degree.
    #[error(transparent)]
    Sphere(#[from] locdiff_sphere::SphereError),
    /// A file that cannot be written.
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
    /// A calibration that cannot be used.
    #[error("{path}: {reason}", path = path.display())]
    Calibration { path: PathBuf, reason: String },
    /// A setting out of range.
    #[error(transparent)]
    Setting(#[from] locdiff_base::BadSetting),
    /// What is also known leaves no place.
    #[error("no place is left: the region or prior that was given weighs nothing anywhere on land or sea")]
    Impossible,
}
