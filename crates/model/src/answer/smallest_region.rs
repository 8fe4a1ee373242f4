//! The smallest region that holds a probability.

use crate::answer::density_bins::{DensityBins, DensityRegion, fill, regions};
use crate::answer::support::Support;

/// More pixels than those of a globe of degree 31.
const MANY_PIXELS: usize = 100_000;

/// The smallest regions that hold each probability, given the log densities and masses of pixels.
pub(crate) fn smallest_regions<const N: usize>(
    support: &Support,
    (values, masses): (&[f64], &[f64]),
    shares: [f64; N],
) -> [DensityRegion; N] {
    if support.is_even() && values.len() > MANY_PIXELS {
        let ones = std::iter::repeat(1.0);
        return DensityBins::new(masses, ones.clone(), 0.0).regions((masses, ones), support.area_sr(), shares);
    }
    let found = shares.map(|p| {
        let densest = densest(values, masses, p).into_iter().map(|pixel| pixel as usize);
        fill(p, (0.0, 0.0), densest.map(|pixel| (values[pixel], masses[pixel], support.relative_area(pixel))))
    });
    regions(shares, found, support.area_sr())
}

/// The pixels that are possible at all, densest first, as far as a probability `p` needs them. Only those are sorted.
fn densest(values: &[f64], masses: &[f64], p: f64) -> Vec<u32> {
    const BINS: usize = 512;
    /// Pixels deeper than this below the top are in the last bin.
    const DEPTH_NATS: f64 = 32.0;
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bin = |value: f64| (((top - value) * (BINS as f64 / DEPTH_NATS)) as usize).min(BINS - 1);
    let mut held = [0.0; BINS];
    for (value, mass) in values.iter().zip(masses) {
        held[bin(*value)] += mass;
    }
    // One bin more than the sum needs: sums of another order differ in the last digits.
    let mut sum = 0.0;
    let needed = held.iter().position(|mass| {
        sum += mass;
        sum >= p
    });
    let last = needed.map_or(BINS - 1, |needed| needed + 1);
    let is_near = |pixel: &u32| {
        let value = values[*pixel as usize];
        value > f64::NEG_INFINITY && bin(value) <= last
    };
    let mut order: Vec<u32> = (0..values.len() as u32).filter(is_near).collect();
    order.sort_unstable_by(|&a, &b| values[b as usize].total_cmp(&values[a as usize]).then(a.cmp(&b)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Globe;
    use locdiff_shdd::sphere::EARTH_RADIUS_KM;
    use std::sync::Arc;

    /// Whole bins of densities give the region that a full sort gives.
    #[test]
    fn bins_of_many_pixels_are_a_full_sort() {
        let support = Support::Globe(Arc::new(Globe::new(47).unwrap()));
        let count = support.points().len();
        for steepness in [0.3, 9.0, 40.0] {
            let values: Vec<f64> = (0..count).map(|k| steepness * (k as f64 * 0.37).sin()).collect();
            let total: f64 = values.iter().map(|value| value.exp()).sum();
            let mut all: Vec<(f64, f64)> = values.iter().map(|value| (*value, value.exp() / total)).collect();
            let masses: Vec<f64> = all.iter().map(|(_, mass)| *mass).collect();
            all.sort_by(|a, b| b.0.total_cmp(&a.0));
            for p in [0.1, 0.5, 0.9, 0.999] {
                let mut held = 0.0;
                let last = all.iter().position(|(_, mass)| {
                    held += mass;
                    held >= p
                });
                let last = last.unwrap();
                let [found] = smallest_regions(&support, (&values, &masses), [p]);
                let area = found.area_km2 / (support.area_sr() * EARTH_RADIUS_KM * EARTH_RADIUS_KM);
                let wanted = (all[last].1 / support.area_sr()).ln();
                assert!((found.log_density - wanted).abs() < 1e-6, "{steepness} {p}");
                assert!((area - last as f64).abs() <= 1.0 + 1e-6 * count as f64, "{steepness} {p}: {area} {last}");
            }
        }
    }

    /// What is sorted in part begins with what a full sort begins with, as far as the probability needs it.
    #[test]
    fn the_densest_pixels_are_those_of_a_full_sort() {
        for (seed, steepness) in [(1_u32, 0.5), (2, 8.0), (3, 60.0), (4, 900.0)] {
            let mut state = seed;
            let value = |_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                -steepness * f64::from(state >> 8) / f64::from(1 << 24)
            };
            let mut values: Vec<f64> = (0..5000).map(value).collect();
            values[17] = f64::NEG_INFINITY; // outside a region
            values[4000] = values[40]; // level
            let total: f64 = values.iter().map(|value| value.exp()).sum();
            let masses: Vec<f64> = values.iter().map(|value| value.exp() / total).collect();
            let mut all: Vec<u32> = (0..5000).filter(|&k| values[k as usize].is_finite()).collect();
            all.sort_by(|&a, &b| values[b as usize].total_cmp(&values[a as usize]).then(a.cmp(&b)));
            for p in [0.001, 0.5, 0.9, 0.999, 1.0] {
                let found = densest(&values, &masses, p);
                let mut held = 0.0;
                let needed = all.iter().position(|&k| {
                    held += masses[k as usize];
                    held >= p
                });
                let needed = needed.map_or(all.len(), |last| last + 1);
                assert!(found.len() >= needed, "{} of {needed} at {p}, steepness {steepness}", found.len());
                assert_eq!(found[..needed], all[..needed], "{p}, steepness {steepness}");
            }
        }
    }
}
