//! What a calibration is fitted to.

use crate::LEVELS;
use locdiff_shdd::Coefficients;
use locdiff_sphere::LatLon;

/// What the model said about a photo whose place is known.
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
}

/// The shares of all weight whose values do not exceed each of the levels.
pub(super) fn shares_within_levels(values: &[(f64, f64)]) -> Vec<f64> {
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    let share = |level: f64| values.iter().filter(|(v, _)| *v <= level).map(|(_, w)| w).sum::<f64>() / total;
    LEVELS.iter().map(|level| share(*level)).collect()
}
