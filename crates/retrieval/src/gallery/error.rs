//! What can go wrong with a gallery: each message is one line that names the file or value and the remedy.

use locdiff_base::{BadSetting, WriteError};
use std::path::{Path, PathBuf};

/// Why a gallery could not be built, read or searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum GalleryError {
    #[error(transparent)]
    Locked(#[from] locdiff_base::LockError),
    #[error("{path}: {reason}", path = path.display())]
    Folder { path: PathBuf, reason: String },
    #[error("a vector has {got} numbers, the gallery's have {wanted}: use the encoder it was built with")]
    Dimension { got: usize, wanted: usize },
    #[error("vector {row} is zero or not finite: remove it")]
    NoDirection { row: usize },
    #[error("the vector of row {row} differs from the gallery's checksum: it is damaged; build the gallery again")]
    Damaged { row: usize },
    #[error("a gallery needs at least one location")]
    Empty,
    #[error(transparent)]
    Setting(#[from] BadSetting),
    #[error(transparent)]
    Vectors(Box<dyn std::error::Error + Send + Sync>),
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl GalleryError {
    pub(crate) fn folder(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Folder { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// A result whose error is [`GalleryError`].
pub type Result<T, E = GalleryError> = std::result::Result<T, E>;
