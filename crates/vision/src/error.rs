//! What can be wrong with a photo or an encoder: each message is one line that names the file and the remedy.

use std::{
    io,
    path::{Path, PathBuf},
};
use thiserror::Error;

/// Why a photo or an encoder could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VisionError {
    /// The file cannot be opened or read.
    #[error("cannot read {file}: {source}; check the path and its permissions")]
    Read {
        /// The file.
        file: String,
        /// The system's reason.
        source: io::Error,
    },
    /// An encoder that opens and does not work.
    #[error("{fault}")]
    Unsound {
        /// What is wrong with it, and the remedy.
        fault: &'static str,
    },
    /// The file has no bytes.
    #[error("{file} is empty (0 bytes): copy or download it again")]
    Empty {
        /// The file.
        file: String,
    },
    /// The content is no picture of a known kind.
    #[error("{file} is not a JPEG, PNG, WebP, TIFF, GIF or BMP picture: convert it to one of these")]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// A HEIC or AVIF picture, and the library that decodes them is not installed.
    #[error(
        "{file} is {format}, which needs the library libheif ({reason}): install it (Debian and Ubuntu: apt install libheif1, \
         Fedora: dnf install libheif, macOS: brew install libheif) or name its file in LOCDIFF_LIBHEIF, or convert the photo to JPEG"
    )]
    NoLibheif {
        /// The file.
        file: String,
        /// The kind, by its content.
        format: &'static str,
        /// Why the library was not loaded.
        reason: String,
    },
    /// A HEIC or AVIF picture, and libheif has no decoder for its coding.
    #[error(
        "{file} is {format}, and libheif has no decoder for it: install one for {codec}, or convert the photo to JPEG"
    )]
    NoHeifCodec {
        /// The file.
        file: String,
        /// The kind, by its content.
        format: &'static str,
        /// The coding and the packages that decode it.
        codec: &'static str,
    },
    /// More pixels than the limit allows.
    #[error(
        "{file} has {width}×{height} pixels, above the limit of {max_pixels}: make it smaller or raise the limit"
    )]
    TooManyPixels {
        /// The file.
        file: String,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// The limit.
        max_pixels: u64,
    },
    /// More bytes than the limit allows, in the file or once decoded.
    #[error(
        "{file} needs {bytes} bytes of memory, above the limit of {max_bytes}: make it smaller or raise the limit"
    )]
    TooManyBytes {
        /// The file.
        file: String,
        /// Bytes of the file, or of its decoded pixels.
        bytes: u64,
        /// The limit.
        max_bytes: u64,
    },
    /// The file ends before its picture does.
    #[error("{file} is cut off before the end of its picture: copy or download it again")]
    Truncated {
        /// The file.
        file: String,
    },
    /// The decoder gave up.
    #[error("{file} cannot be decoded as {format}: {reason}; copy it again, or save it anew as PNG or JPEG")]
    Decode {
        /// The file.
        file: String,
        /// The format of its first bytes.
        format: &'static str,
        /// The decoder's own words, on one line.
        reason: String,
    },
    /// A picture with no pixels, or pixels that do not fill it.
    #[error("{width}×{height} RGB pixels need {wanted} bytes, at least one pixel; got {got} bytes")]
    PixelCount {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Bytes these dimensions need.
        wanted: u64,
        /// Bytes given.
        got: u64,
    },
    /// A picture so long and thin that its resized copy would be too large.
    #[error("a photo of {width}×{height} pixels is too long and thin for the encoder: crop it first")]
    TooThin {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// A file of an encoder that does not fit.
    #[error("{path}: {detail}", path = path.display())]
    Encoder {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what would be right.
        detail: String,
    },
    /// Numbers that do not fit the network.
    #[error("the network wants {wanted} values for {what}, got {got}")]
    InputSize {
        /// What the numbers are.
        what: String,
        /// How many are wanted.
        wanted: usize,
        /// How many came.
        got: usize,
    },
    /// The device refused, or its memory does not suffice.
    #[error(transparent)]
    Device(#[from] locdiff_nn::NnError),
    /// An embedding that is none: a number that is not finite.
    #[error(transparent)]
    Data(#[from] locdiff_data::DataError),
    /// A network that cannot be built.
    #[error("a network cannot have {0}")]
    Architecture(String),
}

impl VisionError {
    /// The error for a file of an encoder that does not fit.
    pub(crate) fn encoder(path: &Path, detail: impl Into<String>) -> Self {
        Self::Encoder { path: path.to_owned(), detail: locdiff_base::one_line(&detail.into()) }
    }
}

/// A result whose error is [`VisionError`].
pub type Result<T> = std::result::Result<T, VisionError>;
