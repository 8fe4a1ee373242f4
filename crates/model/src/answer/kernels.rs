//! The density that retrieval gives: kernels about the places of the most similar photos.

use crate::answer::LEVELS;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, UnitVec};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A kernel counts nothing where it is below e to the power of this; one of very many places where it is below the second.
const FAR: f64 = -60.0;
const FAR_OF_MANY: f64 = -16.0;

/// So many places are many.
const MANY: usize = 128;
/// Points that are evaluated together, and those of parts of them.
const BLOCK: usize = 1024;
const PARTS: [usize; 2] = [128, 16];

/// A place that retrieval found, and how much its photo is like the one in question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The place.
    pub place: UnitVec,
    /// The cosine of the two embeddings.
    pub similarity: f64,
}

/// How the nearest few neighbours become a density: Gaussian kernels that weigh `exp(similarity / temperature)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelSettings {
    /// So many neighbours take part.
    pub neighbours: usize,
    /// The temperature of their weights.
    pub temperature: f64,
    /// The deviation of a kernel.
    pub width_km: f64,
}

impl KernelSettings {
    /// The density of neighbours, the most similar first; there must be one.
    pub fn kernels(&self, neighbours: &[Neighbour]) -> Kernels {
        let taken = &neighbours[..self.neighbours.min(neighbours.len())];
        let weigh = |near: &Neighbour| ((near.similarity - taken[0].similarity) / self.temperature).exp();
        Kernels::new(taken.iter().map(|near| (near.place, weigh(near))).collect(), self.width_km)
    }
}

/// A sum of Gaussian kernels of one width about weighted places: a density on the sphere.
#[derive(Debug, Clone)]
pub struct Kernels {
    /// Places with their shares of the density over a kernel's own integral.
    places: Vec<(UnitVec, f64)>,
    kappa: f64,
    far: f64,
}

impl Kernels {
    /// Kernels of a deviation about places with weights of any sum.
    pub fn new(mut places: Vec<(UnitVec, f64)>, width_km: f64) -> Self {
        let kappa = (EARTH_RADIUS_KM / width_km).powi(2);
        let total: f64 = places.iter().map(|(_, weight)| weight).sum::<f64>() * kernel_area(kappa);
        places.iter_mut().for_each(|(_, weight)| *weight /= total);
        Self { places, kappa, far: FAR }
    }

    /// Kernels about very many places, to be added to a floor: what is far from all of them counts nothing.
    pub(crate) fn of_many(places: Vec<(UnitVec, f64)>, width_km: f64) -> Self {
        Self { far: FAR_OF_MANY, ..Self::new(places, width_km) }
    }

    pub(crate) fn with_width_km(&self, width_km: f64) -> Self {
        Self { far: self.far, ..Self::new(self.places.clone(), width_km) }
    }

    /// The places, and the deviation of each kernel in radians.
    pub(crate) fn centres(&self) -> impl Iterator<Item = (UnitVec, f64)> {
        let deviation_rad = self.kappa.powf(-0.5);
        self.places.iter().map(move |(place, _)| (*place, deviation_rad))
    }

    /// The density at a point, per steradian.
    pub fn density(&self, point: UnitVec) -> f64 {
        let exponents = self.places.iter().map(|(place, weight)| (self.kappa * (place.dot(point) - 1.0), weight));
        let near = exponents.filter(|(exponent, _)| *exponent > self.far);
        near.map(|(exponent, weight)| weight * exponent.exp()).sum()
    }

    /// Log density at points; minus infinity far from every place.
    pub fn log_densities(&self, points: &[UnitVec]) -> Vec<f64> {
        self.densities(points).into_iter().map(f64::ln).collect()
    }

    /// The density at points. Points that follow one another are best near each other: of many places only those near a
    /// block of points count, in their order, so that the sums are the same bits.
    pub(crate) fn densities(&self, points: &[UnitVec]) -> Vec<f64> {
        if self.places.len() < MANY {
            return self.each(points);
        }
        let [large, small] = PARTS;
        let blocks = points.par_chunks(BLOCK).map(|block| {
            let (near, mut found) = (self.near(block), Vec::with_capacity(block.len()));
            for part in block.chunks(large) {
                let near = near.near(part);
                found.extend(part.chunks(small).flat_map(|few| near.near(few).each(few)));
            }
            found
        });
        blocks.flatten_iter().collect()
    }

    fn each(&self, points: &[UnitVec]) -> Vec<f64> {
        points.iter().map(|point| self.density(*point)).collect()
    }

    /// The places that count for any of some points.
    fn near(&self, points: &[UnitVec]) -> Self {
        let sum = points.iter().fold([0.0; 3], |sum, point| {
            let [x, y, z] = point.to_array();
            [sum[0] + x, sum[1] + y, sum[2] + z]
        });
        let Ok(centre) = UnitVec::new(sum[0], sum[1], sum[2]) else { return self.clone() };
        let around = points.iter().map(|point| centre.dot(*point)).fold(1.0, f64::min).max(-1.0).acos();
        // The angle at which a kernel counts nothing.
        let own = (1.0 + self.far / self.kappa).max(-1.0).acos();
        let least = (around + own + 1e-7).min(PI).cos();
        let places = self.places.iter().copied().filter(|(place, _)| place.dot(centre) >= least).collect();
        Self { places, kappa: self.kappa, far: self.far }
    }
}

/// exp(κ(cos − 1)) integrates to this over the sphere.
pub(crate) fn kernel_area(kappa: f64) -> f64 {
    2.0 * PI * -(-2.0 * kappa).exp_m1() / kappa
}

/// How a gallery's density is mixed with a model's, `q = (1 − share)·model + share·gallery`, and how the answer is then read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GalleryMix {
    /// The gallery that it was fitted with; empty for one that never was.
    pub key: String,
    /// How the gallery's photos become a density.
    pub kernels: KernelSettings,
    /// The gallery's share for photos of the model's kind.
    pub share: f64,
    /// The gallery's share for photos of another kind.
    #[serde(alias = "strangers_share")]
    pub out_of_domain_share: f64,
    /// As the calibration's own, for the mixed density: the window,
    pub window_km: f64,
    /// the locatability from which an answer means something,
    pub can_tell_from: f64,
    /// the radii,
    pub radius_levels: [f64; 9],
    /// and those of out of domain.
    #[serde(alias = "strangers_radius_levels")]
    pub out_of_domain_radius_levels: [f64; 9],
    /// Mean −log density at the true places that it was fitted on, nats per steradian.
    pub nll_nats: f64,
}

impl GalleryMix {
    /// A cautious mixture for a gallery that nothing was fitted with: `temperature` is the retriever's own.
    pub fn unfitted(temperature: f64, window_km: f64) -> Self {
        Self {
            key: String::new(),
            kernels: KernelSettings { neighbours: 40, temperature, width_km: 250.0 },
            share: 0.3,
            out_of_domain_share: 0.05,
            window_km,
            can_tell_from: 0.0,
            radius_levels: LEVELS,
            out_of_domain_radius_levels: LEVELS,
            nll_nats: f64::MAX,
        }
    }

    /// Whether it was fitted on photos.
    pub fn is_fitted(&self) -> bool {
        !self.key.is_empty()
    }

    /// The gallery's share for a photo that is out of domain with this probability.
    pub fn share_for(&self, ood: f64) -> f64 {
        (1.0 - ood) * self.share + ood * self.out_of_domain_share
    }

    pub(crate) fn fault(&self) -> Option<String> {
        let KernelSettings { neighbours, temperature, width_km } = self.kernels;
        out_of_range(&[
            ("gallery: neighbours", neighbours as f64, 1.0, 100_000.0),
            ("gallery: temperature", temperature, 1e-6, 1e6),
            ("gallery: width_km", width_km, 1.0, 20_000.0),
            ("gallery: share", self.share, 0.0, 1.0),
            ("gallery: out_of_domain_share", self.out_of_domain_share, 0.0, 1.0),
            ("gallery: window_km", self.window_km, 1.0, 20_000.0),
            ("gallery: can_tell_from", self.can_tell_from, 0.0, 1.0),
        ])
    }
}

/// The first of some named values that is not from one number to another, in words.
pub(crate) fn out_of_range(values: &[(&str, f64, f64, f64)]) -> Option<String> {
    let (name, value, from, to) = values.iter().find(|(_, value, from, to)| !(from..=to).contains(&value))?;
    Some(format!("{name} is {value}, not from {from} to {to}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// Many places on a whole globe's pixels: the same bits as one point at a time, at every width.
    #[test]
    fn blocks_of_points_leave_out_nothing_that_counts() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let globe = crate::answer::Globe::new(9).unwrap();
        let place = |_| {
            let [x, y, z] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
            (UnitVec::new(x, y, z).unwrap(), rng.random_range(0.0..1.0))
        };
        let places: Vec<(UnitVec, f64)> = (0..300).map(place).collect();
        for width_km in [10.0, 50.0, 800.0, 20_000.0] {
            let kernels = Kernels::new(places.clone(), width_km);
            let points = globe.pixels().points();
            assert_eq!(kernels.densities(points), kernels.each(points), "{width_km}");
        }
    }
}
