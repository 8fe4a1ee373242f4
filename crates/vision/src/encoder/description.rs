//! `encoder.json`: what LocDiff's own encoder folders say of themselves.

use crate::{
    CentreCrop, CropRounding, Preprocessing, ResizeRule, Result, VisionError, preprocessing::MAX_SIDE, resize::Filter,
};
use serde::Deserialize;
use std::path::Path;

const MAX_EMBEDDING: usize = 65536;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    pub(crate) architecture: String,
    short_side: u32,
    resize_filter: Filter,
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

    fn check(&self) -> std::result::Result<(), String> {
        let sides =
            [("short_side", self.short_side), ("centre_crop", self.centre_crop), ("input_side", self.input_side)];
        for (name, side) in sides {
            if side == 0 || side > MAX_SIDE {
                return Err(format!("{name} = {side} is out of range: choose 1 … {MAX_SIDE}"));
            }
        }
        if self.centre_crop > self.short_side {
            let (crop, short) = (self.centre_crop, self.short_side);
            return Err(format!("centre_crop = {crop} exceeds short_side = {short}"));
        }
        if self.embedding == 0 || self.embedding > MAX_EMBEDDING {
            let met = self.embedding;
            return Err(format!("embedding = {met} is out of range: choose 1 … {MAX_EMBEDDING}"));
        }
        self.preprocessing().check()
    }
}
