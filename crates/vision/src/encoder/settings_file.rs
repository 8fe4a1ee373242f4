//! JSON files of settings.

use crate::{Result, VisionError};
use serde::Deserialize;
use std::path::Path;

/// Larger files are no settings; the index of a model's shards has some MB.
const LARGEST_BYTES: u64 = 64 << 20;

/// What a file says.
pub(super) fn json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T> {
    let contents = locdiff_base::read_bounded(path, LARGEST_BYTES)
        .map_err(|source| VisionError::Read { file: path.display().to_string(), source })?;
    serde_json::from_slice(&contents).map_err(|error| VisionError::encoder(path, error.to_string()))
}
