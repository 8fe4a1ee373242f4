//! What can go wrong with GeoCLIP: each message is one line that names the file and the remedy.

use crate::gallery::GalleryError;
use crate::geoclip::pth::Refused;
use locdiff_base::WriteError;
use std::{io, path::PathBuf};

/// Why weights could not be read or a model could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum GeoClipError {
    /// A file that cannot be opened or read.
    #[error("cannot read {file}: {source}; check the path and its permissions")]
    Read { file: String, source: io::Error },
    /// A weight file with anything in it but plain tensors, or a damaged one.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Tensors that are no GeoCLIP.
    #[error("{file}: {reason}")]
    Weights { file: String, reason: String },
    /// What was given to import holds no GeoCLIP.
    #[error("{path}: {reason}", path = path.display())]
    Sources { path: PathBuf, reason: String },
    /// A failure of the engine.
    #[error(transparent)]
    Engine(#[from] locdiff_nn::NnError),
    /// A file that could not be read or written.
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
    /// A file that could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A result whose error is [`GeoClipError`].
pub type Result<T> = std::result::Result<T, GeoClipError>;

impl From<GeoClipError> for GalleryError {
    fn from(error: GeoClipError) -> Self {
        Self::Vectors(Box::new(error))
    }
}
