//! An encoder from its folder: `encoder.json` says what it is, `model.safetensors` holds the weights.

use crate::{
    EfficientNetLite, EfficientNetLiteConfig, Photo, Result, VisionError,
    resize::{Filter, half_pixel_bilinear, resize_and_crop},
    weights::Weights,
};
use rayon::prelude::*;
use serde::Deserialize;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The largest side an encoder may ask for: a typing error shall not take all memory.
const MAX_SIDE: u32 = 4096;
const MAX_EMBEDDING: usize = 65536;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    architecture: String,
    short_side: u32,
    resize_filter: Filter,
    centre_crop: u32,
    /// Reached from the crop by bilinear interpolation between pixel centres, where they differ.
    input_side: u32,
    mean: [f32; 3],
    std: [f32; 3],
    embedding: usize,
    licence: String,
}

/// A frozen image encoder: from photos to embeddings.
pub struct Encoder {
    description: Description,
    network: EfficientNetLite,
}

impl Encoder {
    /// Reads `encoder.json` and `model.safetensors` in `folder`.
    ///
    /// # Errors
    /// [`VisionError::Read`] for a missing file, [`VisionError::Encoder`] for one that is damaged or does not fit.
    pub fn open(folder: &Path) -> Result<Self> {
        let (description, weights) = (folder.join("encoder.json"), folder.join("model.safetensors"));
        Self::from_bytes((&description, &read(&description)?), (&weights, &read(&weights)?))
    }

    /// An encoder from the contents of its two files, each with the name that errors shall give.
    ///
    /// # Errors
    /// [`VisionError::Encoder`] for contents that are damaged or do not fit.
    pub fn from_bytes(description: (&Path, &[u8]), weights: (&Path, &[u8])) -> Result<Self> {
        let (description_path, description) = description;
        let description: Description =
            serde_json::from_slice(description).map_err(|error| bad(description_path, error.to_string()))?;
        description.check().map_err(|detail| bad(description_path, detail))?;
        let variant = description.architecture.strip_prefix("efficientnet-lite");
        let Some(variant) = variant.and_then(|digit| digit.parse().ok()) else {
            let met = &description.architecture;
            let detail =
                format!("unknown architecture `{met}`: known are efficientnet-lite0 … efficientnet-lite4");
            return Err(bad(description_path, detail));
        };
        let config = EfficientNetLiteConfig::lite(variant, description.embedding)
            .map_err(|error| bad(description_path, error.to_string()))?;
        let weights = Weights::parse(weights.0, weights.1)?;
        let network = EfficientNetLite::new(&config, |name, shape| weights.tensor(name, shape))?;
        Ok(Self { description, network })
    }

    /// The network's name.
    pub fn architecture(&self) -> &str {
        &self.description.architecture
    }

    /// The licence of the weights.
    pub fn licence(&self) -> &str {
        &self.description.licence
    }

    /// Values of an embedding.
    pub fn embedding(&self) -> usize {
        self.network.embedding()
    }

    /// Width and height of the network's input in pixels.
    pub fn input_side(&self) -> usize {
        self.description.input_side as usize
    }

    /// The embeddings of photos, in their order; one photo a thread, on all threads of the current rayon pool.
    ///
    /// # Errors
    /// [`VisionError::TooThin`] for a photo whose sides are too unlike.
    pub fn embed(&self, photos: &[Photo]) -> Result<Vec<Vec<f32>>> {
        let side = self.input_side();
        photos.par_iter().map(|photo| Ok(self.network.embed(&self.preprocess(photo)?, side, side))).collect()
    }

    /// What the network sees of a photo: resized, cropped and normalised, `[side, side, 3]`.
    ///
    /// # Errors
    /// [`VisionError::TooThin`] for a photo whose sides are too unlike.
    pub fn preprocess(&self, photo: &Photo) -> Result<Vec<f32>> {
        let Description { short_side, resize_filter, input_side, mean, std, .. } = self.description;
        let crop = resize_and_crop(photo, short_side, self.description.centre_crop, resize_filter)?;
        let mut pixels = half_pixel_bilinear(&crop, input_side, input_side);
        for pixel in pixels.as_chunks_mut::<3>().0 {
            for c in 0..3 {
                pixel[c] = (pixel[c] - mean[c]) / std[c];
            }
        }
        Ok(pixels)
    }

    /// The embeddings of pictures already resized and normalised, `[n, side, side, 3]`.
    ///
    /// # Errors
    /// [`VisionError::InputSize`] unless `pixels` holds whole pictures.
    pub fn embed_pixels(&self, pixels: &[f32]) -> Result<Vec<Vec<f32>>> {
        self.network.forward(pixels, self.input_side(), self.input_side())
    }
}

impl Description {
    fn check(&self) -> std::result::Result<(), String> {
        let sides = [
            ("short_side", self.short_side),
            ("centre_crop", self.centre_crop),
            ("input_side", self.input_side),
        ];
        for (name, side) in sides {
            if side == 0 || side > MAX_SIDE {
                return Err(format!("{name} = {side} is out of range: choose 1 … {MAX_SIDE}"));
            }
        }
        if self.centre_crop > self.short_side {
            return Err(format!(
                "centre_crop = {} exceeds short_side = {}",
                self.centre_crop, self.short_side
            ));
        }
        if self.embedding == 0 || self.embedding > MAX_EMBEDDING {
            return Err(format!(
                "embedding = {} is out of range: choose 1 … {MAX_EMBEDDING}",
                self.embedding
            ));
        }
        let finite = self.mean.iter().chain(&self.std).all(|value| value.is_finite());
        if !finite || self.std.iter().any(|&std| std <= 0.0) {
            return Err(format!("mean = {:?}, std = {:?}: std must be above 0", self.mean, self.std));
        }
        Ok(())
    }
}

fn read(path: &PathBuf) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| VisionError::Read { file: path.display().to_string(), source })
}

fn bad(path: &Path, detail: String) -> VisionError {
    VisionError::Encoder { path: path.to_owned(), detail }
}
