//! What can go wrong with an album.

/// Why an album has no answers, in one line.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
#[non_exhaustive]
pub enum AlbumError {
    #[error(transparent)]
    Sphere(#[from] locdiff_shdd::sphere::SphereError),
    #[error(transparent)]
    Code(#[from] locdiff_shdd::ShddError),
    #[error(transparent)]
    Answer(#[from] locdiff_model::answer::AnswerError),
    #[error("these settings of albums cannot be used: {reason}")]
    Settings { reason: String },
    #[error("{file}: {reason}")]
    Track { file: String, reason: String },
    #[error("'{text}' is not a time: write it as 2024-05-12T13:45:10+02:00 or 2024:05:12 13:45:10")]
    Time { text: String },
}

/// What album functions return.
pub(crate) type Result<T, E = AlbumError> = std::result::Result<T, E>;
