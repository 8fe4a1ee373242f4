//! What stands in for the HEIC and AVIF decoder where the feature `heif` is off.

use crate::{Result, VisionError, photo::limits::PhotoLimits};

#[allow(dead_code)] // reason: none is ever made
pub(super) struct Decoded {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) rgb: Vec<u8>,
    pub(super) icc: Option<Vec<u8>>,
}

pub(super) fn decode(_contents: &[u8], name: &str, format: &'static str, _limits: &PhotoLimits) -> Result<Decoded> {
    let reason = "this build is without the feature `heif`".to_owned();
    Err(VisionError::NoLibheif { file: name.to_owned(), format, reason })
}

/// Why there is no libheif. Always fails and says why.
pub fn libheif_version() -> std::result::Result<String, String> {
    Err("this build is without the feature `heif`".to_owned())
}
