//! What a calibration is fitted to.

use crate::answer::{Calibration, LEVELS, ModelOutput, Neighbour, PlaceField};
use locdiff_shdd::{Coefficients, sphere::LatLon};
use std::sync::Arc;

/// A model's output for a photo whose place is known.
#[derive(Debug, Clone)]
pub struct Observation {
    /// The natural parameters that the network gave at pure noise.
    pub evidence: Coefficients,
    /// The true place.
    pub truth: LatLon,
    /// The photo's embedding.
    pub embedding: Vec<f32>,
    /// The collection that the photo is from. Every collection counts the same, however many photos it has: what is fitted
    /// must hold for collections that were never seen.
    pub group: usize,
    /// What a gallery finds for the photo, the most similar first; empty without one.
    pub neighbours: Vec<Neighbour>,
    /// What a model that gives places scores says.
    pub places: Option<Arc<PlaceField>>,
}

impl Observation {
    /// The models' output for the photo.
    pub(super) fn model_output(&self, calibration: &Calibration) -> ModelOutput<'_> {
        let output = calibration.model_output(&self.evidence, [self.embedding.as_slice()]);
        output.with_neighbours(&self.neighbours).with_places(self.places.as_ref())
    }
}

/// The shares of all weight whose values do not exceed each of the levels.
pub(super) fn shares_within_levels(values: &[(f64, f64)]) -> Vec<f64> {
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    let share = |level: f64| values.iter().filter(|(v, _)| *v <= level).map(|(_, w)| w).sum::<f64>() / total;
    LEVELS.iter().map(|level| share(*level)).collect()
}

/// A weight for each photo such that every collection has the same sum, and all together 1.
pub(super) fn group_weights(observations: &[Observation]) -> Vec<f64> {
    weights_of(&observations.iter().map(|seen| seen.group).collect::<Vec<_>>())
}

/// Weights of photos in these collections such that every collection has the same sum, and all together 1.
pub(super) fn weights_of(groups: &[usize]) -> Vec<f64> {
    let mut sizes = std::collections::BTreeMap::new();
    for group in groups {
        *sizes.entry(group).or_insert(0.0) += 1.0;
    }
    groups.iter().map(|group| 1.0 / (sizes[group] * sizes.len() as f64)).collect()
}
