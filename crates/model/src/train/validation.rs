//! How good a model is on photos that it was not trained on, by the reading that is shipped.

use crate::answer::{Globe, Tempered};
use crate::train::{Result, Rows, TrainSettings};
use crate::{Model, Predictor, Query, Reading, SampleOptions, eval::Accuracy};
use locdiff_shdd::{Coefficients, sphere::LatLon};
use std::sync::Arc;

/// Photos that are located at a time.
const BLOCK: usize = 256;

/// What a validation finds.
pub(crate) struct Validation {
    pub(crate) accuracy: Accuracy,
    /// Mean −log density at the truths with the best exponent; `None` for a model without densities.
    pub(crate) nll_nats: Option<f64>,
}

/// Looks at no more than `validation_rows` rows, evenly spread: the evidence at pure noise, tempered, or pooled samples where a
/// model gives no densities.
pub(crate) fn validate(model: &Model, rows: Rows<'_>, settings: &TrainSettings) -> Result<Validation> {
    let options = SampleOptions {
        samples: settings.validation_samples,
        steps: settings.validation_steps.min(model.config().diffusion_steps),
        ..SampleOptions::default()
    };
    let predictor = Predictor::new(model)?;
    let gives_densities = model.config().loss.has_quadrature();
    let stride = rows.rows.len().div_ceil(settings.validation_rows).max(1);
    let chosen: Vec<usize> = rows.rows.iter().step_by(stride).map(|&row| row as usize).collect();
    let truths: Vec<LatLon> = chosen.iter().map(|&row| rows.data.places()[row]).collect();
    let (mut places, mut evidence): (Vec<LatLon>, Vec<Coefficients>) = (Vec::new(), Vec::new());
    for block in chosen.chunks(BLOCK) {
        let embeddings = block.iter().map(|row| rows.data.embedding(*row)).collect::<Result<Vec<_>>>()?;
        let queries: Vec<Query<'_>> = embeddings.iter().map(Query::from).collect();
        if gives_densities {
            evidence.extend(predictor.coefficients(&queries, &options)?);
        } else {
            let found = predictor.predict(&queries, &options, Reading::default())?;
            places.extend(found.iter().map(|found| found.place));
        }
    }
    let mut nll_nats = None;
    if gives_densities {
        let globe = Arc::new(Globe::of(predictor.codec().clone())?);
        let tempered = Tempered::fit(&globe, &evidence, &truths)?;
        places = tempered.places(&globe, &evidence)?;
        nll_nats = Some(tempered.nll_nats);
    }
    Ok(Validation { accuracy: Accuracy::new(places.into_iter().zip(truths)), nll_nats })
}
