//! HEIC and AVIF photos, where the system has libheif.

mod library;

use crate::{Result, VisionError, photo::limits::PhotoLimits};
use library::{Failure, Picture, library};

/// What a file holds: its pixels stand upright.
pub(super) struct Decoded {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) rgb: Vec<u8>,
    pub(super) icc: Option<Vec<u8>>,
}

/// The version of libheif. The error says why there is none.
pub fn libheif_version() -> std::result::Result<String, String> {
    library().as_ref().map(library::Library::version).map_err(Clone::clone)
}

/// Decodes a file of the kind `format` by its brands; sizes are compared with the limits before any pixel is.
pub(super) fn decode(contents: &[u8], name: &str, format: &'static str, limits: &PhotoLimits) -> Result<Decoded> {
    let file = || name.to_owned();
    let missing = |reason: &String| VisionError::NoLibheif { file: file(), format, reason: reason.clone() };
    let library = library().as_ref().map_err(missing)?;
    let failed = |failure| match failure {
        Failure::NoCodec => VisionError::NoHeifCodec { file: file(), format, codec: codec(format) },
        Failure::Cut => VisionError::Truncated { file: file() },
        Failure::Other(reason) => VisionError::Decode { file: file(), format, reason },
    };
    let picture = Picture::open(library, contents).map_err(failed)?;
    // The coded size too: a crop may hide how much is decoded.
    for (width, height) in [picture.coded_size(), picture.size()] {
        let pixels = u64::from(width) * u64::from(height);
        if pixels > limits.max_pixels {
            return Err(VisionError::TooManyPixels { file: file(), width, height, max_pixels: limits.max_pixels });
        }
        let bytes = 3 * pixels;
        if bytes > limits.max_bytes {
            return Err(VisionError::TooManyBytes { file: file(), bytes, max_bytes: limits.max_bytes });
        }
    }
    let icc = picture.profile();
    let (width, height, rgb) = picture.decode().map_err(failed)?;
    Ok(Decoded { width, height, rgb, icc })
}

fn codec(format: &str) -> &'static str {
    if format == "AVIF" {
        "AV1 (Debian and Ubuntu: libheif-plugin-dav1d or libheif-plugin-aomdec; Homebrew's libheif has it)"
    } else {
        "HEVC (Debian and Ubuntu: libheif-plugin-libde265; Fedora: libheif-freeworld; Homebrew's libheif has it)"
    }
}
