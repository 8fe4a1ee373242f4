//! The density that retrieval gives: kernels about the places of the photos that look most alike.

use locdiff_sphere::{EARTH_RADIUS_KM, UnitVec};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A kernel counts nothing where it is below e to the power of this.
const FAR: f64 = -60.0;

/// A place that retrieval found, and how much its photo is like the one in question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The place.
    pub place: UnitVec,
    /// The cosine of the two embeddings.
    pub similarity: f64,
}

/// How neighbours become a density: Gaussian kernels on the sphere about the nearest few, each weighing
/// `exp(similarity / temperature)`.
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
///
/// ```
/// use locdiff_answer::{KernelSettings, Neighbour};
/// use locdiff_sphere::LatLon;
/// let paris = LatLon::new(48.86, 2.35)?.to_unit();
/// let settings = KernelSettings { neighbours: 5, temperature: 0.05, width_km: 250.0 };
/// let density = settings.kernels(&[Neighbour { place: paris, similarity: 0.9 }]);
/// // A Gaussian's height: 1 / (2π·σ²).
/// let sigma = 250.0 / locdiff_sphere::EARTH_RADIUS_KM;
/// assert!((density.density(paris) * 2.0 * std::f64::consts::PI * sigma * sigma - 1.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Kernels {
    /// Places with their shares of the density over a kernel's own integral.
    places: Vec<(UnitVec, f64)>,
    kappa: f64,
}

impl Kernels {
    /// Kernels of a deviation about places with weights of any sum.
    pub fn new(mut places: Vec<(UnitVec, f64)>, width_km: f64) -> Self {
        let kappa = (EARTH_RADIUS_KM / width_km).powi(2);
        // exp(κ(cos − 1)) integrates to 2π(1 − exp(−2κ))/κ.
        let area = 2.0 * PI * -(-2.0 * kappa).exp_m1() / kappa;
        let total: f64 = places.iter().map(|(_, weight)| weight).sum::<f64>() * area;
        for (_, weight) in &mut places {
            *weight /= total;
        }
        Self { places, kappa }
    }

    /// The density at a point, per steradian.
    pub fn density(&self, point: UnitVec) -> f64 {
        let exponents = self.places.iter().map(|(place, weight)| (self.kappa * (place.dot(point) - 1.0), weight));
        let near = exponents.filter(|(exponent, _)| *exponent > FAR);
        near.map(|(exponent, weight)| weight * exponent.exp()).sum()
    }

    /// Log density at points; minus infinity far from every place.
    pub fn log_densities(&self, points: &[UnitVec]) -> Vec<f64> {
        points.iter().map(|point| self.density(*point).ln()).collect()
    }
}
