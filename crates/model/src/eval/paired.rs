//! Whether one system is better than another on the same photos.

use crate::eval::scores::{cumulative, weighted_quantile};
use crate::eval::{Bootstrap, Estimate, RADII_KM, Result, Rules, error::expect_len};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct PairedRadius {
    pub(crate) radius_km: f64,
    /// Share of the first less share of the second, by the paired bootstrap.
    pub(crate) difference: Estimate,
    /// Photos that only the first has within the radius.
    pub(crate) only_first: usize,
    pub(crate) only_second: usize,
    /// Exact McNemar test of those two numbers being alike, two-sided.
    pub(crate) p_value: f64,
}

/// The first system less the second, photo by photo.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Paired {
    pub(crate) n: usize,
    pub(crate) radii: Vec<PairedRadius>,
    pub(crate) geoscore: Estimate,
    pub(crate) median_km: Estimate,
    /// Photos that the first answers nearer to the truth.
    pub(crate) nearer_first: usize,
    pub(crate) nearer_second: usize,
    /// Sign test of those two numbers being alike, two-sided, exact.
    pub(crate) nearer_p_value: f64,
}

impl Paired {
    /// From the distances of two systems on the same photos; ∞ is no answer. Fails if the lists differ in length.
    pub(crate) fn new(first_km: &[f64], second_km: &[f64], rules: Rules, bootstrap: &Bootstrap) -> Result<Self> {
        let n = first_km.len();
        expect_len("distances of the second system", second_km.len(), n)?;
        let hits = |km: f64| RADII_KM.map(|radius| f64::from(u8::from(rules.is_within(km, radius))));
        // A photo's part in every difference: five radii, then the GeoScore.
        let part = |(&a, &b): (&f64, &f64)| -> [f64; 6] {
            let (ha, hb, score) = (hits(a), hits(b), rules.geoscore(a) - rules.geoscore(b));
            std::array::from_fn(|k| if k < 5 { ha[k] - hb[k] } else { score })
        };
        let parts: Vec<[f64; 6]> = first_km.iter().zip(second_km).map(part).collect();
        let orders = [Order::new(first_km), Order::new(second_km)];
        let statistics = |counts: &[u32]| {
            let (mut sums, mut all) = ([0.0; 7], 0.0);
            for (part, &count) in parts.iter().zip(counts) {
                all += f64::from(count);
                sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += f64::from(count) * value);
            }
            sums.iter_mut().for_each(|sum| *sum /= all);
            sums[6] = difference(orders[0].median(counts), orders[1].median(counts));
            sums
        };
        let measured = statistics(&vec![1; n]);
        let replicates = bootstrap.draws(n, statistics);
        let estimate = |k: usize| bootstrap.estimate(measured[k], replicates.iter().map(|row| row[k]).collect());
        let radii = RADII_KM.iter().enumerate().map(|(k, &radius_km)| {
            let count = |sign: f64| parts.iter().filter(|part| part[k] == sign).count();
            let (only_first, only_second) = (count(1.0), count(-1.0));
            let p_value = sign_test(only_first, only_second);
            PairedRadius { radius_km, difference: estimate(k), only_first, only_second, p_value }
        });
        let nearer = |a: &[f64], b: &[f64]| a.iter().zip(b).filter(|(x, y)| x < y).count();
        let (nearer_first, nearer_second) = (nearer(first_km, second_km), nearer(second_km, first_km));
        let (geoscore, median_km, radii) = (estimate(5), estimate(6), radii.collect());
        let nearer_p_value = sign_test(nearer_first, nearer_second);
        Ok(Self { n, radii, geoscore, median_km, nearer_first, nearer_second, nearer_p_value })
    }
}

/// ∞ less ∞ is no difference.
fn difference(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { a - b }
}

/// Distances from small to large, with the photo of each.
struct Order {
    sorted_km: Vec<f64>,
    photos: Vec<usize>,
}

impl Order {
    fn new(km: &[f64]) -> Self {
        let mut photos: Vec<usize> = (0..km.len()).collect();
        photos.sort_by(|&i, &j| km[i].total_cmp(&km[j]));
        Self { sorted_km: photos.iter().map(|&photo| km[photo]).collect(), photos }
    }

    /// The median when photo k counts `counts[k]` times.
    fn median(&self, counts: &[u32]) -> f64 {
        weighted_quantile(&self.sorted_km, &cumulative(self.photos.iter().map(|&photo| counts[photo])), 0.5)
    }
}

/// The probability that a fair coin thrown `a + b` times falls at least as unevenly: the exact McNemar test.
pub(crate) fn sign_test(a: usize, b: usize) -> f64 {
    let (few, n) = (a.min(b), a + b);
    // log of (n choose k) / 2^n, term by term.
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = log_term.exp();
    for k in 1..=few {
        log_term += ((n - k + 1) as f64 / k as f64).ln();
        tail += log_term.exp();
    }
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_scipy() {
        // scipy.stats.binomtest(a, a + b).pvalue
        for (a, b, p) in [
            (0, 0, 1.0),
            (0, 5, 0.0625),
            (1, 7, 18.0 / 256.0), // 1 head in 8 throws: 2·(1 + 8)/256
            (5, 5, 1.0),
            (30, 50, 0.03299261842647619),
            (480, 520, 0.2174482932041415),
            (49_000, 51_000, 2.5887160383468943e-10),
        ] {
            let found = sign_test(a, b);
            assert!((found / p - 1.0).abs() < 1e-9, "{a} {b}: {found}");
        }
    }

    #[test]
    fn a_system_differs_from_a_worse_one_and_not_from_itself() {
        let km: Vec<f64> = (0..101).map(|k| f64::from(k * k)).chain([f64::INFINITY]).collect();
        let paired = Paired::new(&km, &km, Rules::default(), &Bootstrap::default()).unwrap();
        for radius in &paired.radii {
            assert_eq!((radius.difference.low, radius.difference.high, radius.p_value), (0.0, 0.0, 1.0));
        }
        assert_eq!((paired.median_km.low, paired.median_km.high, paired.nearer_p_value), (0.0, 0.0, 1.0));
        assert!(Paired::new(&km, &km[1..], Rules::default(), &Bootstrap::default()).is_err());
        let first: Vec<f64> = (0..200).map(|k| f64::from(k) * 10.0).collect();
        let second: Vec<f64> = first.iter().map(|km| km + 300.0).collect();
        let paired = Paired::new(&first, &second, Rules::default(), &Bootstrap::default()).unwrap();
        let country = &paired.radii[3];
        assert_eq!((country.only_first, country.only_second), (30, 0));
        assert!(country.difference.low > 0.0 && country.p_value < 1e-6);
        assert_eq!((paired.nearer_first, paired.nearer_second), (200, 0));
    }

    #[test]
    fn weighted_medians_are_medians_of_repetitions() {
        let km = [30.0, 10.0, 20.0, 40.0];
        let order = Order::new(&km);
        assert_eq!(order.median(&[1, 1, 1, 1]), 25.0);
        assert_eq!(order.median(&[0, 3, 1, 0]), 10.0);
        assert_eq!(order.median(&[2, 2, 0, 0]), 20.0);
        assert_eq!(order.median(&[0, 0, 0, 4]), 40.0);
    }
}
