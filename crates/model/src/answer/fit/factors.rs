//! The factors on evidence and background, and the floor.

use super::reading::{Observation, shares_within_levels};
use crate::answer::{Factors, Globe, LEVELS, Result, support::log_integral};
use locdiff_shdd::Coefficients;
use rayon::prelude::*;
use std::{collections::BTreeMap, f64::consts::PI};

/// Factors on the evidence that are tried, and on the background.
pub(super) const EVIDENCE: std::ops::Range<u32> = 2..25; // of 0.05
pub(super) const BACKGROUND: std::ops::Range<u32> = 0..6; // of 0.2
pub(super) const FLOORS: [f64; 7] = [0.003, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15];
/// Densities this much worse than the best (nats per photo) are out, however well they are calibrated.
pub(super) const NEAR_BEST_NATS: f64 = 0.02;

#[derive(Debug, Clone)]
pub(super) struct Chosen {
    pub(super) factors: Factors,
    /// The exponents of map factors, each the best for its attribute.
    pub(super) exponents: [f64; 3],
    pub(super) nll_nats: f64,
    pub(super) background_nll_nats: f64,
    /// Shares of true places inside the regions that should hold 10, 20 … 90 %.
    pub(super) regions: Vec<f64>,
}

/// What a pair of factors gives for a photo before there is a floor.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    log_density: f64,
    /// Probability, and share of the Earth's area, of everything denser than the truth.
    denser: (f64, f64),
}

impl Outcome {
    fn nll(self, floor: f64) -> f64 {
        -((1.0 - floor) * self.log_density.exp() + floor / (4.0 * PI)).ln()
    }

    fn level(self, floor: f64) -> f64 {
        (1.0 - floor) * self.denser.0 + floor * self.denser.1
    }
}

/// How far regions are from the shares they should hold, in the collection where they are furthest.
pub(super) fn worst_deviation(photos: &[Observation], levels: impl Iterator<Item = f64>) -> f64 {
    let mut groups: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
    for (seen, level) in photos.iter().zip(levels) {
        groups.entry(seen.group).or_default().push((level, 1.0));
    }
    let off = |values: &Vec<(f64, f64)>| {
        let shares = shares_within_levels(values);
        shares.iter().zip(LEVELS).map(|(share, level)| (share - level).abs()).sum::<f64>() / 9.0
    };
    groups.values().map(off).fold(0.0, f64::max)
}

/// Of all that is near the best by −log density, what deviates least from what it says.
pub(super) fn choose_factors(
    globe: &Globe,
    background: &Coefficients,
    photos: &[Observation],
    weights: &[f64],
) -> Result<Chosen> {
    // Sums over wider pixels are good enough to choose by, and four times as fast.
    let globe = globe.coarser()?;
    let pixels = globe.pixels();
    let background_field = globe.codec().field(background)?;
    let behind = pixels.values(&background_field);
    let pairs = EVIDENCE.flat_map(|t| BACKGROUND.map(move |s| (0.05 * f64::from(t), 0.2 * f64::from(s))));
    let pairs: Vec<(f64, f64)> = pairs.chain([(0.0, 1.0)]).collect();
    let outcomes = photos.par_iter().map(|seen| {
        let field = globe.codec().field(&seen.evidence)?;
        let (truth, values) = (seen.truth.to_unit(), pixels.values(&field));
        let at = (field.values(&[truth])[0], background_field.values(&[truth])[0]);
        Ok(pairs.iter().map(|pair| outcome((&values, &behind), at, *pair, pixels.area_sr())).collect())
    });
    let outcomes: Vec<Vec<Outcome>> = outcomes.collect::<Result<_>>()?;
    let nll = |pair: usize, floor: f64| -> f64 {
        outcomes.iter().zip(weights).map(|(photo, weight)| weight * photo[pair].nll(floor)).sum()
    };
    let tried = (0..pairs.len() - 1).flat_map(|pair| FLOORS.map(|floor| (pair, floor, nll(pair, floor))));
    let mut tried: Vec<(usize, f64, f64)> = tried.collect();
    let best = tried.iter().map(|(.., nll)| *nll).fold(f64::INFINITY, f64::min);
    tried.retain(|(.., nll)| *nll <= best + NEAR_BEST_NATS);
    let levels = |pair: usize, floor: f64| outcomes.iter().map(move |photo| photo[pair].level(floor));
    let deviation = |pair: usize, floor: f64| worst_deviation(photos, levels(pair, floor));
    let least = tried.iter().min_by(|a, b| deviation(a.0, a.1).total_cmp(&deviation(b.0, b.1)));
    let &(pair, floor, nll_nats) = least.unwrap_or(&(0, FLOORS[0], best));
    let weighed: Vec<(f64, f64)> = levels(pair, floor).zip(weights.iter().copied()).collect();
    Ok(Chosen {
        factors: Factors { evidence: pairs[pair].0, background_weight: pairs[pair].1, floor, map_exponent: 0.0 },
        exponents: [0.0; 3],
        nll_nats,
        background_nll_nats: nll(pairs.len() - 1, floor),
        regions: shares_within_levels(&weighed),
    })
}

/// What factors give for a photo: `fields` are evidence and background at the pixels, `at` the same at the truth.
fn outcome(fields: (&[f64], &[f64]), at: (f64, f64), (t, s): (f64, f64), area: f64) -> Outcome {
    let sum: Vec<f64> = fields.0.iter().zip(fields.1).map(|(a, b)| t * a + s * b).collect();
    let log_z = log_integral(&sum, area);
    let here = t * at.0 + s * at.1 - log_z;
    let (mut mass, mut count) = (0.0, 0.0);
    for value in sum.iter().filter(|value| **value - log_z > here) {
        mass += (value - log_z).exp() * area;
        count += 1.0;
    }
    Outcome { log_density: here, denser: (mass, count / sum.len() as f64) }
}
