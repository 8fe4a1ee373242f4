//! Whether regions hold what they promise.

use crate::eval::{Result, Rules, error::expect_len};
use locdiff_base::setting;
use serde::Serialize;

/// The promises that are checked: 10, 20 … 90 %.
pub const LEVELS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// One point of a reliability curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReliabilityPoint {
    /// The probability promised.
    pub promised: f64,
    /// The share of truths inside.
    pub observed: f64,
    /// Standard error of that share, were the promise kept.
    pub standard_error: f64,
    /// Number of photos.
    pub n: usize,
}

impl ReliabilityPoint {
    pub(crate) fn new(promised: f64, hits: usize, n: usize) -> Self {
        let standard_error = (promised * (1.0 - promised) / n as f64).sqrt();
        Self { promised, observed: hits as f64 / n as f64, standard_error, n }
    }
}

/// A reliability curve, and how far it is from the diagonal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReliabilityCurve {
    /// Its points, from small promises to large ones.
    pub curve: Vec<ReliabilityPoint>,
    /// The mean of |observed − promised|.
    pub mean_absolute_error: f64,
    /// The largest |observed − promised|.
    pub largest_error: f64,
}

impl ReliabilityCurve {
    /// From the probability of the smallest region that holds each truth. NaN is a photo without regions.
    pub fn of_levels(levels: &[f64]) -> Self {
        let n = levels.iter().filter(|level| !level.is_nan()).count();
        let hits = |p: f64| levels.iter().filter(|level| **level <= p).count();
        Self::of_curve(LEVELS.iter().map(|&p| ReliabilityPoint::new(p, hits(p), n)).collect())
    }

    /// From the radii that were reported with the answers: for each promised probability the radius of every photo, NaN
    /// if none was reported. A photo without an answer (a distance of ∞) breaks its promise.
    /// Fails if a list has not one radius per photo, or a probability is not between 0 and 1.
    pub fn of_radii(errors_km: &[f64], radii_km: &[(f64, Vec<f64>)], rules: Rules) -> Result<Self> {
        let curve = radii_km.iter().map(|(p, radii)| {
            expect_len("radii", radii.len(), errors_km.len())?;
            if !(*p > 0.0 && *p < 1.0) {
                return Err(setting("probability of a radius", p, "between 0 and 1"));
            }
            let given = errors_km.iter().zip(radii).filter(|(_, radius)| !radius.is_nan());
            let hits = given.clone().filter(|(km, radius)| rules.is_within(**km, **radius)).count();
            Ok(ReliabilityPoint::new(*p, hits, given.count()))
        });
        Ok(Self::of_curve(curve.collect::<Result<_>>()?))
    }

    /// The shares of truths inside, from small promises to large ones.
    pub fn observed(&self) -> Vec<f64> {
        self.curve.iter().map(|point| point.observed).collect()
    }

    pub(crate) fn of_curve(mut curve: Vec<ReliabilityPoint>) -> Self {
        curve.sort_by(|a, b| a.promised.total_cmp(&b.promised));
        let errors: Vec<f64> = curve.iter().map(|point| (point.observed - point.promised).abs()).collect();
        let mean_absolute_error = errors.iter().sum::<f64>() / errors.len() as f64;
        Self { mean_absolute_error, largest_error: errors.iter().copied().fold(0.0, f64::max), curve }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_that_hold_what_they_say() {
        let errors: Vec<f64> = (0..100).map(f64::from).chain([f64::INFINITY]).collect();
        let given = [(0.9, vec![89.5; 101]), (0.5, vec![24.5; 101])];
        let found = ReliabilityCurve::of_radii(&errors, &given, Rules::default()).unwrap();
        let observed: Vec<f64> = found.curve.iter().map(|point| point.observed * 101.0).collect();
        assert!((observed[0] - 25.0).abs() < 1e-9 && (observed[1] - 90.0).abs() < 1e-9);
        assert!((found.largest_error - (0.5 - 25.0 / 101.0)).abs() < 1e-12);
        assert!(ReliabilityCurve::of_radii(&errors, &[(0.5, vec![1.0])], Rules::default()).is_err());
        assert!(ReliabilityCurve::of_radii(&errors, &[(50.0, vec![1.0; 101])], Rules::default()).is_err());
    }

    #[test]
    fn photos_without_regions_do_not_count() {
        let found = ReliabilityCurve::of_levels(&[0.05, f64::NAN, 0.95]);
        assert!(found.curve.iter().all(|point| point.n == 2 && point.observed == 0.5));
        assert!((found.mean_absolute_error - 2.0 / 9.0).abs() < 1e-12);
        // Levels spread evenly are perfect; half of them is over-cautious.
        let levels: Vec<f64> = (0..1000).map(|k| (f64::from(k) + 0.5) / 1000.0).collect();
        assert!(ReliabilityCurve::of_levels(&levels).mean_absolute_error < 1e-9);
        let cautious: Vec<f64> = levels.iter().map(|level| 0.5 * level).collect();
        assert!(ReliabilityCurve::of_levels(&cautious).curve[4].observed > 0.99);
    }
}
