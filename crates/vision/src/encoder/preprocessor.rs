//! `preprocessor_config.json` as Hugging Face saves it, in all the spellings met in the wild.

use super::tower::json;
use crate::vit::Family;
use crate::{CentreCrop, CropRounding, Preprocessing, ResizeRule, Result, VisionError, resize::ResizeFilter};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The file; absent fields have CLIP's defaults, which are DINOv2's.
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

/// `processor_config.json`, which newer versions write for a whole model.
#[derive(Deserialize)]
struct Processor {
    image_processor: Map<String, Value>,
}

/// What a folder says of pictures of `side` pixels, or of squares where the network takes any.
pub(super) fn preprocessing(folder: &Path, family: Family, side: Option<usize>) -> Result<Preprocessing> {
    let mut path = folder.join("preprocessor_config.json");
    let newer = folder.join("processor_config.json");
    let mut fields: Map<String, Value> = if !path.exists() && newer.exists() {
        path = newer;
        json::<Processor>(&path)?.image_processor
    } else {
        json(&path)?
    };
    let bad = |detail: String| VisionError::encoder(&path, detail);
    if family == Family::Siglip {
        let own = json!({
            "do_center_crop": false, "size": {"height": 224, "width": 224},
            "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5],
        });
        for (name, value) in own.as_object().into_iter().flatten() {
            fields.entry(name).or_insert_with(|| value.clone());
        }
    }
    let given: Preprocessor = serde_json::from_value(Value::Object(fields)).map_err(|error| bad(error.to_string()))?;
    given.read(side.map(|side| side as u32)).map_err(bad)
}

impl Preprocessor {
    fn read(self, side: Option<u32>) -> std::result::Result<Preprocessing, String> {
        let filter = match self.resample {
            2 => ResizeFilter::Bilinear,
            3 => ResizeFilter::Bicubic,
            other => return Err(format!("resample = {other}: known are 2 (bilinear) and 3 (bicubic)")),
        };
        let sides = |name: &str, value: &Value| {
            const FORMS: &str = r#"{"shortest_edge": …} or {"height": …, "width": …}"#;
            sides(value).ok_or_else(|| format!("{name} = {value}: give a number, {FORMS}"))
        };
        let resize = if self.do_resize { sides("size", &self.size)? } else { ResizeRule::Keep };
        let crop = match self.do_center_crop.then(|| sides("crop_size", &self.crop_size)).transpose()? {
            Some(ResizeRule::ShortSide(side)) => Some((side, side)),
            Some(ResizeRule::Exact(width, height)) => Some((width, height)),
            _ => None,
        };
        let crop = crop.map(|(width, height)| CentreCrop { width, height, rounding: CropRounding::Down });
        let ends_with = crop.map(|crop| (crop.width, crop.height)).or(match resize {
            ResizeRule::Exact(width, height) => Some((width, height)),
            _ => None,
        });
        let input_side = match (ends_with, side) {
            (Some((width, height)), _) if width == height && side.is_none_or(|side| side == width) => width,
            _ => {
                let met = ends_with.map_or("any size".to_owned(), |(width, height)| format!("{width}×{height} pixels"));
                let wanted = side.map_or("squares".to_owned(), |side| format!("{side}×{side}"));
                return Err(format!("it makes pictures of {met}, config.json wants {wanted}"));
            }
        };
        let scale = if self.do_rescale { self.rescale_factor } else { 1.0 };
        let (mean, std) = if self.do_normalize { (self.image_mean, self.image_std) } else { ([0.0; 3], [1.0; 3]) };
        let preprocessing = Preprocessing { resize, filter, crop, input_side, scale, mean, std };
        preprocessing.check()?;
        Ok(preprocessing)
    }
}

/// `224`, `[224]`, `[224, 224]`, `{"shortest_edge": 224}` or `{"height": 224, "width": 224}`.
fn sides(value: &Value) -> Option<ResizeRule> {
    let number = |value: &Value| value.as_u64().and_then(|side| u32::try_from(side).ok());
    let both = |width, height| Some(ResizeRule::Exact(number(width)?, number(height)?));
    match value {
        Value::Array(sides) if sides.len() == 2 => both(&sides[1], &sides[0]),
        Value::Array(sides) if sides.len() != 1 => None,
        Value::Array(sides) => number(&sides[0]).map(ResizeRule::ShortSide),
        Value::Object(named) => match named.get("shortest_edge") {
            Some(side) => number(side).map(ResizeRule::ShortSide),
            None => both(named.get("width")?, named.get("height")?),
        },
        other => number(other).map(ResizeRule::ShortSide),
    }
}
