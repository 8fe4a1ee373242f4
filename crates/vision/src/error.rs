//! What can be wrong with a photo or an encoder: each message is one line that names the file and the remedy.

use std::{io, path::Path, path::PathBuf};
use thiserror::Error;

/// Why a photo or an encoder could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum VisionError {
    #[error("cannot read {file}: {source}; check the path and its permissions")]
    Read { file: String, source: io::Error },
    #[error("{fault}")]
    Unsound { fault: &'static str },
    #[error("{file} is empty (0 bytes): copy or download it again")]
    Empty { file: String },
    #[error("{file} is not a JPEG, PNG, WebP, TIFF, GIF, BMP, HEIC, AVIF or RAW picture: convert it to JPEG or PNG")]
    UnknownFormat { file: String },
    #[error("{file} is a RAW file ({kind}) without a preview: develop it, and give the JPEG")]
    NoPreview { file: String, kind: &'static str },
    #[error(
        "{file} is {format}, which needs the library libheif ({reason}): install it (Debian and Ubuntu: apt install libheif1, \
         Fedora: dnf install libheif, macOS: brew install libheif) or name its file in LOCDIFF_LIBHEIF, or convert the photo to JPEG"
    )]
    NoLibheif { file: String, format: &'static str, reason: String },
    #[error(
        "{file} is {format}, and libheif has no decoder for it: install one for {codec}, or convert the photo to JPEG"
    )]
    NoHeifCodec { file: String, format: &'static str, codec: &'static str },
    #[error("{file} has {width}×{height} pixels, above the limit of {max_pixels}: make it smaller or raise the limit")]
    TooManyPixels { file: String, width: u32, height: u32, max_pixels: u64 },
    #[error("{file} needs {bytes} bytes of memory, above the limit of {max_bytes}: make it smaller or raise the limit")]
    TooManyBytes { file: String, bytes: u64, max_bytes: u64 },
    #[error("{file} is cut off before the end of its picture: copy or download it again")]
    Truncated { file: String },
    #[error("{file} cannot be decoded as {format}: {reason}; copy it again, or save it again as PNG or JPEG")]
    Decode { file: String, format: &'static str, reason: String },
    #[error("{width}×{height} RGB pixels need {wanted} bytes, at least one pixel; got {got} bytes")]
    PixelCount { width: u32, height: u32, wanted: u64, got: u64 },
    #[error("a photo of {width}×{height} pixels is too long and thin for the encoder: crop it first")]
    TooThin { width: u32, height: u32 },
    #[error("{path}: {detail}", path = path.display())]
    Encoder { path: PathBuf, detail: String },
    #[error("the network wants {wanted} values for {what}, got {got}")]
    InputSize { what: String, wanted: usize, got: usize },
    #[error(transparent)]
    Device(#[from] locdiff_nn::NnError),
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
    #[error("a network cannot have {0}")]
    Architecture(String),
}

impl VisionError {
    pub(crate) fn encoder(path: &Path, detail: impl Into<String>) -> Self {
        Self::Encoder { path: path.to_owned(), detail: locdiff_base::one_line(&detail.into()) }
    }
}

/// A result whose error is [`VisionError`].
pub type Result<T> = std::result::Result<T, VisionError>;
