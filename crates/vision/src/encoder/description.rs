//! `encoder.json`: what LocDiff's own encoder folders say of themselves.

use crate::resize::ResizeFilter;
use crate::{CentreCrop, CropRounding, Preprocessing, ResizeRule, Result, VisionError, preprocessing::MAX_SIDE};
use locdiff_base::ensure;
use serde::Deserialize;
use std::path::Path;

const MAX_EMBEDDING: usize = 65536;

pub(crate) struct About {
    pub(crate) family: &'static str,
    pub(crate) architecture: String,
    pub(crate) licence: String,
    /// `None` for an ONNX file, whose weights are not read here.
    pub(crate) parameters: Option<usize>,
    pub(crate) file_bytes: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    pub(crate) architecture: String,
    short_side: u32,
    resize_filter: ResizeFilter,
    centre_crop: u32,
    /// Reached from the crop by bilinear interpolation between pixel centres, where they differ.
    input_side: u32,
    mean: [f32; 3],
    std: [f32; 3],
    pub(crate) embedding: usize,
    pub(crate) licence: String,
    /// Which output of an ONNX file is the embedding, where it has several.
    #[cfg_attr(not(feature = "onnx"), allow(dead_code, reason = "only ONNX files have named outputs"))]
    pub(crate) output: Option<String>,
}

impl Description {
    pub(crate) fn parse(path: &Path, contents: &[u8]) -> Result<Self> {
        let description: Self =
            serde_json::from_slice(contents).map_err(|error| VisionError::encoder(path, error.to_string()))?;
        description.check().map_err(|detail| VisionError::encoder(path, detail))?;
        Ok(description)
    }

    pub(crate) fn preprocessing(&self) -> Preprocessing {
        Preprocessing {
            resize: ResizeRule::ShortSide(self.short_side),
            filter: self.resize_filter,
            crop: Some(CentreCrop { width: self.centre_crop, height: self.centre_crop, rounding: CropRounding::Even }),
            input_side: self.input_side,
            scale: 1.0,
            mean: self.mean,
            std: self.std,
        }
    }

    /// What an encoder of this description is.
    pub(crate) fn about(&self, family: &'static str, parameters: Option<usize>, file_bytes: u64) -> About {
        let (architecture, licence) = (self.architecture.clone(), self.licence.clone());
        About { family, architecture, licence, parameters, file_bytes }
    }

    fn check(&self) -> std::result::Result<(), String> {
        let Self { short_side, centre_crop, input_side, embedding, .. } = *self;
        for (name, side) in [("short_side", short_side), ("centre_crop", centre_crop), ("input_side", input_side)] {
            ensure!(side != 0 && side <= MAX_SIDE, format!("{name} = {side} is out of range: choose 1 … {MAX_SIDE}"));
        }
        ensure!(centre_crop <= short_side, format!("centre_crop = {centre_crop} exceeds short_side = {short_side}"));
        if embedding == 0 || embedding > MAX_EMBEDDING {
            return Err(format!("embedding = {embedding} is out of range: choose 1 … {MAX_EMBEDDING}"));
        }
        self.preprocessing().check()
    }
}
