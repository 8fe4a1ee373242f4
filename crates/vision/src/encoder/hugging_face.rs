//! CLIP folders as Hugging Face saves them: `config.json`, `preprocessor_config.json`, `model.safetensors` (or shards
//! with an index), in all the spellings met in the wild.

use super::weights::Weights;
use crate::{CentreCrop, CropRounding, Preprocessing, ResizeRule, Result, VisionError, resize::Filter, vit::VitConfig};
use locdiff_nn::Gelu;
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// `config.json` of a whole CLIP or of its vision tower alone; absent fields have CLIP's defaults.
#[derive(Deserialize)]
struct Config {
    model_type: Option<String>,
    #[serde(rename = "vision_config")]
    vision: Option<Tower>,
    projection_dim: Option<usize>,
    #[serde(flatten)]
    tower: Tower,
}

#[derive(Deserialize)]
#[serde(default)]
struct Tower {
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_channels: usize,
    image_size: usize,
    patch_size: usize,
    hidden_act: String,
    layer_norm_eps: f32,
    projection_dim: Option<usize>,
}

impl Default for Tower {
    fn default() -> Self {
        Self {
            hidden_size: 768,
            intermediate_size: 3072,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            num_channels: 3,
            image_size: 224,
            patch_size: 32,
            hidden_act: "quick_gelu".to_owned(),
            layer_norm_eps: 1e-5,
            projection_dim: None,
        }
    }
}

/// `preprocessor_config.json`; absent fields have CLIP's defaults.
#[allow(clippy::struct_excessive_bools)] // reason: the file's own switches
#[derive(Deserialize)]
#[serde(default)]
struct Preprocessor {
    do_resize: bool,
    do_center_crop: bool,
    do_rescale: bool,
    do_normalize: bool,
    size: Value,
    crop_size: Value,
    resample: u32,
    rescale_factor: f32,
    image_mean: [f32; 3],
    image_std: [f32; 3],
}

impl Default for Preprocessor {
    #[allow(clippy::excessive_precision)] // reason: copied digit by digit
    fn default() -> Self {
        Self {
            do_resize: true,
            do_center_crop: true,
            do_rescale: true,
            do_normalize: true,
            size: 224.into(),
            crop_size: 224.into(),
            resample: 3,
            rescale_factor: 1.0 / 255.0,
            image_mean: [0.48145466, 0.4578275, 0.40821073],
            image_std: [0.26862954, 0.26130258, 0.27577711],
        }
    }
}

/// `processor_config.json`, which newer versions write for a whole CLIP.
#[derive(Deserialize)]
struct Processor {
    image_processor: Preprocessor,
}

#[derive(Deserialize)]
struct ShardIndex {
    weight_map: BTreeMap<String, String>,
}

/// A folder read, its weights open but not read yet.
pub(crate) struct Folder {
    pub(crate) architecture: String,
    pub(crate) licence: String,
    pub(crate) preprocessing: Preprocessing,
    pub(crate) config: VitConfig,
    pub(crate) weights: Weights<'static>,
    /// Stands before the tower's names, but not before `visual_projection`.
    prefix: &'static str,
}

impl Folder {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let path = folder.join("config.json");
        let Config { model_type, vision, projection_dim, tower } = json(&path)?;
        let bad = |detail: String| VisionError::encoder(&path, detail);
        let tower = match (model_type.as_deref(), vision) {
            (Some("clip") | None, Some(tower)) => tower,
            (Some("clip_vision_model"), _) => tower,
            (met, _) => {
                let met = met.unwrap_or("nothing");
                return Err(bad(format!(
                    "model_type is `{met}`: known are clip (with its vision_config) and clip_vision_model; any other \
                     encoder can be exported to ONNX and used with an encoder.json"
                )));
            }
        };
        let weights = open_weights(folder)?;
        let prefixes = ["vision_model.", "", "vision_model.vision_model."];
        let is_it = |prefix: &&str| weights.has(&format!("{prefix}embeddings.class_embedding"));
        let prefix = prefixes.into_iter().find(is_it).unwrap_or(prefixes[0]);
        let projected = weights.has("visual_projection.weight");
        let projection = projection_dim.or(tower.projection_dim).unwrap_or(512);
        let config = tower.config(projected.then_some(projection)).map_err(bad)?;
        config.check().map_err(|error| bad(error.to_string()))?;
        let architecture = format!("clip-vit-{}-patch{}-{}", size_name(config.width), config.patch, config.side);
        let preprocessing = preprocessing(folder, &config)?;
        Ok(Self { architecture, licence: licence(folder), preprocessing, config, weights, prefix })
    }

    /// The tower's tensor of that name.
    pub(crate) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let prefix = if name.starts_with("visual_projection") { "" } else { self.prefix };
        self.weights.tensor(&format!("{prefix}{name}"), shape)
    }
}

impl Tower {
    fn config(&self, projection: Option<usize>) -> std::result::Result<VitConfig, String> {
        let activation = match self.hidden_act.as_str() {
            "quick_gelu" => Gelu::Quick,
            "gelu" => Gelu::Exact,
            other => return Err(format!("hidden_act is `{other}`: known are quick_gelu and gelu")),
        };
        if self.num_channels != 3 {
            return Err(format!("num_channels is {}: photos have 3", self.num_channels));
        }
        Ok(VitConfig {
            side: self.image_size,
            patch: self.patch_size,
            width: self.hidden_size,
            inner: self.intermediate_size,
            layers: self.num_hidden_layers,
            heads: self.num_attention_heads,
            activation,
            eps: self.layer_norm_eps,
            projection,
        })
    }
}

/// The names by which the published towers go.
fn size_name(width: usize) -> String {
    match width {
        768 => "base".to_owned(),
        1024 => "large".to_owned(),
        1280 => "huge".to_owned(),
        other => format!("width{other}"),
    }
}

fn preprocessing(folder: &Path, config: &VitConfig) -> Result<Preprocessing> {
    let mut path = folder.join("preprocessor_config.json");
    let newer = folder.join("processor_config.json");
    let given: Preprocessor = if !path.exists() && newer.exists() {
        path = newer;
        json::<Processor>(&path)?.image_processor
    } else {
        json(&path)?
    };
    let bad = |detail: String| VisionError::encoder(&path, detail);
    let filter = match given.resample {
        2 => Filter::Bilinear,
        3 => Filter::Bicubic,
        other => return Err(bad(format!("resample = {other}: known are 2 (bilinear) and 3 (bicubic)"))),
    };
    let resize = if given.do_resize {
        match sides(&given.size) {
            Some(Sides::Short(side)) => ResizeRule::ShortSide(side),
            Some(Sides::Both(width, height)) => ResizeRule::Exact(width, height),
            None => return Err(bad(format!("size = {}: give a number, {SIDES}", given.size))),
        }
    } else {
        ResizeRule::Keep
    };
    let crop = if given.do_center_crop {
        let (width, height) = match sides(&given.crop_size) {
            Some(Sides::Short(side)) => (side, side),
            Some(Sides::Both(width, height)) => (width, height),
            None => return Err(bad(format!("crop_size = {}: give a number, {SIDES}", given.crop_size))),
        };
        Some(CentreCrop { width, height, rounding: CropRounding::Down })
    } else {
        None
    };
    let side = config.side as u32;
    let ends_with = crop.map(|crop| (crop.width, crop.height)).or(match resize {
        ResizeRule::Exact(width, height) => Some((width, height)),
        _ => None,
    });
    if ends_with != Some((side, side)) {
        let met = ends_with.map_or("any size".to_owned(), |(width, height)| format!("{width}×{height} pixels"));
        return Err(bad(format!("it makes pictures of {met}, config.json wants {side}×{side}")));
    }
    let scale = if given.do_rescale { given.rescale_factor } else { 1.0 };
    let (mean, std) = if given.do_normalize { (given.image_mean, given.image_std) } else { ([0.0; 3], [1.0; 3]) };
    let preprocessing = Preprocessing { resize, filter, crop, input_side: side, scale, mean, std };
    preprocessing.check().map_err(bad)?;
    Ok(preprocessing)
}

enum Sides {
    Short(u32),
    Both(u32, u32),
}

/// Larger files are no settings; the index of a model's shards has some MB.
const LARGEST_JSON_BYTES: u64 = 64 << 20;
const SIDES: &str = r#"{"shortest_edge": …} or {"height": …, "width": …}"#;

/// `224`, `[224]`, `[224, 224]`, `{"shortest_edge": 224}` or `{"height": 224, "width": 224}`.
fn sides(value: &Value) -> Option<Sides> {
    let number = |value: &Value| value.as_u64().and_then(|side| u32::try_from(side).ok());
    match value {
        Value::Array(both) => match both.as_slice() {
            [one] => Some(Sides::Short(number(one)?)),
            [height, width] => Some(Sides::Both(number(width)?, number(height)?)),
            _ => None,
        },
        Value::Object(named) => match named.get("shortest_edge") {
            Some(side) => Some(Sides::Short(number(side)?)),
            None => Some(Sides::Both(number(named.get("width")?)?, number(named.get("height")?)?)),
        },
        other => Some(Sides::Short(number(other)?)),
    }
}

/// `model.safetensors`, or the shards that its index names.
fn open_weights(folder: &Path) -> Result<Weights<'static>> {
    let single = folder.join("model.safetensors");
    let index = folder.join("model.safetensors.index.json");
    if single.exists() || !index.exists() {
        return Weights::open(&BTreeSet::from([single]));
    }
    let ShardIndex { weight_map } = json(&index)?;
    let mut shards = BTreeSet::new();
    for shard in weight_map.into_values() {
        if Path::new(&shard).components().count() != 1 || shard.contains('\\') {
            return Err(VisionError::encoder(&index, format!("`{shard}` is not the name of a file beside it")));
        }
        shards.insert(folder.join(shard));
    }
    if shards.is_empty() {
        return Err(VisionError::encoder(&index, "weight_map names no file"));
    }
    Weights::open(&shards)
}

/// What the model card says: the line `license:` of its header.
fn licence(folder: &Path) -> String {
    let card = locdiff_base::read_text_bounded(&folder.join("README.md"), 1 << 20).unwrap_or_default();
    let header = card.lines().skip_while(|line| line.trim() != "---").skip(1).take_while(|line| line.trim() != "---");
    let mut named = header.filter_map(|line| line.strip_prefix("license:"));
    let name = named.next().map(|name| name.trim().trim_matches('"').to_owned()).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "not stated in the folder: see where it came from".to_owned())
}

fn json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T> {
    let contents = locdiff_base::read_bounded(path, LARGEST_JSON_BYTES)
        .map_err(|source| VisionError::Read { file: path.display().to_string(), source })?;
    serde_json::from_slice(&contents).map_err(|error| VisionError::encoder(path, error.to_string()))
}
