//! What can go wrong in training.

/// Data that do not fit, a run folder that cannot be used, or a failure below.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
pub enum TrainError {
    #[error(transparent)]
    Locked(#[from] locdiff_base::LockError),
    #[error("{first} has {first_rows} rows, {second} has {second_rows}: row k of both must be the same photo")]
    RowCounts { first: String, first_rows: usize, second: String, second_rows: usize },
    #[error(
        "{first} has embeddings of {first_columns} numbers, {second} of {second_columns}: use one encoder for both"
    )]
    Columns { first: String, first_columns: usize, second: String, second_columns: usize },
    #[error("{first} was made by the encoder {first_encoder}, {second} by {second_encoder}: use one encoder for both")]
    Encoders { first: String, first_encoder: String, second: String, second_encoder: String },
    #[error(transparent)]
    Answer(#[from] crate::answer::AnswerError),
    #[error(transparent)]
    Setting(#[from] locdiff_base::BadSetting),
    #[error("{path}: {reason}", path = path.display())]
    Folder { path: std::path::PathBuf, reason: String },
    #[error("{path} already holds a run: resume it, or choose another folder", path = path.display())]
    HoldsRun { path: std::path::PathBuf },
    #[error("the loss is {loss} at step {step}: lower the learning rate, and resume from an earlier checkpoint")]
    Diverged { step: u32, loss: f64 },
    #[error(transparent)]
    Model(#[from] crate::ModelError),
    #[error(transparent)]
    Engine(#[from] locdiff_nn::NnError),
    #[error(transparent)]
    Rows(#[from] crate::report::RowError),
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
}

pub(crate) type Result<T, E = TrainError> = std::result::Result<T, E>;

pub(crate) fn folder(path: &std::path::Path, reason: impl std::fmt::Display) -> TrainError {
    TrainError::Folder { path: path.to_owned(), reason: reason.to_string() }
}
