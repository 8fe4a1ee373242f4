//! The smallest region that holds a probability.

use crate::answer::support::{Support, largest};
use locdiff_shdd::sphere::EARTH_RADIUS_KM;

/// More pixels than those of a globe of degree 31.
const MANY_PIXELS: usize = 100_000;
/// Pixels that are passed over together.
const BLOCK: usize = 32;

/// The smallest region that holds a probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DensityRegion {
    /// The probability it holds.
    pub probability: f64,
    /// A point is inside when its log density per steradian is at least this.
    pub log_density: f64,
    /// Its area.
    pub area_km2: f64,
}

/// The smallest regions that hold each probability, given the log densities and masses of pixels.
pub(crate) fn smallest_regions<const N: usize>(
    support: &Support,
    (values, masses): (&[f64], &[f64]),
    shares: [f64; N],
) -> [DensityRegion; N] {
    let found = if support.is_even() && values.len() > MANY_PIXELS {
        smallest_of_many(values, masses, shares)
    } else {
        shares.map(|p| {
            let densest = densest(values, masses, p).into_iter().map(|pixel| pixel as usize);
            fill(p, (0.0, 0.0), densest.map(|pixel| (values[pixel], masses[pixel], support.relative_area(pixel))))
        })
    };
    let area_km2 = support.area_sr() * EARTH_RADIUS_KM * EARTH_RADIUS_KM;
    let mut shares = shares.into_iter();
    found.map(|(log_density, count)| {
        let probability = shares.next().unwrap_or_default();
        DensityRegion { probability, log_density, area_km2: count * area_km2 }
    })
}

/// The density and the area at which pixels (density, mass, area), densest first, hold `p`, after some held and counted before.
fn fill(p: f64, (mut held, mut count): (f64, f64), pixels: impl Iterator<Item = (f64, f64, f64)>) -> (f64, f64) {
    let mut threshold = f64::INFINITY;
    for (value, mass, area) in pixels {
        threshold = value;
        if held + mass >= p {
            count += area * (p - held) / mass;
            break;
        }
        (held, count) = (held + mass, count + area);
    }
    (threshold, count)
}

/// For many pixels of one size: whole bins of densities are summed, and one alone is sorted.
fn smallest_of_many<const N: usize>(values: &[f64], masses: &[f64], shares: [f64; N]) -> [(f64, f64); N] {
    const BINS: usize = 2048;
    const LAST: u16 = BINS as u16 - 1;
    const DEPTH_NATS: f64 = 12.0;
    let top = largest(values);
    let bin = |value: f64| ((top - value) * (BINS as f64 / DEPTH_NATS)).min(f64::from(LAST)) as i32 as u16;
    // Pixels lighter than this hold less together than what no share asks for: nobody asks for their bins.
    let spare = (1.0 - shares.iter().copied().fold(0.0, f64::max)) / (values.len() + 1) as f64;
    let last = bin(top + (spare / largest(masses)).ln()).saturating_add(1).min(LAST);
    let least = if last < LAST { top - f64::from(last + 2) * (DEPTH_NATS / BINS as f64) } else { f64::NEG_INFINITY };
    let (mut sums, mut asked) = (vec![(0.0, 0_u32); BINS], Vec::new());
    for (block, start) in values.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
        if block.iter().filter(|value| **value >= least).count() == 0 {
            continue;
        }
        for (value, pixel) in block.iter().zip(start..) {
            let bin = bin(*value);
            if bin <= last {
                let (held, count) = &mut sums[usize::from(bin)];
                (*held, *count) = (*held + masses[pixel], *count + u32::from(*value > f64::NEG_INFINITY));
                asked.push((pixel as u32, bin));
            }
        }
    }
    // The bin in which a probability is reached, and what is held and counted before it.
    let crossings = shares.map(|p| {
        let (mut held, mut count) = (0.0, 0.0);
        for (bin, (mass, own)) in sums.iter().enumerate() {
            if held + mass >= p || bin == BINS - 1 {
                return (bin as u16, held, count);
            }
            (held, count) = (held + mass, count + f64::from(*own));
        }
        (LAST, held, count)
    });
    std::array::from_fn(|k| {
        let (crossed, held, count) = crossings[k];
        let own = asked.iter().filter(|(_, bin)| *bin == crossed).map(|(pixel, _)| *pixel as usize);
        let mut inside: Vec<(f64, f64, f64)> = own.map(|pixel| (values[pixel], masses[pixel], 1.0)).collect();
        inside.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
        let (threshold, count) = fill(shares[k], (held, count), inside.into_iter());
        (threshold.min(top), count)
    })
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
                assert!((found.log_density - all[last].0).abs() < 1e-6, "{steepness} {p}");
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
