//! What can go wrong with a gallery: each message is one line that names the file or value and the remedy.

use locdiff_base::{BadSetting, WriteError};
use std::path::PathBuf;

/// Why a gallery could not be built, read or searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum GalleryError {
    /// Another run writes to the same folder.
    #[error(transparent)]
    Locked(#[from] locdiff_base::LockError),
    /// A folder that is no gallery, or a damaged one.
    #[error("{path}: {reason}", path = path.display())]
    Folder { path: PathBuf, reason: String },
    /// A vector of another size than the gallery's.
    #[error("a vector has {got} numbers, the gallery's have {wanted}: use the encoder it was built with")]
    Dimension { got: usize, wanted: usize },
    /// A vector that has no direction.
    #[error("vector {row} is zero or not finite, so it is like no other; remove it")]
    NoDirection { row: usize },
    /// A vector that does not go with its code.
    #[error(
        "the vector of row {row} is not the one that the gallery was built with: it is damaged; build the gallery again"
    )]
    Damaged { row: usize },
    /// Nothing to put into a gallery.
    #[error("a gallery needs at least one place")]
    Empty,
    /// A setting outside its range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// A failure of what makes the vectors.
    #[error(transparent)]
    Vectors(Box<dyn std::error::Error + Send + Sync>),
    /// A file that could not be read or written.
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
    /// A file that could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A result whose error is [`GalleryError`].
pub type Result<T> = std::result::Result<T, GalleryError>;
