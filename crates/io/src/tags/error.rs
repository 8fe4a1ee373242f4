//! What can be in the way: each message is one line that names the file and the remedy.

use locdiff_base::{JournalError, LockError, WriteError};
use std::io;
use thiserror::Error;

/// Why a photo got no tag.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum TagError {
    #[error("cannot read {file}: {source}; check the path and its permissions")]
    Read { file: String, source: io::Error },
    #[error("{file} already has a GPS tag: force the writing to replace it in the copy")]
    HasLocation { file: String },
    #[error(
        "{file} has a location in its XMP part, which would contradict the new one: remove it first (exiftool \
         '-xmp:gps*=' FILE), or write a sidecar"
    )]
    HasXmpLocation { file: String },
    #[error(
        "{file} is not a JPEG, PNG, WebP, TIFF, HEIC or AVIF picture, so it cannot hold a tag: write an XMP sidecar instead"
    )]
    UnknownFormat { file: String },
    #[error("{file} is a RAW file ({kind}), which is never changed: write an XMP sidecar instead")]
    SidecarOnly { file: String, kind: &'static str },
    #[error("{file} cannot take a tag: {reason}; write an XMP sidecar instead")]
    Unfit { file: String, reason: String },
    #[error("{file} is the photo itself, which is never changed: give the copy another name")]
    IsOriginal { file: String },
    #[error("{file} exists: give another name, or force the writing to replace it")]
    Exists { file: String },
    #[error("{file} is there, the original of an earlier writing: move it away first")]
    HasOriginal { file: String },
    #[error("{file} exists and cannot be extended: {reason}; repair it or move it away")]
    Sidecar { file: String, reason: String },
    #[error("{file} is not cleaned: {reason}")]
    NotCleaned { file: String, reason: String },
    #[error("{file} lies inside a shard: only photos in files of their own can be tagged")]
    NoFile { file: String },
    #[error(transparent)]
    Table(#[from] crate::data::DataError),
    #[error("{file}: {reason}")]
    Journal { file: String, reason: String },
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl From<JournalError> for TagError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Unusable { file, reason } => Self::Journal {
                file: file.display().to_string(),
                reason: format!("{reason}; give the journal that `locdiff locate` named"),
            },
            JournalError::Write(error) => Self::Write(error),
        }
    }
}

impl TagError {
    /// Whether the photo, or its sidecar, has a location already.
    pub fn is_has_location(&self) -> bool {
        matches!(self, Self::HasLocation { .. })
    }

    /// Whether it concerns one photo, so that others can go on; otherwise nothing can be written at all.
    pub fn is_about_photo(&self) -> bool {
        !matches!(self, Self::Write(_) | Self::Journal { .. } | Self::Lock(_))
    }
}

/// Why EXIF data or a sidecar did not get a place: it has one, or another reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    HasLocation,
    Unfit(String),
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self::Unfit(reason)
    }
}

/// A result whose error is [`TagError`].
pub type Result<T> = std::result::Result<T, TagError>;
