//! What can be wrong with a recipe: each message is one line.

use std::path::PathBuf;
use thiserror::Error;

/// Why a recipe could not be planned or run.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
pub(crate) enum RecipeError {
    /// Data that is not there; the list of it is told before.
    #[error("{count} of the things that the recipe needs are missing below {data}, the first is {first}", data = data.display())]
    Missing { count: usize, data: PathBuf, first: String },
    /// A folder that holds something else.
    #[error("{folder} is not empty and no recipe's: name another folder", folder = folder.display())]
    Foreign { folder: PathBuf },
    /// A file that cannot be read or written.
    #[error("cannot use {path}: {reason}; what is finished is kept", path = path.display())]
    File { path: PathBuf, reason: std::io::Error },
    /// A stage that did not leave what it should.
    #[error("the stage {stage} left no {file}: run the recipe again, it begins this stage anew", file = file.display())]
    NoOutput { stage: String, file: PathBuf },
    /// Too few photos to calibrate with.
    #[error(
        "{photos} photos are held out to calibrate with, {least} at least are needed: raise the share for validation"
    )]
    FewHeldOut { photos: usize, least: usize },
    #[error(transparent)]
    Setting(#[from] locdiff_base::BadSetting),
    #[error(transparent)]
    Locked(#[from] locdiff_base::LockError),
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
    #[error(transparent)]
    Ingest(#[from] locdiff_vision::sources::IngestError),
}

/// A result whose error is [`RecipeError`].
pub(crate) type Result<T> = std::result::Result<T, RecipeError>;

/// The error for a file that the system refuses.
pub(crate) fn cannot(path: &std::path::Path) -> impl Fn(std::io::Error) -> RecipeError {
    move |reason| RecipeError::File { path: path.to_owned(), reason }
}
