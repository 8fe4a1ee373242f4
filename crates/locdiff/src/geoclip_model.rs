//! GeoCLIP as a model: it scores 100,000 locations, and its network is flat.
//!
//! Its density for a photo is the softmax of the scores over all locations, each of them a kernel. The same reader, calibration and
//! interfaces serve it as serve networks.

use crate::{error::Result, home::by_name, hybrid::open_geoclip};
use locdiff_model::answer::{Calibration, CandidatePlaces, FEWEST_TO_CALIBRATE, Globe, ModelShape, Observation};
use locdiff_model::answer::{PlaceField, PlaceFit, PlaceSettings, fit_places};
use locdiff_model::{Model, ModelConfig, NetworkKind, QuadratureRecipe};
use locdiff_nn::Device;
use locdiff_retrieval::gallery::{Hit, Retriever, Scores};
use locdiff_retrieval::geoclip::{GALLERY_FILE, GeoClipRetriever, SETTINGS_FILE};
use locdiff_shdd::{Coefficients, sphere::LatLon};
use rayon::prelude::*;
use std::{path::Path, path::PathBuf, sync::Arc};

/// The degree of a network that says nothing. Its globe's pixels are 204 km wide; about places that count they are cut.
const DEGREE: usize = 7;
const WINDOW_KM: f64 = 300.0;
/// Photos whose scores are held at a time.
const BLOCK: usize = 32;

pub(crate) struct GeoClipModel {
    /// The flat network: it has GeoCLIP's sizes, and says the same of every photo.
    pub(crate) model: Model,
    pub(crate) calibration: Calibration,
    pub(crate) places: ModelPlaces,
}

pub(crate) struct ModelPlaces {
    retriever: GeoClipRetriever,
    table: CandidatePlaces,
}

pub(crate) struct FoundPlaces {
    pub(crate) field: Arc<PlaceField>,
    /// The place with the best score.
    pub(crate) first: Option<Hit>,
}

/// Returns the folder that a user means, if it is a GeoCLIP model.
pub(crate) fn geoclip_folder(given: &Path) -> Option<PathBuf> {
    let folder = by_name(given);
    folder.join(SETTINGS_FILE).is_file().then_some(folder)
}

impl GeoClipModel {
    pub(crate) fn open(folder: &Path, device: &Device, progress: impl FnMut(usize)) -> Result<Self> {
        let places = ModelPlaces::open(folder, device, progress)?;
        let retriever = &places.retriever;
        let model = flat(retriever.input_dimension(), device)?;
        let shape = ModelShape { degree: DEGREE, embedding_dim: retriever.input_dimension(), encoder: None };
        let fitted = Calibration::load(folder, &shape)?;
        let key = retriever.identity();
        let own = fitted.filter(|own| own.places.as_ref().is_some_and(|places| places.key == key));
        let calibration = own.map_or_else(|| unfitted(retriever.temperature()), Ok)?;
        Ok(Self { model, calibration, places })
    }
}

impl ModelPlaces {
    fn open(folder: &Path, device: &Device, mut progress: impl FnMut(usize)) -> Result<Self> {
        let places = folder.join(GALLERY_FILE);
        if !places.is_file() {
            let remedy = "it has no gallery.csv: import the whole wheel, or use it with a gallery of locations";
            return Err(locdiff_base::setting("model", folder.display(), remedy));
        }
        let retriever = open_geoclip(&places, folder, device, |done, _| progress(done))?;
        let table = CandidatePlaces::new(retriever.gallery().places());
        Ok(Self { retriever, table })
    }

    pub(crate) fn encoder(&self) -> Option<&str> {
        self.retriever.model().encoder()
    }

    /// What the model finds for photos; `refine` looks for better places about the best ones.
    pub(crate) fn find(&self, rows: &[Vec<f32>], settings: &PlaceSettings, refine: bool) -> Result<Vec<FoundPlaces>> {
        let scores = self.retriever.score_all(rows)?;
        let pairs: Vec<(&Vec<f32>, Scores)> = rows.iter().zip(scores).collect();
        let found = pairs.into_par_iter().map(|(embedding, scores)| {
            let beside = if refine { self.retriever.refine(embedding, &scores.best)? } else { Vec::new() };
            let beside: Vec<_> = beside.into_iter().map(|(place, score)| (place.to_unit(), score)).collect();
            let field = Arc::new(PlaceField::new(&self.table, &scores.all, &beside, settings));
            Ok(FoundPlaces { field, first: scores.best.first().copied() })
        });
        found.collect()
    }
}

fn flat(inputs: usize, device: &Device) -> Result<Model> {
    let config = ModelConfig {
        network: NetworkKind::Bayes,
        hidden: Some(8),
        quadrature: QuadratureRecipe::Fibonacci { points: 64 },
        data_fingerprint: "geoclip".to_owned(),
        ..ModelConfig::new(DEGREE, inputs)
    };
    Ok(Model::new(device, config)?)
}

pub(crate) fn nothing() -> Result<Coefficients> {
    let zeros = vec![0.0; (DEGREE + 1) * (DEGREE + 1)];
    Ok(Coefficients::new(zeros).map_err(locdiff_model::ModelError::from)?)
}

fn unfitted(temperature: f64) -> Result<Calibration> {
    let places = Some(PlaceSettings::unfitted(temperature));
    Ok(Calibration { window_km: WINDOW_KM, places, ..Calibration::none(nothing()?) })
}

/// A photo's embedding, its place and its collection.
pub(crate) type KnownRow = (Vec<f32>, LatLon, usize);

/// A flat network with its globe, a fit, and what a gallery combined with the model can be fitted to.
pub(crate) type GeoClipFit = (Model, Arc<Globe>, Calibration, Vec<Observation>);

/// Fits temperature, width and share of the places' kernels, the window and the radii, to embeddings of photos whose places are known.
pub(crate) fn calibrate_geoclip(folder: &Path, rows: &[KnownRow], device: &Device) -> Result<GeoClipFit> {
    if rows.len() < FEWEST_TO_CALIBRATE {
        let remedy = format!("a calibration needs {FEWEST_TO_CALIBRATE} or more");
        return Err(locdiff_base::setting("photos with known locations", rows.len(), remedy));
    }
    let places = ModelPlaces::open(folder, device, |_| ())?; // an old calibration is no matter
    let ModelPlaces { retriever, table } = &places;
    let model = flat(retriever.input_dimension(), device)?;
    let fit = PlaceFit::new(table, retriever.temperature());
    let mut densities = Vec::with_capacity(rows.len());
    for block in rows.chunks(BLOCK) {
        let scores = retriever.score_all(&embeddings(block))?;
        let pairs: Vec<(&KnownRow, Scores)> = block.iter().zip(scores).collect();
        let seen = pairs.into_par_iter().map(|((_, truth, _), scores)| fit.see(&scores.all, truth.to_unit()));
        densities.extend(seen.collect::<Vec<_>>());
    }
    let groups: Vec<usize> = rows.iter().map(|(_, _, group)| *group).collect();
    let (settings, nll_nats) = fit.choose(&retriever.identity(), &densities, &groups);
    let mut seen: Vec<Observation> = Vec::with_capacity(rows.len());
    for block in rows.chunks(BLOCK) {
        let found = places.find(&embeddings(block), &settings, false)?;
        for ((embedding, truth, group), found) in block.iter().zip(found) {
            let (truth, group, embedding, neighbours) = (*truth, *group, embedding.clone(), Vec::new());
            let (evidence, places) = (nothing()?, Some(found.field));
            seen.push(Observation { evidence, truth, embedding, group, neighbours, places });
        }
    }
    let globe = Arc::new(Globe::new(DEGREE)?);
    let plain = Calibration { places: Some(settings), ..unfitted(retriever.temperature())? };
    let calibration = fit_places(&globe, &plain, &seen, nll_nats)?;
    Ok((model, globe, calibration, seen))
}

fn embeddings(rows: &[KnownRow]) -> Vec<Vec<f32>> {
    rows.iter().map(|(embedding, ..)| embedding.clone()).collect()
}
