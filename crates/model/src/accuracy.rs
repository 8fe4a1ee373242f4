//! How good answers are.

use locdiff_sphere::{LatLon, haversine_km};
use serde::{Deserialize, Serialize};

/// The radii in km at which accuracy is told: street, city, region, country, continent.
pub const RADII_KM: [f64; 5] = [1.0, 25.0, 200.0, 750.0, 2500.0];

/// Shares of answers nearer than each radius, and the median distance.
///
/// ```
/// use locdiff_model::Accuracy;
/// use locdiff_sphere::LatLon;
/// let (here, there) = (LatLon::new(0.0, 0.0)?, LatLon::new(0.0, 5.0)?);
/// let accuracy = Accuracy::new([(here, here), (here, there)]);
/// assert_eq!(accuracy.within, [0.5, 0.5, 0.5, 1.0, 1.0]);
/// # Ok::<(), locdiff_sphere::SphereError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Number of answers.
    pub n: usize,
    /// Shares, one a radius of [`RADII_KM`].
    pub within: [f64; 5],
    /// The median distance in km.
    pub median_km: f64,
}

impl Accuracy {
    /// From pairs of answer and truth, by the haversine distance.
    pub fn new(pairs: impl IntoIterator<Item = (LatLon, LatLon)>) -> Self {
        let mut distances: Vec<f64> = pairs.into_iter().map(|(a, b)| haversine_km(a, b)).collect();
        distances.sort_by(f64::total_cmp);
        let n = distances.len();
        let within =
            RADII_KM.map(|radius| distances.iter().filter(|d| **d < radius).count() as f64 / n.max(1) as f64);
        let median_km = match n {
            0 => f64::NAN,
            n if n % 2 == 1 => distances[n / 2],
            n => 0.5 * (distances[n / 2 - 1] + distances[n / 2]),
        };
        Self { n, within, median_km }
    }

    /// The mean of the shares from 25 km up: one number to compare runs by.
    pub fn score(&self) -> f64 {
        self.within[1..].iter().sum::<f64>() / 4.0
    }
}
