//! What can be in the way: each message is one line that names the file and the remedy.

use locdiff_base::WriteError;
use std::io;
use thiserror::Error;

/// Why a photo got no tag.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TagError {
    /// The file cannot be opened or read.
    #[error("cannot read {file}: {source}; check the path and its permissions")]
    Read {
        /// The file.
        file: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The photo has a location already.
    #[error("{file} says already where it was taken: force the writing to replace that in the copy")]
    HasLocation {
        /// The photo.
        file: String,
    },
    /// The photo has a location in its XMP part, which is not rewritten here.
    #[error(
        "{file} has a location in its XMP part, which would contradict the new one: remove it first (exiftool \
         '-xmp:gps*=' FILE), or write a sidecar"
    )]
    HasXmpLocation {
        /// The photo.
        file: String,
    },
    /// Not a kind of file that can hold EXIF.
    #[error(
        "{file} is not a JPEG, PNG, WebP or TIFF picture, so it cannot hold a tag: write an XMP sidecar instead"
    )]
    UnknownFormat {
        /// The photo.
        file: String,
    },
    /// Damaged, or beyond what its format can hold.
    #[error("{file} cannot take a tag: {reason}; write an XMP sidecar instead")]
    Unfit {
        /// The photo.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The copy would be the original.
    #[error("{file} is the photo itself, which is never changed: give the copy another name")]
    IsOriginal {
        /// The target.
        file: String,
    },
    /// A file of the target's name is there.
    #[error("{file} exists: give another name, or force the writing to replace it")]
    Exists {
        /// The target.
        file: String,
    },
    /// The output cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A result whose error is [`TagError`].
pub type Result<T> = std::result::Result<T, TagError>;
