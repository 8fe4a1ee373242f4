//! CLIP, DINOv2 and SigLIP folders as Hugging Face saves them: `config.json`, `preprocessor_config.json`,
//! `model.safetensors` (or shards with an index).

use super::{preprocessor::preprocessing, tower::Tower, tower::json, tower::licence, weights::Weights};
use crate::vit::{Family, Pooling, VitConfig, names};
use crate::{Result, VisionError, vit::names::Names};
use locdiff_base::ensure;
use locdiff_nn::Gelu;
use serde::Deserialize;
use std::{collections::BTreeMap, collections::BTreeSet, path::Path};

pub(super) const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// `config.json` of a whole model or of its vision tower alone; absent fields have the family's defaults.
#[derive(Deserialize)]
struct ConfigFile {
    model_type: Option<String>,
    vision_config: Option<Shape>,
    projection_dim: Option<usize>,
    /// Which of DINOv2's tokens are the embedding: `class`, `mean` or `both`. This field is ours.
    pooling: Option<String>,
    #[serde(flatten)]
    shape: Shape,
}

#[derive(Deserialize)]
#[serde(default)]
struct Shape {
    hidden_size: usize,
    intermediate_size: usize,
    mlp_ratio: f64,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_channels: usize,
    image_size: usize,
    patch_size: Option<usize>,
    hidden_act: Option<String>,
    layer_norm_eps: Option<f32>,
    projection_dim: Option<usize>,
    use_swiglu_ffn: bool,
    vision_use_head: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            hidden_size: 768,
            intermediate_size: 3072,
            mlp_ratio: 4.0,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            num_channels: 3,
            image_size: 224,
            patch_size: None,
            hidden_act: None,
            layer_norm_eps: None,
            projection_dim: None,
            use_swiglu_ffn: false,
            vision_use_head: true,
        }
    }
}

#[derive(Deserialize)]
struct ShardIndex {
    weight_map: BTreeMap<String, String>,
}

pub(super) fn open(folder: &Path) -> Result<Tower> {
    let path = folder.join(CONFIG);
    let ConfigFile { model_type, vision_config, projection_dim, pooling, shape } = json(&path)?;
    let bad = |detail: String| VisionError::encoder(&path, detail);
    let (family, shape) = match (model_type.as_deref(), vision_config) {
        (Some("clip") | None, Some(shape)) => (Family::Clip, shape),
        (Some("clip_vision_model"), _) => (Family::Clip, shape),
        (Some("siglip"), Some(shape)) => (Family::Siglip, shape),
        (Some("siglip_vision_model"), _) => (Family::Siglip, shape),
        (Some("dinov2"), _) => (Family::Dinov2, shape),
        (met, _) => {
            let known = "clip and siglip (with their vision_config), clip_vision_model, siglip_vision_model and dinov2";
            let other = "any other encoder can be exported to ONNX and used with an encoder.json";
            return Err(bad(format!("model_type is `{}`: known are {known}; {other}", met.unwrap_or("nothing"))));
        }
    };
    let mut config = shape.config(family, pooling.as_deref()).map_err(bad)?;
    // DINOv2 takes pictures of any size.
    let side = (family != Family::Dinov2).then_some(config.side);
    if side.is_some() {
        config.check().map_err(|error| bad(error.to_string()))?;
    }
    let weights = open_weights(folder)?;
    let (names, prefix) = spelling(family, &weights);
    if family == Family::Clip && weights.has("visual_projection.weight") {
        config.projection = Some(projection_dim.or(shape.projection_dim).unwrap_or(512));
    }
    let preprocessing = preprocessing(folder, family, side)?;
    config.side = preprocessing.input_side as usize;
    config.check().map_err(|error| bad(error.to_string()))?;
    Ok(Tower { licence: licence(folder), preprocessing, config, names, weights, prefix })
}

fn spelling(family: Family, weights: &Weights<'_>) -> (&'static Names, &'static str) {
    let (names, prefixes) = match family {
        Family::Dinov2 => (&names::DINOV2, ["", "dinov2.", "backbone."]),
        Family::Siglip => (&names::SIGLIP, ["vision_model.", "", "vision_model.vision_model."]),
        Family::Clip => (&names::CLIP, ["vision_model.", "", "vision_model.vision_model."]),
    };
    let is_it = |prefix: &&str| weights.has(&format!("{prefix}{}.weight", names.patches));
    let prefix = prefixes.into_iter().find(is_it).unwrap_or(prefixes[0]);
    let newer = weights.has(&format!("{prefix}encoder.layer.0.attention.o_proj.weight"));
    (if newer { &names::DINOV2_NEWER } else { names }, prefix)
}

impl Shape {
    fn config(&self, family: Family, pooling: Option<&str>) -> std::result::Result<VitConfig, String> {
        let (patch, activation, eps) = match family {
            Family::Clip => (32, "quick_gelu", 1e-5),
            Family::Siglip => (16, "gelu_pytorch_tanh", 1e-6),
            Family::Dinov2 => (14, "gelu", 1e-6),
        };
        let activation = match self.hidden_act.as_deref().unwrap_or(activation) {
            "quick_gelu" => Gelu::Quick,
            "gelu" => Gelu::Exact,
            "gelu_pytorch_tanh" => Gelu::Tanh,
            other => return Err(format!("hidden_act is `{other}`: known are quick_gelu, gelu and gelu_pytorch_tanh")),
        };
        ensure!(self.num_channels == 3, format!("num_channels is {}: photos have 3", self.num_channels));
        if self.use_swiglu_ffn {
            return Err("use_swiglu_ffn is set: DINOv2's giant is not known, its smaller sizes are".to_owned());
        }
        if !self.vision_use_head {
            return Err("vision_use_head is false: without its head a SigLIP has no embedding".to_owned());
        }
        let is_dino = family == Family::Dinov2;
        let pooling = match pooling {
            None if family == Family::Siglip => Pooling::Attention,
            Some(_) if !is_dino => return Err("pooling can be chosen for DINOv2 only".to_owned()),
            None | Some("class") => Pooling::Class,
            Some("mean") => Pooling::Mean,
            Some("both") => Pooling::ClassAndMean,
            Some(other) => return Err(format!("pooling is `{other}`: choose class, mean (of the patches) or both")),
        };
        let patch = self.patch_size.unwrap_or(patch);
        Ok(VitConfig {
            family,
            side: self.image_size,
            patch,
            grid: self.image_size.checked_div(patch).unwrap_or(0),
            width: self.hidden_size,
            inner: if is_dino { (self.hidden_size as f64 * self.mlp_ratio) as usize } else { self.intermediate_size },
            layers: self.num_hidden_layers,
            heads: self.num_attention_heads,
            activation,
            eps: self.layer_norm_eps.unwrap_or(eps),
            norm_before: family == Family::Clip,
            layer_scale: is_dino,
            pooling,
            projection: None,
        })
    }
}

/// `model.safetensors`, or the shards that its index names.
fn open_weights(folder: &Path) -> Result<Weights<'static>> {
    let (single, index) = (folder.join(WEIGHTS), folder.join(INDEX));
    if single.exists() || !index.exists() {
        return Weights::open(&BTreeSet::from([single]));
    }
    let ShardIndex { weight_map } = json(&index)?;
    let mut shards = BTreeSet::new();
    for shard in weight_map.into_values() {
        if Path::new(&shard).components().count() != 1 || shard.contains('\\') {
            return Err(VisionError::encoder(&index, format!("`{shard}` is not the name of a file next to it")));
        }
        shards.insert(folder.join(shard));
    }
    ensure!(!shards.is_empty(), VisionError::encoder(&index, "weight_map names no file"));
    Weights::open(&shards)
}
