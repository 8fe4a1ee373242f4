//! How good answers are, in a few numbers without intervals.

use crate::eval::{RADII_KM, Rules};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use rayon::prelude::*;
use serde::Serialize;
use std::fmt;

/// Shares of answers within each radius, the GeoScore, and how far off answers are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accuracy {
    /// Number of photos.
    pub n: usize,
    /// Photos without an answer; they are within no radius.
    pub missing: usize,
    /// Shares, one a radius of [`RADII_KM`].
    pub within: [f64; 5],
    /// The mean GeoScore.
    pub geoscore: f64,
    /// The median distance in km; ∞ when more than half have no answer.
    pub median_km: f64,
    /// The mean distance in km of the photos that have an answer.
    pub mean_km: f64,
}

impl Accuracy {
    /// From pairs of answer and truth, by the default rules.
    pub fn new(pairs: impl IntoIterator<Item = (LatLon, LatLon)>) -> Self {
        let rules = Rules::default();
        let errors_km: Vec<f64> = pairs.into_iter().map(|(a, b)| rules.distance_km(a, b)).collect();
        Self::of(&errors_km, rules)
    }

    /// From distances; ∞ is no answer. All shares are NaN when there are no photos.
    pub fn of(errors_km: &[f64], rules: Rules) -> Self {
        let n = errors_km.len();
        let mut sorted = errors_km.to_vec();
        sorted.sort_by(f64::total_cmp);
        let answered = sorted.partition_point(|km| km.is_finite());
        let mean = |sum: f64, count: usize| sum / count as f64;
        Self {
            n,
            missing: n - answered,
            within: RADII_KM.map(|radius| mean(sorted.partition_point(|km| rules.is_within(*km, radius)) as f64, n)),
            geoscore: mean(sorted.iter().map(|km| rules.geoscore(*km)).sum(), n),
            median_km: quantile(&sorted, 0.5),
            mean_km: mean(sorted[..answered].iter().sum(), answered),
        }
    }

    /// The mean of the shares from 25 km up: one number to compare runs by.
    pub fn score(&self) -> f64 {
        self.within[1..].iter().sum::<f64>() / 4.0
    }
}

impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.n == 0 {
            return write!(f, "no photos (n = 0)");
        }
        let shares = self.within.map(|share| format!("{:.1}", 100.0 * share)).join(" ");
        write!(f, "within 1/25/200/750/2500 km: {shares} % (n = {}), median {:.0} km", self.n, self.median_km)
    }
}

/// The quantile of sorted values, linear between neighbours (numpy's default); NaN for none.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = p.clamp(0.0, 1.0) * last as f64;
    between(sorted[place.floor() as usize], sorted[place.ceil() as usize], place.fract())
}

/// The value a share of the way from one to another, either of which may be ∞.
pub(crate) fn between(low: f64, high: f64, share: f64) -> f64 {
    if share == 0.0 || low == high { low } else { low + share * (high - low) }
}

/// So many of the places are tried.
const MOST_TRIED: usize = 5000;

/// The one of the places that has most of them around it: the mean of the shares within 200, 750 and 2500 km is highest.
/// What is not ahead of always answering it is no answer. `None` for no places.
pub fn best_constant(places: &[LatLon]) -> Option<LatLon> {
    let points: Vec<UnitVec> = places.iter().map(|place| place.to_unit()).collect();
    let cosines = [2, 3, 4].map(|k| (RADII_KM[k] / EARTH_RADIUS_KM).cos());
    let near = |place: UnitVec| -> usize {
        points.iter().map(|other| cosines.iter().filter(|least| place.dot(*other) > **least).count()).sum()
    };
    let tried = points.len().min(MOST_TRIED);
    let candidates = (0..tried).into_par_iter().map(|k| k * points.len() / tried);
    let best = candidates.map(|k| (near(points[k]), std::cmp::Reverse(k))).max();
    best.map(|(_, k)| places[k.0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy.quantile([1, 2, 4, 8], [0, .25, .5, .9, 1])
        let values = [1.0, 2.0, 4.0, 8.0];
        for (p, expected) in [(0.0, 1.0), (0.25, 1.75), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)] {
            assert!((quantile(&values, p) - expected).abs() < 1e-12, "{p}");
        }
        assert!(quantile(&[], 0.5).is_nan());
        assert_eq!(quantile(&[1.0, f64::INFINITY, f64::INFINITY], 0.75), f64::INFINITY);
    }

    #[test]
    fn photos_without_an_answer_are_misses() {
        let accuracy = Accuracy::of(&[f64::INFINITY, 10.0, 100.0, 20.0], Rules::default());
        assert_eq!((accuracy.n, accuracy.missing), (4, 1));
        assert_eq!(accuracy.within, [0.0, 0.5, 0.75, 0.75, 0.75]);
        assert_eq!(accuracy.median_km, 60.0);
        assert!((accuracy.mean_km - 130.0 / 3.0).abs() < 1e-12);
        assert!((accuracy.score() - (0.5 + 3.0 * 0.75) / 4.0).abs() < 1e-12);
        let (here, there) = (LatLon::new(0.0, 0.0).unwrap(), LatLon::new(0.0, 5.0).unwrap());
        assert_eq!(Accuracy::new([(here, here), (here, there)]).within, [0.5, 0.5, 0.5, 1.0, 1.0]);
        let places = [-50.0, 48.0, 48.1, 48.2, 70.0].map(|lat| LatLon::new(lat, 10.0).unwrap());
        assert!((best_constant(&places).unwrap().lat_deg() - 48.1).abs() < 0.2);
        let none = Accuracy::of(&[], Rules::default());
        assert!(none.within[0].is_nan());
        assert_eq!(none.to_string(), "no photos (n = 0)");
    }
}
