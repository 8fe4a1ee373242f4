//! The places of a model that gives places scores, and how scores become weights.

use locdiff_shdd::sphere::{LatLon, Pixel, UnitVec};
use serde::{Deserialize, Serialize};

/// Cells that places are gathered in are no finer than this.
const DEPTH: u8 = 13;

/// The places that a model gives scores, in the order of the scores. Places near each other should follow one another.
#[derive(Debug)]
pub struct CandidatePlaces {
    points: Vec<UnitVec>,
    /// The pixel of each at [`DEPTH`].
    cells: Vec<u64>,
}

impl CandidatePlaces {
    /// Of places.
    pub fn new(places: impl IntoIterator<Item = LatLon>) -> Self {
        let each = places.into_iter().map(|place| (place.to_unit(), Pixel::holding(place, DEPTH).index));
        let (points, cells) = each.unzip();
        Self { points, cells }
    }

    /// The places.
    pub fn points(&self) -> &[UnitVec] {
        &self.points
    }

    /// Runs of places of one pixel at a depth.
    pub(crate) fn runs(&self, depth: u8) -> impl Iterator<Item = std::ops::Range<usize>> {
        let shift = 2 * DEPTH.saturating_sub(depth);
        let mut start = 0;
        self.cells.chunk_by(move |a, b| a >> shift == b >> shift).map(move |run| {
            start += run.len();
            start - run.len()..start
        })
    }
}

/// How scores of places (cosines) become a density: a softmax, and a Gaussian kernel about each place.
///
/// ```
/// use locdiff_model::answer::PlaceSettings;
/// let plain = PlaceSettings::unfitted(1.0 / 40.0);
/// assert_eq!(plain.temperature_for(0.2), plain.temperature_for(0.8));
/// let sharper = PlaceSettings { sharpening: 1.0, ..plain };
/// assert!(sharper.temperature_for(0.8) < 0.1 * sharper.temperature_for(0.2));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceSettings {
    /// The places that it was fitted with; empty for one that never was.
    pub key: String,
    /// The temperature of the softmax…
    pub temperature: f64,
    /// …times `(1 − s²)/s` to the power of this, where s is the best score. A vector of d numbers that is a place's own with noise has the
    /// posterior of a softmax at the temperature `(1 − s²)/(s·d)`: the better the best place fits, the less noise there is.
    pub sharpening: f64,
    /// The deviation of a kernel.
    pub width_km: f64,
    /// The share of the places; the rest is spread evenly over the Earth.
    pub share: f64,
}

/// Scores beyond these say no more about the noise.
const SCORES: (f64, f64) = (0.02, 0.98);

impl PlaceSettings {
    /// Where nothing was fitted: a softmax at the model's own temperature, kernels of 100 km, a percent for everywhere else.
    pub fn unfitted(temperature: f64) -> Self {
        Self { key: String::new(), temperature, sharpening: 0.0, width_km: 100.0, share: 0.99 }
    }

    /// Whether it was fitted on photos.
    pub fn is_fitted(&self) -> bool {
        !self.key.is_empty()
    }

    /// The temperature for a photo whose best place has this score.
    pub fn temperature_for(&self, best: f64) -> f64 {
        self.temperature * noise(best).powf(self.sharpening)
    }

    /// What is out of range, if anything.
    pub(crate) fn fault(&self) -> Option<String> {
        out_of_range(&[
            ("places: temperature", self.temperature, 1e-6, 1e6),
            ("places: sharpening", self.sharpening, 0.0, 4.0),
            ("places: width_km", self.width_km, 1.0, 20_000.0),
            ("places: share", self.share, 0.0, 0.9999),
        ])
    }
}

/// The first of some named values that is not from one number to another, in words.
pub(crate) fn out_of_range(values: &[(&str, f64, f64, f64)]) -> Option<String> {
    let (name, value, from, to) = values.iter().find(|(_, value, from, to)| !(from..=to).contains(&value))?;
    Some(format!("{name} is {value}, not from {from} to {to}"))
}

/// How noisy a vector is whose best place has this score.
pub(crate) fn noise(best: f64) -> f64 {
    let s = best.clamp(SCORES.0, SCORES.1);
    (1.0 - s * s) / s
}
