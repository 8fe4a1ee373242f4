//! A GeoCLIP model and its folder.

use crate::geoclip::{GeoClipError, Result, location::LocationEncoder, location::LocationSizes};
use locdiff_base::{AtomicFile, ensure};
use locdiff_nn::{Device, Init, ParamId, Params, ParamsBuilder, Tensor, layers::Linear, ops, ops::Activation};
use locdiff_shdd::sphere::LatLon;
use serde::{Deserialize, Serialize};
use std::{path::Path, path::PathBuf, sync::OnceLock};

/// The settings' file in a GeoCLIP folder.
pub const SETTINGS_FILE: &str = "geoclip.json";
/// The weights' file in a GeoCLIP folder.
pub const WEIGHTS_FILE: &str = "geoclip.safetensors";
/// The places that GeoCLIP chooses from, where the import found them.
pub const GALLERY_FILE: &str = "gallery.csv";

/// The version of the folder's layout.
const VERSION: u32 = 1;
/// Rows that are embedded at a time: memory stays at one block.
const BLOCK: usize = 512;
/// No layer is wider: a typing error in the settings shall not take all memory.
const WIDEST: usize = 65_536;
const LOGIT_SCALE: &str = "logit_scale";

/// The shape of a GeoCLIP model, as its folder tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) version: u32,
    pub(crate) capsules: usize,
    pub(crate) frequencies: usize,
    pub(crate) hidden: usize,
    pub(crate) outputs: usize,
    pub(crate) image_inputs: usize,
    pub(crate) image_hidden: usize,
    pub(crate) licence: String,
    /// The encoder whose features it takes, by its name among models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) encoder: Option<String>,
}

impl Settings {
    pub(crate) fn new(location: LocationSizes, image_inputs: usize, image_hidden: usize) -> Self {
        let LocationSizes { capsules, frequencies, hidden, outputs } = location;
        let licence = "MIT (the geoclip package, Vivanco Cepeda, Nayak and Shah)".to_owned();
        let encoder = None;
        Self { version: VERSION, capsules, frequencies, hidden, outputs, image_inputs, image_hidden, licence, encoder }
    }

    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(SETTINGS_FILE);
        let file = path.display().to_string();
        let bad =
            |reason: String| GeoClipError::Weights { file: file.clone(), reason: locdiff_base::one_line(&reason) };
        let text = locdiff_base::read_text_bounded(&path, 1 << 20)
            .map_err(|error| bad(format!("{error}; make the folder with `locdiff import geoclip`")))?;
        let settings: Self = serde_json::from_str(&text).map_err(|e| bad(format!("not GeoCLIP's settings: {e}")))?;
        settings.check().map_err(bad)?;
        Ok(settings)
    }

    fn save(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).expect("settings are plain data") + "\n";
        Ok(AtomicFile::write_whole(&folder.join(SETTINGS_FILE), text.as_bytes())?)
    }

    fn location(&self) -> LocationSizes {
        let Self { capsules, frequencies, hidden, outputs, .. } = *self;
        LocationSizes { capsules, frequencies, hidden, outputs }
    }

    fn check(&self) -> std::result::Result<(), String> {
        ensure!(self.version == VERSION, format!("version {}, but this program reads version {VERSION}", self.version));
        let Self { capsules, frequencies, hidden, outputs, image_inputs, image_hidden, .. } = *self;
        let names = ["frequencies", "hidden", "outputs", "image_inputs", "image_hidden", "capsules"];
        let sizes = [frequencies, hidden, outputs, image_inputs, image_hidden, capsules];
        let limit = |name: &str| if name == "capsules" { 64 } else { WIDEST };
        match names.into_iter().zip(sizes).find(|(name, size)| !(1..=limit(name)).contains(size)) {
            Some((name, size)) => Err(format!("{name} = {size} is out of range: choose 1 … {}", limit(name))),
            None => Ok(()),
        }
    }
}

/// GeoCLIP: places and CLIP features as vectors whose cosine says how well they fit.
pub struct GeoClip {
    settings: Settings,
    /// The image head, and the scale of the logits.
    params: Params,
    image: [Linear; 2],
    logit_scale: ParamId,
    /// The file with all weights.
    weights: PathBuf,
    /// The location encoder: 36 MB that photos alone do not need, read when the first place is asked for.
    location: OnceLock<Location>,
}

/// The location encoder with its weights.
struct Location {
    params: Params,
    encoder: LocationEncoder,
    frequencies: Vec<Vec<f32>>,
}

/// All weights of a model, to be filled by their names.
pub(crate) fn all_params(settings: &Settings) -> Result<Params> {
    let mut builder = ParamsBuilder::new();
    LocationEncoder::register(&mut builder, settings.location());
    register_head(&mut builder, settings);
    Ok(builder.build_blank(&Device::cpu())?)
}

fn register_head(builder: &mut ParamsBuilder, settings: &Settings) -> ([Linear; 2], ParamId) {
    let image = [
        Linear::new(builder, "mlp.0", settings.image_inputs, settings.image_hidden),
        Linear::new(builder, "mlp.2", settings.image_hidden, settings.outputs),
    ];
    (image, builder.add(LOGIT_SCALE, 1, 1, Init::Zero))
}

/// Writes a model's folder, each file whole or not at all.
pub(crate) fn save(settings: &Settings, params: &Params, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|source| GeoClipError::Read { file: folder.display().to_string(), source })?;
    let metadata = [("format".to_owned(), "geoclip".to_owned())].into();
    params.save(&folder.join(WEIGHTS_FILE), metadata)?;
    settings.save(folder)
}

impl GeoClip {
    /// Reads a folder that [`crate::geoclip::import`] wrote. Fails for files that are missing, damaged or do not fit together.
    pub fn open(folder: &Path, device: &Device) -> Result<Self> {
        let settings = Settings::read(folder)?;
        let mut builder = ParamsBuilder::new();
        let (image, logit_scale) = register_head(&mut builder, &settings);
        let mut params = builder.build_blank(device)?;
        let weights = folder.join(WEIGHTS_FILE);
        params.load(&weights)?;
        Ok(Self { settings, params, image, logit_scale, weights, location: OnceLock::new() })
    }

    fn location(&self) -> Result<&Location> {
        if let Some(location) = self.location.get() {
            return Ok(location);
        }
        let mut builder = ParamsBuilder::new();
        let encoder = LocationEncoder::register(&mut builder, self.settings.location());
        let mut params = builder.build_blank(self.params.device())?;
        params.load(&self.weights)?;
        let frequencies = encoder.frequencies(&params)?;
        Ok(self.location.get_or_init(|| Location { params, encoder, frequencies }))
    }

    /// The same with the encoder that it names, in its folder too. Fails for a folder that cannot be written.
    pub fn with_encoder(mut self, name: &str, folder: &Path) -> Result<Self> {
        self.settings.encoder = Some(name.to_owned());
        self.settings.save(folder)?;
        Ok(self)
    }

    /// The name of the encoder whose features it takes, where the folder says so.
    pub fn encoder(&self) -> Option<&str> {
        self.settings.encoder.as_deref()
    }

    /// Numbers of a vector, of places and of photos alike.
    pub fn dimension(&self) -> usize {
        self.settings.outputs
    }

    /// Numbers of the CLIP features that [`GeoClip::embed_features`] takes.
    pub fn feature_dimension(&self) -> usize {
        self.settings.image_inputs
    }

    /// The factor on the cosine before a softmax over places. Fails if the device fails.
    pub fn scale(&self) -> Result<f32> {
        let mut copy = Tensor::zeros(self.params.device(), 1, 1)?;
        ops::copy(copy.view_mut(), self.params.get(self.logit_scale))?;
        Ok(copy.to_vec()?[0].exp())
    }

    /// The vectors of places as the location encoder gives them (not of length 1). Fails if the device fails.
    pub fn embed_places(&self, places: &[LatLon]) -> Result<Vec<f32>> {
        let Location { params, encoder, frequencies } = self.location()?;
        let mut vectors = Vec::with_capacity(places.len() * self.dimension());
        for block in places.chunks(BLOCK) {
            vectors.extend(encoder.forward(params, frequencies, block)?);
        }
        Ok(vectors)
    }

    /// The vectors of photos from their CLIP features (rows of [`GeoClip::feature_dimension`] numbers), as the image head
    /// gives them (not of length 1). Fails for features of another size, or a failure of the device.
    pub fn embed_features(&self, features: &[f32]) -> Result<Vec<f32>> {
        let inputs = self.feature_dimension();
        if !features.len().is_multiple_of(inputs) {
            let takes = "GeoCLIP takes the projected features of CLIP ViT-L/14";
            let reason = format!("photos have {} numbers, not rows of {inputs}: {takes}", features.len());
            return Err(GeoClipError::Weights { file: "the image head".to_owned(), reason });
        }
        let device = self.params.device();
        let mut vectors = Vec::with_capacity(features.len() / inputs * self.dimension());
        for block in features.chunks(BLOCK * inputs) {
            let rows = block.len() / inputs;
            let x = Tensor::from_slice(device, rows, inputs, block)?;
            let mut before = Tensor::zeros(device, rows, self.settings.image_hidden)?;
            let mut after = Tensor::zeros(device, rows, self.settings.image_hidden)?;
            let mut y = Tensor::zeros(device, rows, self.dimension())?;
            self.image[0].forward(&self.params, before.view_mut(), x.view())?;
            ops::activate(Activation::Relu, after.view_mut(), before.view())?;
            self.image[1].forward(&self.params, y.view_mut(), after.view())?;
            vectors.extend(y.to_vec()?);
        }
        Ok(vectors)
    }
}
