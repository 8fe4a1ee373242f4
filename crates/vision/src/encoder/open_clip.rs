//! OpenCLIP's folders: `open_clip_config.json` and `open_clip_model.safetensors`, of which the vision tower is read.

use super::{tower::Tower, tower::json, tower::licence, weights::Weights};
use crate::vit::{Family, Pooling, VitConfig, names};
use crate::{CentreCrop, CropRounding, Preprocessing, ResizeRule, Result, VisionError, resize::ResizeFilter};
use locdiff_nn::Gelu;
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeSet, path::Path};

pub(super) const CONFIG: &str = "open_clip_config.json";
const WEIGHTS: &str = "open_clip_model.safetensors";

#[derive(Deserialize)]
struct Config {
    model_cfg: Model,
    #[serde(default)]
    preprocess_cfg: Preprocess,
}

#[derive(Deserialize)]
struct Model {
    embed_dim: usize,
    vision_cfg: Vision,
    #[serde(default)]
    quick_gelu: bool,
}

/// The vision tower; absent fields have OpenCLIP's defaults.
#[derive(Deserialize)]
#[serde(default)]
struct Vision {
    layers: Value,
    width: usize,
    head_width: usize,
    mlp_ratio: f64,
    patch_size: usize,
    image_size: usize,
    ls_init_value: Option<f64>,
    no_ln_pre: bool,
    pool_type: String,
    attentional_pool: Value,
    timm_model_name: Option<String>,
    norm_kwargs: NormOptions,
}

#[derive(Default, Deserialize)]
struct NormOptions {
    eps: Option<f32>,
}

impl Default for Vision {
    fn default() -> Self {
        Self {
            layers: 12.into(),
            width: 768,
            head_width: 64,
            mlp_ratio: 4.0,
            patch_size: 16,
            image_size: 224,
            ls_init_value: None,
            no_ln_pre: false,
            pool_type: "tok".to_owned(),
            attentional_pool: false.into(),
            timm_model_name: None,
            norm_kwargs: NormOptions::default(),
        }
    }
}

#[derive(Deserialize)]
#[serde(default)]
struct Preprocess {
    mean: [f32; 3],
    std: [f32; 3],
    interpolation: String,
    resize_mode: String,
}

impl Default for Preprocess {
    #[allow(clippy::excessive_precision)] // reason: copied digit by digit
    fn default() -> Self {
        Self {
            mean: [0.48145466, 0.4578275, 0.40821073],
            std: [0.26862954, 0.26130258, 0.27577711],
            interpolation: "bicubic".to_owned(),
            resize_mode: "shortest".to_owned(),
        }
    }
}

pub(super) fn open(folder: &Path) -> Result<Tower> {
    let path = folder.join(CONFIG);
    let Config { model_cfg, preprocess_cfg } = json(&path)?;
    let bad = |detail: String| VisionError::encoder(&path, detail);
    let config = model_cfg.tower().map_err(bad)?;
    config.check().map_err(|error| bad(error.to_string()))?;
    let preprocessing = preprocess_cfg.read(config.side as u32).map_err(bad)?;
    let weights = Weights::open(&BTreeSet::from([folder.join(WEIGHTS)]))?;
    let names = &names::OPEN_CLIP;
    Ok(Tower { licence: licence(folder), preprocessing, config, names, weights, prefix: "visual." })
}

impl Model {
    fn tower(&self) -> std::result::Result<VitConfig, String> {
        let Vision { width, head_width, mlp_ratio, patch_size, image_size, .. } = self.vision_cfg;
        let Vision { layers, timm_model_name, pool_type, attentional_pool, .. } = &self.vision_cfg;
        let other = "any other encoder can be exported to ONNX and used with an encoder.json";
        if let Some(name) = timm_model_name {
            return Err(format!("its vision tower is `{name}` of timm: known are OpenCLIP's own; {other}"));
        }
        let Some(layers) = layers.as_u64() else {
            return Err(format!("layers = {layers}: known are transformers, with a number of layers; {other}"));
        };
        if pool_type != "tok" || !matches!(attentional_pool, Value::Null | Value::Bool(false)) {
            return Err(format!("its embedding is not the class token (pool_type = {pool_type}): {other}"));
        }
        Ok(VitConfig {
            family: Family::OpenClip,
            side: image_size,
            patch: patch_size,
            grid: image_size.checked_div(patch_size).unwrap_or(0),
            width,
            inner: (width as f64 * mlp_ratio) as usize,
            layers: layers as usize,
            heads: width.checked_div(head_width).unwrap_or(0),
            activation: if self.quick_gelu { Gelu::Quick } else { Gelu::Exact },
            eps: self.vision_cfg.norm_kwargs.eps.unwrap_or(1e-5),
            norm_before: !self.vision_cfg.no_ln_pre,
            layer_scale: self.vision_cfg.ls_init_value.is_some(),
            pooling: Pooling::Class,
            projection: Some(self.embed_dim),
        })
    }
}

impl Preprocess {
    fn read(self, side: u32) -> std::result::Result<Preprocessing, String> {
        let filter = match self.interpolation.as_str() {
            "bicubic" => ResizeFilter::Bicubic,
            "bilinear" => ResizeFilter::Bilinear,
            other => return Err(format!("interpolation is `{other}`: known are bicubic and bilinear")),
        };
        let middle = CentreCrop { width: side, height: side, rounding: CropRounding::Even };
        let (resize, crop) = match self.resize_mode.as_str() {
            "shortest" => (ResizeRule::ShortSide(side), Some(middle)),
            "squash" => (ResizeRule::Exact(side, side), None),
            other => return Err(format!("resize_mode is `{other}`: known are shortest and squash")),
        };
        let Self { mean, std, .. } = self;
        let preprocessing = Preprocessing { resize, filter, crop, input_side: side, scale: 1.0 / 255.0, mean, std };
        preprocessing.check()?;
        Ok(preprocessing)
    }
}
