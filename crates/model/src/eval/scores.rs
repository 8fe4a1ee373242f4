//! All that distances say, each number with its interval.

use crate::eval::{Bootstrap, Estimate, RADII_KM, Rules, accuracy::between, accuracy::quantile};
use serde::Serialize;

/// The quantiles that are reported.
const QUANTILES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];
/// Points of the accuracy curve, evenly spaced in the logarithm.
const CURVE_POINTS: usize = 81;
/// Where the curve begins and ends: half the Earth's circumference.
const CURVE_KM: (f64, f64) = (1.0, 20_015.0);

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct RadiusShare {
    pub(crate) radius_km: f64,
    pub(crate) share: Estimate,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct ErrorQuantile {
    pub(crate) p: f64,
    pub(crate) km: Estimate,
}

/// Shares within radii, GeoScore, mean, quantiles and the curve of accuracy over distance, with intervals.
///
/// Photos without an answer (a distance of ∞) are within no radius, score 0, and count in the quantiles as farther
/// than any other; the mean is that of the answers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct DistanceScores {
    pub(crate) n: usize,
    pub(crate) missing: usize,
    /// Shares within [`RADII_KM`].
    pub(crate) radii: Vec<RadiusShare>,
    pub(crate) geoscore: Estimate,
    /// The mean distance of the answers.
    pub(crate) mean_km: Estimate,
    pub(crate) quantiles: Vec<ErrorQuantile>,
    /// Share within a distance, for a plot; empty for groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) curve: Vec<RadiusShare>,
}

impl DistanceScores {
    /// From distances, one per photo; ∞ is no answer.
    pub(crate) fn new(errors_km: &[f64], rules: Rules, bootstrap: &Bootstrap) -> Self {
        let sorted = Sorted::new(errors_km, rules);
        let n = sorted.km.len();
        let replicates = bootstrap.select(&sorted.order).draws(n, |counts| sorted.statistics(counts));
        let column = |index: usize| replicates.iter().map(|row| row[index]).collect::<Vec<f64>>();
        let measured = sorted.statistics(&vec![1; n]);
        let share = |index: usize| {
            let (radius_km, hits) = sorted.cuts[index];
            RadiusShare { radius_km, share: bootstrap.share(hits, n, column(index)) }
        };
        let shares: Vec<RadiusShare> = (0..sorted.cuts.len()).map(share).collect();
        let other = |index: usize| bootstrap.estimate(measured[shares.len() + index], column(shares.len() + index));
        let quantile_at = |(index, p): (usize, &f64)| {
            // Interpolated as everywhere else; the replicates' quantiles are whole photos.
            ErrorQuantile { p: *p, km: Estimate { value: quantile(&sorted.km, *p), ..other(2 + index) } }
        };
        let (missing, geoscore, mean_km) = (n - sorted.answered, other(0), other(1));
        let quantiles = QUANTILES.iter().enumerate().map(quantile_at).collect();
        let (radii, curve) = shares.split_at(RADII_KM.len());
        Self { n, missing, radii: radii.to_vec(), geoscore, mean_km, quantiles, curve: curve.to_vec() }
    }

    /// The median distance.
    pub(crate) fn median_km(&self) -> Estimate {
        self.quantiles[QUANTILES.len() / 2].km
    }
}

/// Distances from small to large: every weighted statistic is one pass over them.
struct Sorted {
    /// The photo of each.
    order: Vec<usize>,
    km: Vec<f64>,
    scores: Vec<f64>,
    answered: usize,
    /// Radii, and how many photos are within.
    cuts: Vec<(f64, usize)>,
}

impl Sorted {
    fn new(errors_km: &[f64], rules: Rules) -> Self {
        let mut order: Vec<usize> = (0..errors_km.len()).collect();
        order.sort_by(|&a, &b| errors_km[a].total_cmp(&errors_km[b]));
        let km: Vec<f64> = order.iter().map(|&photo| errors_km[photo]).collect();
        let (from, to) = CURVE_KM;
        let step = (to / from).ln() / (CURVE_POINTS - 1) as f64;
        let curve = (0..CURVE_POINTS).map(|k| from * (step * k as f64).exp());
        let cut = |radius| (radius, km.partition_point(|d| rules.is_within(*d, radius)));
        let cuts = RADII_KM.into_iter().chain(curve).map(cut).collect();
        let scores = km.iter().map(|d| rules.geoscore(*d)).collect();
        Self { scores, answered: km.partition_point(|d| d.is_finite()), cuts, order, km }
    }

    /// Shares, GeoScore, mean, quantiles, when photo k counts `counts[k]` times.
    fn statistics(&self, counts: &[u32]) -> Vec<f64> {
        let below = cumulative(counts.iter().copied());
        let (mut score, mut sum) = (0.0, 0.0);
        for (index, &count) in counts.iter().enumerate() {
            score += f64::from(count) * self.scores[index];
            if index < self.answered && count > 0 {
                sum += f64::from(count) * self.km[index];
            }
        }
        let n = below[counts.len()] as f64;
        let mut row: Vec<f64> = self.cuts.iter().map(|(_, hits)| below[*hits] as f64 / n).collect();
        row.push(score / n);
        row.push(sum / below[self.answered] as f64);
        row.extend(QUANTILES.map(|p| weighted_quantile(&self.km, &below, p)));
        row
    }
}

/// How often all before index k count, for k from 0 to their number.
pub(crate) fn cumulative(counts: impl ExactSizeIterator<Item = u32>) -> Vec<u64> {
    let mut below = Vec::with_capacity(counts.len() + 1);
    below.push(0);
    for count in counts {
        below.push(below[below.len() - 1] + u64::from(count));
    }
    below
}

/// The quantile of sorted values of which those before index k count `below[k]` times in all.
pub(crate) fn weighted_quantile(sorted: &[f64], below: &[u64], p: f64) -> f64 {
    let Some(last) = below[sorted.len()].checked_sub(1) else { return f64::NAN };
    let place = p * last as f64;
    let item = |rank: u64| sorted[below.partition_point(|b| *b <= rank) - 1];
    between(item(place.floor() as u64), item(place.ceil() as u64), place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{Accuracy, Preset};
    use proptest::prelude::*;

    proptest! {
        /// Counting a photo several times is having it several times.
        #[test]
        fn weights_are_repetitions(
            rows in prop::collection::vec((prop_oneof![9 => 0.0..20_000.0f64, 1 => Just(f64::INFINITY)], 0u32..4), 1..40),
        ) {
            prop_assume!(rows.iter().any(|row| row.1 > 0 && row.0.is_finite()));
            let mut rows = rows;
            rows.sort_by(|a, b| a.0.total_cmp(&b.0));
            let km: Vec<f64> = rows.iter().map(|row| row.0).collect();
            let counts: Vec<u32> = rows.iter().map(|row| row.1).collect();
            let repeated: Vec<f64> = rows.iter().flat_map(|row| vec![row.0; row.1 as usize]).collect();
            let weighted = Sorted::new(&km, Preset::Plonk.rules()).statistics(&counts);
            let plain = Accuracy::of(&repeated, Preset::Plonk.rules());
            for (index, share) in plain.within.iter().enumerate() {
                prop_assert!((weighted[index] - share).abs() < 1e-9);
            }
            let rest = &weighted[RADII_KM.len() + CURVE_POINTS..];
            prop_assert!((rest[0] - plain.geoscore).abs() < 1e-6);
            prop_assert!((rest[1] - plain.mean_km).abs() < 1e-6);
            for (value, p) in rest[2..].iter().zip(QUANTILES) {
                let expected = quantile(&repeated, p);
                prop_assert!(*value == expected || (value - expected).abs() < 1e-6, "{} {}", value, expected);
            }
        }
    }

    #[test]
    fn values_are_those_without_intervals() {
        let errors: Vec<f64> = (0..300).map(|k| f64::from(k) * 10.0).collect();
        let country = DistanceScores::new(&errors, Rules::default(), &Bootstrap::default()).radii[3];
        assert_eq!((country.radius_km, country.share.value), (750.0, 0.25));
        assert!(country.share.low > 0.19 && country.share.high < 0.31);
        let errors: Vec<f64> = (0..997).map(|k| (f64::from(k) * 0.02).exp()).collect();
        for (preset, ..) in <Preset as locdiff_base::Named>::ALL {
            let scores = DistanceScores::new(&errors, preset.rules(), &Bootstrap::default());
            let plain = Accuracy::of(&errors, preset.rules());
            for (with, without) in scores.radii.iter().zip(plain.within) {
                assert_eq!(with.share.value, without);
                assert!(with.share.low <= without && without <= with.share.high);
            }
            assert!((scores.geoscore.value - plain.geoscore).abs() < 1e-9);
            assert!((scores.median_km().value - plain.median_km).abs() < 1e-9);
            assert!((scores.mean_km.value / plain.mean_km - 1.0).abs() < 1e-12);
            let curve: Vec<f64> = scores.curve.iter().map(|point| point.share.value).collect();
            assert!(curve.is_sorted() && curve.len() == CURVE_POINTS);
        }
    }
}
