//! How densities hold the truths: their likelihood, and the area that is needed to hold them.

use crate::eval::scores::{cumulative, weighted_quantile};
use crate::eval::{Bootstrap, Estimate, Result, accuracy::quantile, error::expect_len};
use locdiff_shdd::{Codec, Coefficients, sphere::EARTH_RADIUS_KM, sphere::LatLon, sphere::UnitVec};
use rayon::prelude::*;
use serde::Serialize;
use std::f64::consts::LN_2;

/// The mean negative log-likelihood, in nats per steradian and as plonk tells it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Likelihood {
    pub(crate) n: usize,
    /// −mean log q in nats per steradian; 2.531 for the uniform density.
    pub(crate) nats: Estimate,
    /// plonk's figure, −mean log q / (3 ln 2); 1.217 for the uniform density.
    pub(crate) plonk: f64,
}

impl Likelihood {
    /// From log densities at the truths, per steradian. NaN is a photo without a density.
    pub(crate) fn new(log_densities: &[f64], bootstrap: &Bootstrap) -> Self {
        let known: Vec<usize> = (0..log_densities.len()).filter(|&photo| !log_densities[photo].is_nan()).collect();
        let minus: Vec<f64> = known.iter().map(|&photo| -log_densities[photo]).collect();
        let nats = bootstrap.select(&known).mean(&minus);
        Self { n: minus.len(), nats, plonk: nats.value / (3.0 * LN_2) }
    }
}

/// How one photo's density holds its truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruthInDensity {
    /// log q at the truth, in nats per steradian.
    pub log_density: f64,
    /// Probability of the smallest credible region that holds the truth; for [`crate::eval::ReliabilityCurve::of_levels`].
    pub region_level: f64,
    /// Area of that region.
    pub region_area_km2: f64,
    /// Probability within the truth's distance of the highest mode: the level of the radii reported with answers.
    pub radius_level: f64,
    /// The highest mode; `None` for a constant density.
    pub mode: Option<LatLon>,
}

/// Judges densities, given as natural parameters (q = exp(e·Y)/Z by quadrature), by the truths.
/// Fails if there is not one code of the codec's degree per photo.
pub fn truths_in_densities(codec: &Codec, codes: &[Coefficients], truths: &[LatLon]) -> Result<Vec<TruthInDensity>> {
    expect_len("codes", codes.len(), truths.len())?;
    let judge = |(code, truth): (&Coefficients, &LatLon)| -> Result<TruthInDensity> {
        let density = codec.density(code)?;
        let point = truth.to_unit();
        let log_density = density.log_density(&[point])[0];
        let mode = density.top_mode().map(|mode| mode.point);
        // The mode itself is 0 away: no cap has no radius.
        let level = |mode: UnitVec| density.cap_mass(mode, mode.angle_rad(point).max(1e-6 / EARTH_RADIUS_KM));
        let radius_level = mode.map_or(Ok(f64::NAN), level)?;
        let region_level = density.region_level(log_density);
        let (region_area_km2, mode) = (density.region_area_km2(log_density), mode.map(UnitVec::to_latlon));
        Ok(TruthInDensity { log_density, region_level, region_area_km2, radius_level, mode })
    };
    codes.par_iter().zip(truths).map(judge).collect()
}

/// The shares of the photos that are reported.
const RECALLS: [f64; 3] = [0.1, 0.5, 0.9];
/// Points of the curve, evenly spaced in the logarithm, and where it begins and ends: the Earth's surface.
const CURVE_POINTS: usize = 81;
const CURVE_KM2: (f64, f64) = (1e2, 5.101e8);

/// The area that holds the truths of a share of the photos.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct AreaAtRecall {
    pub(crate) recall: f64,
    /// Each photo's densest region of this area holds the truth of so many.
    pub(crate) area_km2: Estimate,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct RecallPoint {
    pub(crate) area_km2: f64,
    /// The share of photos whose truth lies in the densest region of this area.
    pub(crate) recall: f64,
}

/// Recall against area: a photo's area is that of everything denser than its truth, so that a sharp density in the right place
/// needs little. Unlike a likelihood it asks for the order of places alone: no temperature or floor changes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecallArea {
    /// Number of photos with a density.
    pub(crate) n: usize,
    /// At 10, 50 and 90 % of the photos.
    pub(crate) at: Vec<AreaAtRecall>,
    pub(crate) curve: Vec<RecallPoint>,
}

impl RecallArea {
    /// From the area of everything denser than the truth, one a photo; NaN is a photo without a density.
    pub fn new(areas_km2: &[f64], bootstrap: &Bootstrap) -> Self {
        let mut order: Vec<usize> = (0..areas_km2.len()).filter(|&k| !areas_km2[k].is_nan()).collect();
        order.sort_by(|&a, &b| areas_km2[a].total_cmp(&areas_km2[b]));
        let sorted: Vec<f64> = order.iter().map(|&k| areas_km2[k]).collect();
        let drawn = bootstrap.select(&order).draws(sorted.len(), |counts| {
            let below = cumulative(counts.iter().copied());
            RECALLS.map(|recall| weighted_quantile(&sorted, &below, recall))
        });
        let at = RECALLS.iter().enumerate().map(|(k, &recall)| {
            let values = drawn.iter().map(|row| row[k]).collect();
            AreaAtRecall { recall, area_km2: bootstrap.estimate(quantile(&sorted, recall), values) }
        });
        let (from, to) = CURVE_KM2;
        let step = (to / from).ln() / (CURVE_POINTS - 1) as f64;
        let point = |k: usize| {
            let area_km2 = if k + 1 == CURVE_POINTS { to } else { from * (step * k as f64).exp() };
            let held = sorted.partition_point(|area| *area <= area_km2);
            RecallPoint { area_km2, recall: held as f64 / sorted.len() as f64 }
        };
        Self { n: sorted.len(), at: at.collect(), curve: (0..CURVE_POINTS).map(point).collect() }
    }

    /// "0.02 / 1.3 / 40": the areas in million km².
    pub fn in_millions(&self) -> String {
        self.at.iter().map(|at| millions(at.area_km2.value)).collect::<Vec<_>>().join(" / ")
    }
}

/// Two digits that mean something.
fn millions(km2: f64) -> String {
    match km2 / 1e6 {
        value if value >= 10.0 => format!("{value:.0}"),
        value if value >= 1.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn photos_without_a_density_do_not_count_and_order_does_not_matter() {
        let areas = [3e6, f64::NAN, 1e6, 2e6, 5e5];
        let found = RecallArea::new(&areas, &Bootstrap::default());
        assert_eq!((found.n, found.at[1].area_km2.value), (4, 1.5e6));
        let turned: Vec<f64> = areas.iter().rev().copied().collect();
        assert_eq!(RecallArea::new(&turned, &Bootstrap::default()).at, found.at);
        assert_eq!(found.in_millions(), "0.65 / 1.5 / 2.7");
        let even: Vec<f64> = (1..=1001).map(|k| f64::from(k) * 1e4).collect();
        let even = RecallArea::new(&even, &Bootstrap::default());
        assert!((even.at[1].area_km2.value / 501e4 - 1.0).abs() < 1e-12);
        assert!(even.curve.last().unwrap().recall == 1.0 && even.curve[0].recall == 0.0);
        assert!(found.curve.is_sorted_by(|a, b| a.recall <= b.recall && a.area_km2 < b.area_km2));
    }
}
