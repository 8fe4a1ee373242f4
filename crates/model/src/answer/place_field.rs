//! The density of a model that gives places scores.

use crate::answer::kernels::{Kernels, out_of_range};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, Pixel, UnitVec};
use serde::{Deserialize, Serialize};

/// A place that holds a smaller share than this is one of its pixel's, not one by itself.
pub(crate) const LEAST_SHARE: f64 = 2e-3;
/// What pixels hold together has kernels no narrower than this: a globe's pixels, 204 km wide at the most, are fine enough for them.
const TAIL_KM: f64 = 128.0;
/// Pixels that are lumped together are no wider than so many deviations of their kernel; their sum is smooth to a thousandth.
const WIDEST_LUMP: f64 = 1.6;
/// Lumps that hold less than this are left out.
const NEGLIGIBLE: f64 = 1e-7;

/// The softmax of a photo's scores over all places. Places that hold much have a kernel of their own, the others one
/// for each small region, at the centre of their mass.
#[derive(Debug, Clone)]
pub struct PlaceField {
    parts: Vec<(Kernels, f64)>,
    pub(crate) best: f64,
}

impl PlaceField {
    /// Of scores in the table's order, and of places beside the table's with their scores.
    pub fn new(table: &CandidatePlaces, scores: &[f32], beside: &[(UnitVec, f32)], settings: &PlaceSettings) -> Self {
        let all = scores.iter().chain(beside.iter().map(|(_, score)| score));
        let best = f64::from(all.copied().fold(f32::MIN, f32::max));
        let rate = 1.0 / settings.temperature_for(best);
        let weigh = |score: &f32| ((f64::from(*score) - best) * rate).exp();
        let weights: Vec<f64> = scores.iter().map(weigh).collect();
        let own: Vec<(UnitVec, f64)> = beside.iter().map(|(place, score)| (*place, weigh(score))).collect();
        let total = weights.iter().sum::<f64>() + own.iter().map(|(_, weight)| weight).sum::<f64>();
        let least = LEAST_SHARE * total;
        let (mut near, few): (Vec<_>, Vec<_>) = own.into_iter().partition(|(_, weight)| *weight >= least);
        let mut tail = few;
        for run in table.runs(tail_depth(settings.width_km)) {
            let (mut sum, mut mass) = ([0.0; 3], 0.0);
            for (point, weight) in table.points()[run.clone()].iter().zip(&weights[run]) {
                if *weight >= least {
                    near.push((*point, *weight));
                } else {
                    mass += weight;
                    sum.iter_mut().zip(point.to_array()).for_each(|(sum, x)| *sum += weight * x);
                }
            }
            if mass >= NEGLIGIBLE * total
                && let Ok(centre) = UnitVec::new(sum[0], sum[1], sum[2])
            {
                tail.push((centre, mass));
            }
        }
        let both = [(near, settings.width_km), (tail, tail_km(settings.width_km))];
        let held: f64 = both.iter().flat_map(|(places, _)| places).map(|(_, weight)| weight).sum();
        let parts = both.into_iter().filter(|(places, _)| !places.is_empty()).map(|(places, width_km)| {
            let share = places.iter().map(|(_, weight)| weight).sum::<f64>() / held;
            (Kernels::of_many(places, width_km), share)
        });
        Self { parts: parts.collect(), best }
    }

    /// Widens kernels narrower than this, for a coarse grid.
    #[must_use]
    pub fn no_narrower_than_km(&self, width_km: f64) -> Self {
        let width = |kernels: &Kernels| kernels.centres().next().map_or(0.0, |(_, rad)| rad * EARTH_RADIUS_KM);
        let widen = |(kernels, share): &(Kernels, f64)| match width(kernels) {
            own if own < width_km => (kernels.with_width_km(width_km), *share),
            _ => (kernels.clone(), *share),
        };
        Self { parts: self.parts.iter().map(widen).collect(), best: self.best }
    }

    /// The density at points, per steradian. Points that follow one another are best near each other.
    pub fn densities(&self, points: &[UnitVec]) -> Vec<f64> {
        let mut sum = vec![0.0; points.len()];
        for (kernels, share) in &self.parts {
            sum.iter_mut().zip(kernels.densities(points)).for_each(|(sum, density)| *sum += share * density);
        }
        sum
    }

    /// The centres of all kernels, with their deviations in radians.
    pub(crate) fn centres(&self) -> impl Iterator<Item = (UnitVec, f64)> {
        self.parts.iter().flat_map(|(kernels, _)| kernels.centres())
    }
}

/// The width of the kernels of places that hold little.
pub(crate) fn tail_km(width_km: f64) -> f64 {
    width_km.max(TAIL_KM)
}

/// The depth of the pixels that those are lumped in.
fn tail_depth(width_km: f64) -> u8 {
    let widest = WIDEST_LUMP * tail_km(width_km) / EARTH_RADIUS_KM;
    (0..=13).find(|depth| Pixel::width_rad(*depth) <= widest).unwrap_or(13)
}

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceSettings {
    /// The places that it was fitted with; empty for one that never was.
    pub key: String,
    /// The temperature of the softmax…
    pub temperature: f64,
    /// …times `(1 − s²)/s` to the power of this, where s is the best score: a place's vector of d numbers with noise
    /// has the posterior of a softmax at the temperature `(1 − s²)/(s·d)`.
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

    pub(crate) fn fault(&self) -> Option<String> {
        out_of_range(&[
            ("places: temperature", self.temperature, 1e-6, 1e6),
            ("places: sharpening", self.sharpening, 0.0, 4.0),
            ("places: width_km", self.width_km, 1.0, 20_000.0),
            ("places: share", self.share, 0.0, 0.9999),
        ])
    }
}

/// How noisy a vector is whose best place has this score.
pub(crate) fn noise(best: f64) -> f64 {
    let s = best.clamp(SCORES.0, SCORES.1);
    (1.0 - s * s) / s
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// Against the plain sum over all places, each with the kernel that it has.
    #[test]
    fn lumps_are_the_softmax_over_all_places() {
        let plain = PlaceSettings::unfitted(1.0 / 40.0);
        assert_eq!(plain.temperature_for(0.2), plain.temperature_for(0.8));
        let sharper = PlaceSettings { sharpening: 1.0, ..plain };
        assert!(sharper.temperature_for(0.8) < 0.1 * sharper.temperature_for(0.2));
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(8);
        let mut number = || rng.random_range(-1.0..1.0);
        let mut places: Vec<UnitVec> = (0..6000).map(|_| UnitVec::new(number(), number(), number()).unwrap()).collect();
        places.sort_by_key(|place| Pixel::holding(place.to_latlon(), 13).index);
        let table = CandidatePlaces::new(places.iter().map(|place| place.to_latlon()));
        let scores: Vec<f32> = (0..6000).map(|_| rng.random_range(-0.2..0.2)).collect();
        let beside = [(places[17], 0.21_f32)];
        for (width_km, sharpening) in [(20.0, 0.0), (100.0, 1.0), (400.0, 0.0)] {
            let settings = PlaceSettings { sharpening, width_km, ..PlaceSettings::unfitted(0.02) };
            let field = PlaceField::new(&table, &scores, &beside, &settings);
            let share: f64 = field.parts.iter().map(|(_, share)| share).sum();
            assert!((share - 1.0).abs() < 1e-12);
            let temperature = settings.temperature_for(0.21);
            let all = table.points().iter().copied().zip(scores.iter().copied()).chain(beside);
            let weights: Vec<(UnitVec, f64)> =
                all.map(|(place, score)| (place, (f64::from(score) / temperature).exp())).collect();
            let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
            let (near, tail): (Vec<_>, Vec<_>) =
                weights.into_iter().partition(|(_, weight)| *weight >= LEAST_SHARE * total);
            let held = near.iter().map(|(_, weight)| weight).sum::<f64>() / total;
            let (near, tail) = (Kernels::new(near, width_km), Kernels::new(tail, tail_km(width_km)));
            let (mut off, mut sum) = (0.0, 0.0);
            for point in &places {
                let exact = held * near.density(*point) + (1.0 - held) * tail.density(*point);
                let density = field.densities(&[*point])[0];
                off += (density - exact).abs();
                sum += exact;
            }
            // At the places themselves, where lumps of the tail are farthest off.
            assert!(off < 0.04 * sum, "{width_km}: {}", off / sum);
        }
    }
}
