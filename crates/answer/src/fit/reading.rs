//! The window, the radii about the place that it gives, and when to say "I can't tell".

use super::{Observation, shares_within_levels};
use crate::calibration::Calibration;
use crate::{AnswerError, Globe, LEVELS};
use locdiff_sphere::haversine_km;
use rayon::prelude::*;
use std::sync::Arc;

/// Windows that are tried.
const WINDOWS_KM: [f64; 8] = [150.0, 250.0, 400.0, 600.0, 800.0, 1000.0, 1400.0, 2000.0];
/// A window is as good as the mean share of its places that are right to within these.
const RIGHT_KM: [f64; 3] = [200.0, 750.0, 2500.0];
/// Below the threshold of "I can't tell", at most this share of answers is on the right continent…
const RIGHT_WHEN_SILENT: f64 = 1.0 / 3.0;
/// …which is this far.
const CONTINENT_KM: f64 = 2500.0;
/// A threshold rests on as many answers as this.
const FEWEST_SILENT: usize = 10;

/// What was chosen, and what it gives.
pub(super) struct ReadingFit {
    pub(super) window_km: f64,
    pub(super) radius_levels: [f64; 9],
    pub(super) can_tell_from: f64,
    /// Shares of true places within the radii that the density alone says hold 10, 20 … 90 %.
    pub(super) radii: Vec<f64>,
}

/// What a window gives for a photo.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    km: f64,
    /// Probability of everything nearer to the place than the truth.
    nearer: f64,
    locatability: f64,
}

pub(super) fn choose_reading(
    globe: &Arc<Globe>,
    calibration: &Calibration,
    observations: &[Observation],
    weights: &[f64],
) -> Result<ReadingFit, AnswerError> {
    let outcomes: Vec<Vec<Outcome>> = observations
        .par_iter()
        .map(|seen| {
            let density = calibration.density(globe, &seen.evidence, None)?;
            let outcome = |window_km: f64| {
                let place = density.peaks(window_km, 1)[0].place;
                let km = haversine_km(place, seen.truth);
                let nearer = density.mass_within_km(place, km);
                Outcome { km, nearer, locatability: density.locatability(place) }
            };
            Ok(WINDOWS_KM.iter().map(|window_km| outcome(*window_km)).collect())
        })
        .collect::<Result<_, AnswerError>>()?;
    let score = |window: usize| -> f64 {
        let right = |photo: &[Outcome]| RIGHT_KM.iter().filter(|km| photo[window].km <= **km).count() as f64;
        outcomes.iter().zip(weights).map(|(photo, weight)| weight * right(photo)).sum()
    };
    let best = (0..WINDOWS_KM.len()).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(0);
    let chosen: Vec<Outcome> = outcomes.iter().map(|photo| photo[best]).collect();
    let nearer: Vec<(f64, f64)> = chosen.iter().zip(weights).map(|(photo, w)| (photo.nearer, *w)).collect();
    Ok(ReadingFit {
        window_km: WINDOWS_KM[best],
        radii: shares_within_levels(&nearer),
        radius_levels: quantiles(nearer),
        can_tell_from: threshold(&chosen, weights),
    })
}

/// The values that 10, 20 … 90 % of all weight do not exceed.
fn quantiles(mut values: Vec<(f64, f64)>) -> [f64; 9] {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    LEVELS.map(|level| {
        // Each value stands in the middle of its weight; between two of them it is linear.
        let (mut sum, mut last) = (0.0, (0.0, 0.0));
        for (value, weight) in &values {
            let middle = (sum + 0.5 * weight) / total;
            if middle >= level {
                let part = if middle > last.0 { (level - last.0) / (middle - last.0) } else { 1.0 };
                return (last.1 + part * (value - last.1)).clamp(0.0, 1.0);
            }
            (sum, last) = (sum + weight, (middle, *value));
        }
        last.1.clamp(0.0, 1.0)
    })
}

/// The locatability below which at most a third of the answers lies on the right continent.
fn threshold(outcomes: &[Outcome], weights: &[f64]) -> f64 {
    let mut found: Vec<(f64, bool, f64)> = outcomes
        .iter()
        .zip(weights)
        .map(|(o, weight)| (o.locatability, o.km < CONTINENT_KM, *weight))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut right, mut all, mut last) = (0.0, 0.0, 0.0);
    for (k, (score, is_right, weight)) in found.iter().enumerate() {
        all += weight;
        right += if *is_right { *weight } else { 0.0 };
        if k + 1 >= FEWEST_SILENT && right <= RIGHT_WHEN_SILENT * all {
            last = *score;
        }
    }
    last
}
