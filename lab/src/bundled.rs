//! The model that is shipped, as it is shipped.

use crate::{Baseline, PhotoDensity, Result};
use locdiff_io::data::Embedding;
use locdiff_model::answer::{Calibration, Density, Globe, ModelShape, ReadOptions, Reader};
use locdiff_model::{Model, Predictor, Query, SampleOptions};
use locdiff_nn::Device;
use locdiff_shdd::sphere::LatLon;
use rayon::prelude::*;
use std::{path::Path, sync::Arc};

/// The bundled model with its own calibration: nothing of it is chosen here.
pub(crate) struct Bundled {
    predictor: Predictor,
    reader: Reader,
}

/// A photo's density, the window that its place is read through, and the probability that it is out of domain.
pub(crate) struct Shipped {
    pub(crate) density: Density,
    pub(crate) window_km: f64,
    pub(crate) ood: f64,
}

impl Bundled {
    pub(crate) fn open(device: &Device) -> Result<Self> {
        let files = locdiff_bundled_model::model();
        let name = |file: &str| Path::new("the bundled model").join(file);
        let (config, weights) = (name("config.json"), name("model.safetensors"));
        let model = Model::from_bytes(device, (&config, files.config), (&weights, files.weights))?;
        let (degree, embedding_dim) = (model.config().degree, model.config().embedding_dim);
        let encoder = model.config().encoder.as_ref();
        let shape = ModelShape { degree, embedding_dim, encoder };
        let calibration = Calibration::from_bytes(name("calibration.json"), files.calibration, &shape)?;
        let predictor = Predictor::new(Arc::new(model))?;
        let globe = Arc::new(Globe::of(predictor.codec().clone())?);
        Ok(Self { reader: Reader::new(globe, calibration)?, predictor })
    }

    /// The density of every row, with the map factors of the model's own heads or without any.
    pub(crate) fn answers(&self, embeddings: &[f32], with_factors: bool) -> Result<Vec<Shipped>> {
        let rows = embeddings.chunks_exact(self.predictor.model().config().embedding_dim);
        let photos: Vec<Embedding> = rows.map(|row| Embedding::new(row.to_vec(), None)).collect::<Result<_, _>>()?;
        let queries: Vec<Query<'_>> = photos.iter().map(Query::from).collect();
        let evidence = self.predictor.coefficients(&queries, &SampleOptions::default())?;
        let density = |(said, photo): (&_, &Embedding)| {
            let said = self.reader.calibration().model_output(said, [photo.values()]);
            let said = if with_factors { said } else { said.without_factors() };
            let (density, ood) = (self.reader.density(said, None)?, said.ood);
            let window_km = self.reader.peaks(&density, ood, None, &ReadOptions::default().with_hypotheses(1)).0;
            Ok(Shipped { density: density.compact(), window_km, ood })
        };
        evidence.par_iter().zip(&photos).map(density).collect()
    }
}

impl Baseline for Bundled {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        let place = |own: Shipped| own.density.peaks(own.window_km, 1)[0].place;
        Ok(self.answers(embeddings, true)?.into_par_iter().map(place).collect())
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let density =
            |own: Shipped| -> PhotoDensity<'_> { Box::new(move |points| own.density.log_density(points.all())) };
        Ok(self.answers(embeddings, true)?.into_iter().map(density).collect())
    }

    fn parameters(&self) -> usize {
        self.predictor.model().params().count()
    }

    fn is_calibrated(&self) -> bool {
        true
    }

    fn chosen(&self) -> String {
        let config = self.predictor.model().config();
        format!("as shipped: L = {}, {} steps, its own calibration", config.degree, config.trained_steps)
    }
}
