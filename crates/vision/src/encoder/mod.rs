//! An encoder from its folder: LocDiff's own (`encoder.json`, `model.safetensors`), a CLIP, DINOv2 or SigLIP as Hugging
//! Face saves it (`config.json` …), or an ONNX file (`encoder.json`, `model.onnx`).

mod bulk;
mod description;
mod fingerprint;
mod hugging_face;
#[cfg(feature = "onnx")]
mod onnx;
mod preprocessor;
mod tower;
mod weights;

use crate::VisionError;
use crate::network::{Network, RGB, count_pictures};
use crate::vit::{VisionTransformer, VisionTransformerCuda};
use crate::{EfficientNetLite, EfficientNetLiteConfig, EfficientNetLiteCuda, Photo, Preprocessing, Result};
pub use bulk::{Begun, Prepared};
use description::{About, Description};
use fingerprint::{Content, fingerprint, folder_name};
use locdiff_io::data::{Embedding, Fingerprint};
use locdiff_nn::Device;
use rayon::prelude::*;
use std::{collections::BTreeSet, path::Path, sync::Arc};
use tower::Tower;
use weights::Weights;

/// A frozen image encoder: from photos to embeddings.
pub struct Encoder {
    about: About,
    fingerprint: Arc<Fingerprint>,
    preprocessing: Preprocessing,
    network: Box<dyn Network>,
}

impl Encoder {
    /// Reads an encoder's folder and makes it ready on the CPU. The folder has an `encoder.json`, or is a
    /// CLIP, DINOv2 or SigLIP as Hugging Face saves it. CLIP gives projected features, or the pooled output without a
    /// projection. DINOv2 gives the class token; `"pooling": "mean"` or `"both"` in its `config.json` changes that.
    /// SigLIP gives the pooled output. Fails with [`VisionError::Read`] for a missing file, [`VisionError::Encoder`] for
    /// one that is damaged or does not fit.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::open_on(folder, &Device::cpu())
    }

    /// Reads an encoder's folder and makes it ready on `device`. On CUDA a transformer uses bf16 products, an
    /// EfficientNet-Lite products in the device's precision. On a CPU that [`Device::is_int8`], a transformer uses
    /// products of 8 bits. Fails as [`Encoder::open`] does, and if the device's memory does not suffice.
    pub fn open_on(folder: &Path, device: &Device) -> Result<Self> {
        let path = folder.join("encoder.json");
        if !path.exists() {
            if folder.join(hugging_face::CONFIG).exists() {
                return Self::tower(folder_name(&path, "clip"), hugging_face::open(folder)?, device);
            }
            if folder.is_dir() {
                let detail = "no encoder there: it has no config.json (CLIP, DINOv2 or SigLIP of Hugging Face) and no encoder.json \
                              (ONNX, EfficientNet-Lite)";
                return Err(VisionError::encoder(folder, detail));
            }
        }
        let description = Description::parse(&path, &read(&path)?)?;
        if description.architecture == "onnx" {
            Self::refuse_int8(&path, device)?;
            return Self::onnx(&path, &description);
        }
        let weights = || Weights::open(&BTreeSet::from([folder.join("model.safetensors")]));
        Self::described(&path, &description, weights, device)
    }

    /// An encoder on the CPU from the contents of `encoder.json` and `model.safetensors`, each with its path in messages;
    /// the folder of the first is the encoder's name. Fails for contents that are damaged or do not fit.
    pub fn from_bytes(description: (&Path, &[u8]), weights: (&Path, &[u8])) -> Result<Self> {
        Self::from_bytes_on(description, weights, &Device::cpu())
    }

    /// [`Encoder::from_bytes`] on a device. Fails as it does, and with [`VisionError::Device`] if the device's memory
    /// does not suffice.
    pub fn from_bytes_on(description: (&Path, &[u8]), weights: (&Path, &[u8]), device: &Device) -> Result<Self> {
        let (path, contents) = description;
        let description = Description::parse(path, contents)?;
        Self::described(path, &description, || Weights::parse(weights.0, weights.1), device)
    }

    /// Fails where products of 8 bits are asked of a network that has none.
    fn refuse_int8(path: &Path, device: &Device) -> Result<()> {
        let detail = "it has no products in int8, transformers (CLIP, DINOv2, SigLIP) alone have: choose f32";
        if device.is_int8() { Err(VisionError::encoder(path, detail)) } else { Ok(()) }
    }

    #[cfg(not(feature = "onnx"))]
    fn onnx(path: &Path, _description: &Description) -> Result<Self> {
        Err(VisionError::encoder(path, "ONNX files need a build with the feature `onnx`".to_owned()))
    }

    /// `model.onnx` beside `encoder.json`, on the CPU whatever the device.
    #[cfg(feature = "onnx")]
    fn onnx(path: &Path, description: &Description) -> Result<Self> {
        let file = path.with_file_name("model.onnx");
        let network = onnx::OnnxNetwork::new(&file, read(&file)?, description)?;
        let about = description.about("ONNX", None, network.contents.len() as u64);
        let preprocessing = description.preprocessing();
        let name = folder_name(path, &about.architecture);
        let settings = format!("onnx {:?}", description.output);
        let fingerprint = fingerprint(name, &settings, &preprocessing, Content::File(&network.contents));
        Ok(Self { about, fingerprint, preprocessing, network: Box::new(network) })
    }

    fn tower(name: String, tower: Tower, device: &Device) -> Result<Self> {
        let tensor = |name: &str, shape: &[usize]| tower.tensor(name, shape);
        let network: Box<dyn Network> = if device.is_cuda() {
            Box::new(VisionTransformerCuda::new(&tower.config, tower.names, device, tensor)?)
        } else {
            Box::new(VisionTransformer::new(&tower.config, tower.names, device.is_int8(), tensor)?)
        };
        let content = Content::Tensors(tower.weights.hashes());
        let fingerprint = fingerprint(name, &tower.config.text(), &tower.preprocessing, content);
        let about = About {
            family: tower.config.family.title(),
            parameters: Some(tower.weights.values_read()),
            file_bytes: tower.weights.file_bytes(),
            architecture: tower.config.architecture(),
            licence: tower.licence,
        };
        Ok(Self { about, fingerprint, preprocessing: tower.preprocessing, network })
    }

    fn described<'a>(
        path: &Path,
        description: &Description,
        weights: impl FnOnce() -> Result<Weights<'a>>,
        device: &Device,
    ) -> Result<Self> {
        let version = description.architecture.strip_prefix("efficientnet-lite");
        // One digit and nothing else: a number would also be read from "+2" or "02".
        let Some(version) = version.and_then(|text| text.parse::<u8>().ok().filter(|v| v.to_string() == text)) else {
            let known = "known are efficientnet-lite0 … efficientnet-lite4 and onnx";
            let detail = format!("unknown architecture `{}`: {known}", description.architecture);
            return Err(VisionError::encoder(path, detail));
        };
        let config = EfficientNetLiteConfig::lite(version.into(), description.embedding)
            .map_err(|error| VisionError::encoder(path, error.to_string()))?;
        Self::refuse_int8(path, device)?;
        let weights = weights()?;
        let tensor = |name: &str, shape: &[usize]| weights.tensor(name, shape);
        let network: Box<dyn Network> = if device.is_cuda() {
            Box::new(EfficientNetLiteCuda::new(&config, device, tensor)?)
        } else {
            Box::new(EfficientNetLite::new(&config, tensor)?)
        };
        let about = description.about("EfficientNet-Lite", Some(weights.values_read()), weights.file_bytes());
        let preprocessing = description.preprocessing();
        let name = folder_name(path, &about.architecture);
        let content = Content::Tensors(weights.hashes());
        let fingerprint = fingerprint(name, &about.architecture, &preprocessing, content);
        Ok(Self { about, fingerprint, preprocessing, network })
    }

    /// The encoder's name and a hash of its settings, preprocessing and weights: the same on every device, and whether it
    /// was read from a folder or from memory.
    pub fn fingerprint(&self) -> &Arc<Fingerprint> {
        &self.fingerprint
    }

    /// The family of the network, for people to read.
    pub fn family(&self) -> &str {
        self.about.family
    }

    /// The network's name.
    pub fn architecture(&self) -> &str {
        &self.about.architecture
    }

    /// The licence of the weights.
    pub fn licence(&self) -> &str {
        &self.about.licence
    }

    /// How many weights the network uses, where that is known.
    pub fn parameters(&self) -> Option<usize> {
        self.about.parameters
    }

    /// Bytes of the files that hold the weights.
    pub fn file_bytes(&self) -> u64 {
        self.about.file_bytes
    }

    /// What happens to a photo before the network sees it.
    pub fn preprocessing(&self) -> &Preprocessing {
        &self.preprocessing
    }

    /// Values of an embedding.
    pub fn embedding(&self) -> usize {
        self.network.embedding()
    }

    /// Width and height of the network's input in pixels.
    pub fn input_side(&self) -> usize {
        self.preprocessing.input_side as usize
    }

    /// The embeddings of photos, in their order, on all threads of the current rayon pool or on the device. On the CPU
    /// a photo's embedding is the same to the last bit alone and in any batch, with any number of threads. Fails for a
    /// photo whose sides are too unlike, or an embedding that is not finite.
    pub fn embed(&self, photos: &[Photo]) -> Result<Vec<Embedding>> {
        let side = self.input_side();
        let mut embeddings = Vec::with_capacity(photos.len());
        for batch in photos.chunks(self.network.batch()) {
            let pictures = batch.par_iter().map(|photo| self.preprocess(photo)).collect::<Result<Vec<_>>>()?.concat();
            for values in self.network.forward(&pictures, side)? {
                embeddings.push(Embedding::new(values, Some(self.fingerprint.clone()))?);
            }
        }
        Ok(embeddings)
    }

    /// The pixels that it looks at: of a large JPEG file a half or a quarter of the size, of all others the photo itself.
    pub fn looks_at<'a>(&self, photo: &'a Photo) -> &'a Photo {
        photo.for_encoder(self.preprocessing.shorter_side())
    }

    /// What the network sees of a photo: resized, cropped and normalised, `[side, side, 3]`. Fails with
    /// [`VisionError::TooThin`] for a photo whose sides are too unlike.
    pub fn preprocess(&self, photo: &Photo) -> Result<Vec<f32>> {
        self.preprocessing.apply(photo)
    }

    /// The embeddings of pictures already resized and normalised, `[n, side, side, 3]`. Fails with
    /// [`VisionError::InputSize`] unless `pixels` holds whole pictures.
    pub fn embed_pixels(&self, pixels: &[f32]) -> Result<Vec<Vec<f32>>> {
        let side = self.input_side();
        count_pictures(pixels, side, side)?;
        let batches = pixels.chunks(side * side * RGB * self.network.batch());
        Ok(batches.map(|batch| self.network.forward(batch, side)).collect::<Result<Vec<_>>>()?.concat())
    }

    /// Runs the `count` pictures of the last [`Encoder::embed_pixels`] once more where they lie, on a CUDA device: what
    /// a bench times, without the copies. Fails for more pictures than a batch has, or if the device does.
    #[doc(hidden)]
    pub fn run_again(&self, count: usize) -> Result<()> {
        self.network.run_again(count)
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    /// The format of ONNX holds no more.
    const LARGEST_BYTES: u64 = 2 << 30;
    locdiff_base::read_bounded(path, LARGEST_BYTES)
        .map_err(|source| VisionError::Read { file: path.display().to_string(), source })
}
