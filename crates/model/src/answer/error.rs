//! What can go wrong between a network's output and an answer.

/// Why there is no answer, in one line.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
#[non_exhaustive]
pub enum AnswerError {
    #[error(transparent)]
    Code(#[from] locdiff_shdd::ShddError),
    #[error(transparent)]
    Sphere(#[from] locdiff_shdd::sphere::SphereError),
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
    #[error("{path}: {reason}", path = path.display())]
    Calibration { path: std::path::PathBuf, reason: String },
    #[error(transparent)]
    Setting(#[from] locdiff_base::BadSetting),
    #[error("no location is left: the region or prior excludes everything")]
    Impossible,
}

pub(crate) type Result<T, E = AnswerError> = std::result::Result<T, E>;
