//! GeoCLIP as a model: a gallery of places that is asked for everything, behind a network that says nothing.
//!
//! GeoCLIP's density of a photo is the softmax of its scores over its places at its own temperature, each place a kernel. That is what a gallery
//! beside a model gives where the model is flat, so that one reader, one calibration and every door serve both.

use crate::{LocateError, home::by_name, hybrid::open_retriever, retrieval::neighbours};
use locdiff_answer::{
    Calibration, FEWEST_TO_CALIBRATE, GalleryMix, Globe, MOST_PLACES, ModelShape, Neighbour, Observation, fit_gallery,
};
use locdiff_gallery::{Hit, Retriever};
use locdiff_geoclip::{GALLERY_FILE, GeoClip, SETTINGS_FILE};
use locdiff_model::{Model, ModelConfig, NetworkKind, QuadratureRecipe};
use locdiff_nn::Device;
use locdiff_shdd::Coefficients;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The degree whose globe has pixels 51 km wide: fine enough for kernels of 35 km.
const DEGREE: usize = 32;
/// Places whose weight is so many nats below the best one's count nothing.
const FAR_NATS: f32 = 18.0;

/// The window where nothing was fitted.
const WINDOW_KM: f64 = 300.0;

/// A GeoCLIP model, opened.
pub(crate) struct GeoClipModel {
    /// The flat network: it has GeoCLIP's sizes, and says the same of every photo.
    pub(crate) model: Model,
    pub(crate) calibration: Calibration,
    pub(crate) retriever: Box<dyn Retriever>,
    /// The encoder that it names.
    pub(crate) encoder: Option<String>,
}

/// The folder of a GeoCLIP model that a user means, where it is one.
pub(crate) fn geoclip_folder(given: &Path) -> Option<PathBuf> {
    let folder = by_name(given);
    folder.join(SETTINGS_FILE).is_file().then_some(folder)
}

impl GeoClipModel {
    pub(crate) fn open(folder: &Path, device: &Device, mut progress: impl FnMut(usize)) -> Result<Self, LocateError> {
        let places = folder.join(GALLERY_FILE);
        if !places.is_file() {
            let remedy = "it has no gallery.csv: import the whole wheel, or use it beside a gallery of places";
            return Err(locdiff_base::setting("model", folder.display(), remedy));
        }
        let encoder = GeoClip::open(folder, &Device::cpu())?.encoder().map(str::to_owned);
        let retriever = open_retriever(&places, Some(folder), device, |done, _| progress(done))?;
        let model = flat(retriever.input_dimension(), device)?;
        let shape = ModelShape { degree: DEGREE, embedding_dim: retriever.input_dimension(), encoder: None };
        let calibration = match Calibration::load(folder, &shape)? {
            Some(calibration) => calibration,
            None => unfitted()?,
        };
        let fitted = calibration.gallery.clone().filter(|mix| mix.key == retriever.identity());
        let mix = fitted.unwrap_or_else(|| GalleryMix::of_model(retriever.temperature(), MOST_PLACES));
        Ok(Self { model, calibration: calibration.with_gallery(mix), retriever, encoder })
    }

    /// The places that count for photos, the best first.
    pub(crate) fn places(retriever: &dyn Retriever, embeddings: &[Vec<f32>]) -> Result<Vec<Vec<Hit>>, LocateError> {
        let mut found = retriever.retrieve_many(embeddings, MOST_PLACES)?;
        let reach = FAR_NATS * retriever.temperature() as f32;
        for hits in &mut found {
            let best = hits.first().map_or(0.0, |hit| hit.score);
            hits.truncate(hits.partition_point(|hit| hit.score > best - reach));
        }
        Ok(found)
    }
}

fn flat(inputs: usize, device: &Device) -> Result<Model, LocateError> {
    let config = ModelConfig {
        network: NetworkKind::Bayes,
        hidden: Some(8),
        quadrature: QuadratureRecipe::Fibonacci { points: 64 },
        data_fingerprint: "geoclip".to_owned(),
        ..ModelConfig::new(DEGREE, inputs)
    };
    Ok(Model::new(device, config)?)
}

/// What a flat network says.
pub(crate) fn nothing() -> Result<Coefficients, LocateError> {
    let zeros = vec![0.0; (DEGREE + 1) * (DEGREE + 1)];
    Ok(Coefficients::new(zeros).map_err(locdiff_model::ModelError::from)?)
}

fn unfitted() -> Result<Calibration, LocateError> {
    Ok(Calibration { window_km: WINDOW_KM, ..Calibration::none(nothing()?) })
}

/// Fits width, temperature and share of the places' kernels, the window and the radii, to embeddings of photos whose places are known.
pub(crate) fn calibrate_geoclip(
    folder: &Path,
    rows: &[(Vec<f32>, locdiff_sphere::LatLon, usize)],
    device: &Device,
) -> Result<Calibration, LocateError> {
    if rows.len() < FEWEST_TO_CALIBRATE {
        let remedy = format!("a calibration needs {FEWEST_TO_CALIBRATE} or more");
        return Err(locdiff_base::setting("photos with known places", rows.len(), remedy));
    }
    let GeoClipModel { model, retriever, .. } = GeoClipModel::open(folder, device, |_| ())?;
    let mut seen: Vec<Observation> = Vec::with_capacity(rows.len());
    for block in rows.chunks(64) {
        let embeddings: Vec<Vec<f32>> = block.iter().map(|(embedding, ..)| embedding.clone()).collect();
        for ((embedding, truth, group), hits) in block.iter().zip(GeoClipModel::places(&*retriever, &embeddings)?) {
            let neighbours: Vec<Neighbour> = neighbours(&hits);
            let (truth, group, embedding) = (*truth, *group, embedding.clone());
            seen.push(Observation { evidence: nothing()?, truth, embedding, group, neighbours });
        }
    }
    let globe = Arc::new(Globe::new(model.config().degree)?);
    let (key, temperature) = (retriever.identity(), retriever.temperature());
    Ok(fit_gallery(&globe, &unfitted()?, &seen, &[], &key, temperature)?)
}
