//! A published vision tower, its folder read and its weights open but not read yet.

use super::weights::Weights;
use crate::{Preprocessing, Result, VisionError, vit::VitConfig, vit::names::Names};
use serde::Deserialize;
use std::path::Path;

pub(crate) struct Tower {
    pub(crate) licence: String,
    pub(crate) preprocessing: Preprocessing,
    pub(crate) config: VitConfig,
    pub(crate) names: &'static Names,
    pub(crate) weights: Weights<'static>,
    /// Stands before the names, but not before the projection.
    pub(crate) prefix: &'static str,
}

impl Tower {
    pub(crate) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let prefix = if name == "visual_projection.weight" { "" } else { self.prefix };
        self.weights.tensor(&format!("{prefix}{name}"), shape)
    }
}

/// What the model card says: the line `license:` of its header.
pub(super) fn licence(folder: &Path) -> String {
    let card = locdiff_base::read_text_bounded(&folder.join("README.md"), 1 << 20).unwrap_or_default();
    let header = card.lines().skip_while(|line| line.trim() != "---").skip(1).take_while(|line| line.trim() != "---");
    let mut named = header.filter_map(|line| line.strip_prefix("license:"));
    let name = named.next().map(|name| name.trim().trim_matches('"').to_owned()).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "not stated in the folder: see its source".to_owned())
}

/// Larger files are no settings; the index of a model's shards has some MB.
const LARGEST_BYTES: u64 = 64 << 20;

pub(super) fn json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T> {
    let contents = locdiff_base::read_bounded(path, LARGEST_BYTES)
        .map_err(|source| VisionError::Read { file: path.display().to_string(), source })?;
    serde_json::from_slice(&contents).map_err(|error| VisionError::encoder(path, error.to_string()))
}
