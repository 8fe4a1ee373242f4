//! How much of the Earth a density must be given until it holds the truth.

use crate::eval::accuracy::quantile;
use crate::eval::scores::{cumulative, weighted_quantile};
use crate::eval::{Bootstrap, Estimate};
use serde::Serialize;

/// The shares of the photos that are reported.
const RECALLS: [f64; 3] = [0.1, 0.5, 0.9];
/// Points of the curve, evenly spaced in the logarithm, and where it begins and ends: the Earth's surface.
const CURVE_POINTS: usize = 81;
const CURVE_KM2: (f64, f64) = (1e2, 5.101e8);

/// The area that holds the truths of a share of the photos.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AreaAtRecall {
    /// The share.
    pub recall: f64,
    /// Each photo's densest region of this area holds the truth of so many.
    pub area_km2: Estimate,
}

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RecallPoint {
    /// The area.
    pub area_km2: f64,
    /// The share of photos whose truth lies in the densest region of this area.
    pub recall: f64,
}

/// Recall against area: a photo's area is that of everything denser than its truth, so that a sharp density in the right place
/// needs little. Unlike a likelihood it asks for the order of places alone: no temperature or floor changes it.
///
/// ```
/// use locdiff_model::eval::{Bootstrap, RecallArea};
/// let areas: Vec<f64> = (1..=1001).map(|k| f64::from(k) * 1e4).collect();
/// let found = RecallArea::new(&areas, &Bootstrap::default());
/// assert!((found.at[1].area_km2.value / 501e4 - 1.0).abs() < 1e-12);
/// assert!(found.curve.last().unwrap().recall == 1.0 && found.curve[0].recall == 0.0);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecallArea {
    /// Number of photos with a density.
    pub n: usize,
    /// At 10, 50 and 90 % of the photos.
    pub at: Vec<AreaAtRecall>,
    /// The curve.
    pub curve: Vec<RecallPoint>,
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
        let each: Vec<String> = self.at.iter().map(|at| millions(at.area_km2.value)).collect();
        each.join(" / ")
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
        assert!(found.curve.is_sorted_by(|a, b| a.recall <= b.recall && a.area_km2 < b.area_km2));
    }
}
