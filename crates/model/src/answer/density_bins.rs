//! Pixels of one size in bins of their density: the smallest region that holds a probability without a full sort.

use locdiff_shdd::sphere::EARTH_RADIUS_KM;

/// Bins of a number's exponent and the first bits of its fraction, 128 for each factor of two.
const SHIFT: u32 = 45;
const BINS: usize = 2304;
/// Masses that are passed over together.
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

/// What bins of densities hold, the densest first: groups of pixels, of which each has one mass.
#[derive(Debug, Clone)]
pub(crate) struct DensityBins {
    /// The bits of the largest mass of a pixel.
    top: u64,
    /// The probability and the number of pixels of each bin.
    sums: Vec<(f64, f64)>,
}

impl DensityBins {
    /// Of groups with these masses of a pixel and numbers of pixels. Pixels lighter than `least` are left out.
    pub(crate) fn new(masses: &[f64], counts: impl Iterator<Item = f64>, least: f64) -> Self {
        let mut bins = Self { top: largest(masses).max(0.0).to_bits(), sums: Vec::new() };
        // Neighbours are mostly of one bin: two sums for each, which do not wait for one another.
        let mut sums = vec![[[0.0; 2]; 2]; BINS];
        for (group, (mass, count)) in masses.iter().zip(counts).enumerate().filter(|(_, (mass, _))| **mass >= least) {
            let own = &mut sums[bins.bin(*mass)][group % 2];
            let count = if *mass > 0.0 { count } else { 0.0 };
            *own = [own[0] + count * mass, own[1] + count];
        }
        bins.sums = sums.into_iter().map(|[a, b]| (a[0] + b[0], a[1] + b[1])).collect();
        bins
    }

    fn bin(&self, mass: f64) -> usize {
        ((self.top.saturating_sub(mass.to_bits()) >> SHIFT) as usize).min(BINS - 1)
    }

    /// The number of pixels in the bins before the one in which a probability is reached.
    pub(crate) fn pixels_before(&self, p: f64) -> f64 {
        self.crossing(p).1.1
    }

    /// The bin in which a probability is reached, and what those before it hold and count.
    fn crossing(&self, p: f64) -> (usize, (f64, f64)) {
        let (mut crossed, mut before) = (0, (0.0, 0.0));
        while crossed < BINS - 1 && before.0 + self.sums[crossed].0 < p {
            before = (before.0 + self.sums[crossed].0, before.1 + self.sums[crossed].1);
            crossed += 1;
        }
        (crossed, before)
    }

    /// The smallest regions that hold each probability; only one bin is sorted.
    pub(crate) fn regions<const N: usize>(
        &self,
        (masses, counts): (&[f64], impl Iterator<Item = f64> + Clone),
        area_sr: f64,
        shares: [f64; N],
    ) -> [DensityRegion; N] {
        let found = shares.map(|p| {
            let (crossed, before) = self.crossing(p);
            let bound = |bin: usize| f64::from_bits(self.top.saturating_sub((bin as u64) << SHIFT));
            let most = bound(crossed);
            let least = if crossed == BINS - 1 { -1.0 } else { bound(crossed + 1) };
            let (mut own, mut counts) = (Vec::<(f64, f64)>::new(), counts.clone());
            for masses in masses.chunks(BLOCK) {
                let is_own = |mass: &f64| *mass > least && *mass <= most;
                if masses.iter().fold(false, |any, mass| any | is_own(mass)) {
                    let pairs = masses.iter().copied().zip(counts.by_ref().take(masses.len()));
                    own.extend(pairs.filter(|(mass, _)| is_own(mass)));
                } else {
                    counts.nth(masses.len() - 1);
                }
            }
            own.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
            let (threshold, count) = fill(p, before, own.into_iter().map(|(mass, count)| (mass, count * mass, count)));
            ((threshold.min(f64::from_bits(self.top)) / area_sr).ln(), count)
        });
        regions(shares, found, area_sr)
    }
}

/// The largest of numbers, several at a time; −∞ of none.
pub(crate) fn largest(values: &[f64]) -> f64 {
    let (some, rest) = values.as_chunks::<8>();
    let mut lanes = [f64::NEG_INFINITY; 8];
    for values in some {
        lanes.iter_mut().zip(values).for_each(|(top, value)| *top = if value > top { *value } else { *top });
    }
    lanes.iter().chain(rest).copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Regions of these log densities and numbers of pixels.
pub(crate) fn regions<const N: usize>(shares: [f64; N], found: [(f64, f64); N], area_sr: f64) -> [DensityRegion; N] {
    let area_km2 = area_sr * EARTH_RADIUS_KM * EARTH_RADIUS_KM;
    let mut shares = shares.into_iter();
    found.map(|(log_density, count)| {
        let probability = shares.next().unwrap_or_default();
        DensityRegion { probability, log_density, area_km2: count * area_km2 }
    })
}

/// The density and the area at which pixels (density, mass, area), densest first, hold `p`, after some held and counted before.
pub(crate) fn fill(
    p: f64,
    (mut held, mut count): (f64, f64),
    pixels: impl Iterator<Item = (f64, f64, f64)>,
) -> (f64, f64) {
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
