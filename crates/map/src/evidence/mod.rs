//! Evidence about a place that is not in the picture's embedding: what a sign says, what somebody knows.

mod language;
mod names;
mod numbers;
mod tables;
mod text;

pub use text::{LineEvidence, evidence_of_text};

use crate::{cells::Cells, places::Countries};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use std::{fmt, sync::Arc};

/// The exponential of less is 0.
const NOTHING: f64 = -746.0;

pub(crate) type Function = Arc<dyn Fn(LatLon) -> f64 + Send + Sync>;

/// How likely one piece of evidence is at each place, up to a common factor. It is never 0: nothing rules out a place.
#[derive(Clone)]
#[non_exhaustive]
pub struct Evidence {
    /// What was taken for evidence: "name", "language", "script", "phone", "domain", "currency", "sun" and so on.
    pub kind: &'static str,
    /// What it says, in words: "French", "Leukerbad (Switzerland)".
    pub says: String,
    /// The likelihood in each country of `Countries::bundled().all()`, and at the end that of places in none. Empty: 1 everywhere.
    pub countries: Vec<f64>,
    /// What places add to the likelihood about them.
    pub kernels: Vec<PlaceKernel>,
    /// A factor on all of this.
    pub function: Option<Function>,
}

/// A Gaussian about a place: `weight · exp(−d²/2s²)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaceKernel {
    /// Its centre.
    pub centre: UnitVec,
    /// Its deviation.
    pub deviation_km: f64,
    /// Its height.
    pub weight: f64,
}

impl Evidence {
    /// Evidence that says nothing yet.
    pub fn new(kind: &'static str, says: impl Into<String>) -> Self {
        Self { kind, says: says.into(), countries: Vec::new(), kernels: Vec::new(), function: None }
    }

    /// With kernels no narrower than this, each as heavy as before: for a coarse grid.
    #[must_use]
    pub fn no_narrower_than_km(&self, least_km: f64) -> Self {
        let widen = |kernel: &PlaceKernel| {
            let deviation_km = kernel.deviation_km.max(least_km);
            PlaceKernel {
                deviation_km,
                weight: kernel.weight * (kernel.deviation_km / deviation_km).powi(2),
                ..*kernel
            }
        };
        Self { kernels: self.kernels.iter().map(widen).collect(), ..self.clone() }
    }

    /// The ISO codes of countries in which it is at least half as likely as where it is most likely, at most `most`, the largest
    /// first. None if it says nothing about countries.
    pub fn favoured_countries(&self, most: usize) -> Vec<&'static str> {
        let all = Countries::bundled().all();
        let mut likelihoods = vec![0.0; all.len()];
        likelihoods.iter_mut().zip(&self.countries).for_each(|(sum, own)| *sum = *own);
        for kernel in &self.kernels {
            let cell = Cells::bundled().at(kernel.centre.to_latlon());
            let number = cell.map(|cell| usize::from(Cells::bundled().country_numbers()[cell]));
            if let Some(likelihood) = number.and_then(|number| likelihoods.get_mut(number)) {
                *likelihood = likelihood.max(self.likelihood(kernel.centre));
            }
        }
        let mut order: Vec<usize> = (0..all.len()).filter(|number| !all[*number].code().is_empty()).collect();
        order.sort_by(|a, b| likelihoods[*b].total_cmp(&likelihoods[*a]));
        let least = 0.5 * order.first().map_or(0.0, |first| likelihoods[*first]);
        let is_likely = |number: &usize| likelihoods[*number] > 0.0 && likelihoods[*number] >= least;
        order.retain(is_likely);
        let mut cells = vec![0; usize::from(u8::MAX) + 1];
        Cells::bundled().country_numbers().iter().for_each(|number| cells[usize::from(*number)] += 1);
        order.sort_by_key(|number| std::cmp::Reverse(cells[*number]));
        order.into_iter().take(most).map(|number| all[number].code()).collect()
    }

    /// The likelihood at a point.
    pub fn likelihood(&self, point: UnitVec) -> f64 {
        let cell = if self.countries.is_empty() { None } else { Cells::bundled().at(point.to_latlon()) };
        self.likelihood_in(cell.map_or(u8::MAX, |cell| Cells::bundled().country_numbers()[cell]), point)
    }

    /// Whether the likelihood is the same everywhere in a country.
    pub fn is_of_countries(&self) -> bool {
        self.kernels.is_empty() && self.function.is_none()
    }

    /// The likelihood at a point in the country of this number of [`Cells::country_numbers`].
    pub fn likelihood_in(&self, country: u8, point: UnitVec) -> f64 {
        let mut sum = 1.0;
        if let Some((elsewhere, countries)) = self.countries.split_last() {
            sum = *countries.get(usize::from(country)).unwrap_or(elsewhere);
        }
        for kernel in &self.kernels {
            let exponent = (kernel.centre.dot(point) - 1.0) * (EARTH_RADIUS_KM / kernel.deviation_km).powi(2);
            if exponent > NOTHING {
                sum += kernel.weight * exponent.exp();
            }
        }
        let factor = self.function.as_ref().map_or(1.0, |function| function(point.to_latlon()));
        (sum * factor).max(f64::MIN_POSITIVE)
    }
}

impl fmt::Debug for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {} kernels", self.kind, self.says, self.kernels.len())
    }
}
