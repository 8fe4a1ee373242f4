//! What can go wrong with a baseline.

use locdiff_base::BadSetting;

/// Data that do not fit, a method that was not fitted, or a failure below.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
#[non_exhaustive]
pub enum BaselineError {
    #[error(transparent)]
    Setting(#[from] BadSetting),
    #[error("{method}: the loss is {loss} at step {step}; the embeddings may hold huge values")]
    Diverged { method: &'static str, step: u32, loss: f64 },
    #[error("the {set} embeddings have {columns} numbers, those to train on {training}: one encoder must make both")]
    Encoders { set: &'static str, columns: usize, training: usize },
    #[error("{row}, seed {seed}: {source}")]
    Row { row: String, seed: u64, source: Box<BaselineError> },
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
    #[error("cannot make a temporary folder: {0}")]
    Folder(#[from] std::io::Error),
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
    #[error(transparent)]
    Engine(#[from] locdiff_nn::NnError),
    #[error(transparent)]
    Sphere(#[from] locdiff_shdd::sphere::SphereError),
    #[error(transparent)]
    Codec(#[from] locdiff_shdd::ShddError),
    #[error(transparent)]
    Model(#[from] locdiff_model::ModelError),
    #[error(transparent)]
    Density(#[from] locdiff_model::answer::AnswerError),
    #[error(transparent)]
    Train(#[from] locdiff_model::train::TrainError),
}

/// A result whose error is [`BaselineError`].
pub(crate) type Result<T, E = BaselineError> = std::result::Result<T, E>;

impl BaselineError {
    /// The error with the row and the seed that it came with.
    pub(crate) fn of_row(row: &str, seed: u64, source: Self) -> Self {
        Self::Row { row: row.to_owned(), seed, source: Box::new(source) }
    }
}
