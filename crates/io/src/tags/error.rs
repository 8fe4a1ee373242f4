//! What can be in the way: each message is one line that names the file and the remedy.

use locdiff_base::{JournalError, LockError, WriteError};
use std::io;
use thiserror::Error;

/// Why a photo got no tag.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum TagError {
    /// The file cannot be opened or read.
    #[error("cannot read {file}: {source}; check the path and its permissions")]
    Read { file: String, source: io::Error },
    /// The photo has a location already.
    #[error("{file} says already where it was taken: force the writing to replace that in the copy")]
    HasLocation { file: String },
    /// The photo has a location in its XMP part, which is not rewritten here.
    #[error(
        "{file} has a location in its XMP part, which would contradict the new one: remove it first (exiftool \
         '-xmp:gps*=' FILE), or write a sidecar"
    )]
    HasXmpLocation { file: String },
    /// Not a kind of file that can hold EXIF.
    #[error(
        "{file} is not a JPEG, PNG, WebP, TIFF, HEIC or AVIF picture, so it cannot hold a tag: write an XMP sidecar instead"
    )]
    UnknownFormat { file: String },
    /// A RAW file, which is never written.
    #[error("{file} is a RAW file ({kind}), which is never changed: write an XMP sidecar instead")]
    SidecarOnly { file: String, kind: &'static str },
    /// Damaged, or beyond what its format can hold.
    #[error("{file} cannot take a tag: {reason}; write an XMP sidecar instead")]
    Unfit { file: String, reason: String },
    /// The copy would be the original.
    #[error("{file} is the photo itself, which is never changed: give the copy another name")]
    IsOriginal { file: String },
    /// A file of the target's name is there.
    #[error("{file} exists: give another name, or force the writing to replace it")]
    Exists { file: String },
    /// The original of an earlier writing is still there.
    #[error("{file} is there, the original of an earlier writing: move it away first")]
    HasOriginal { file: String },
    /// A sidecar that cannot be merged with.
    #[error("{file} is there and cannot be added to: {reason}; mend it or move it away")]
    Sidecar { file: String, reason: String },
    /// A photo that is no file of its own.
    #[error("{file} lies inside a shard: only photos in files of their own can be tagged")]
    NoFile { file: String },
    /// A table that cannot be written.
    #[error(transparent)]
    Table(#[from] crate::data::DataError),
    /// A journal that cannot be used.
    #[error("{file}: {reason}")]
    Journal { file: String, reason: String },
    /// Another run writes there.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The output cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl From<JournalError> for TagError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Unusable { file, reason } => Self::Journal {
                file: file.display().to_string(),
                reason: format!("{reason}; give the journal that locate named"),
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

/// A result whose error is [`TagError`].
pub type Result<T> = std::result::Result<T, TagError>;
