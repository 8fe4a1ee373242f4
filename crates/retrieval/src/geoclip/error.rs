//! What can go wrong with GeoCLIP: each message is one line that names the file and the remedy.

use crate::{gallery::GalleryError, geoclip::pth::Refused};
use locdiff_base::WriteError;
use std::{io, path::PathBuf};

/// Why weights could not be read or a model could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum GeoClipError {
    #[error("cannot read {file}: {source}; check the path and its permissions")]
    Read { file: String, source: io::Error },
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("{file}: {reason}")]
    Weights { file: String, reason: String },
    #[error("{path}: {reason}", path = path.display())]
    Sources { path: PathBuf, reason: String },
    #[error(transparent)]
    Engine(#[from] locdiff_nn::NnError),
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
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
