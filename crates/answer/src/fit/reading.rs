//! The window, the radii about the place that it gives, and when to say "I can't tell".

use super::observation::{Observation, shares_within_levels};
use crate::{AnswerError, Density, Globe, LEVELS, calibration::Calibration};
use locdiff_sphere::haversine_km;
use rayon::prelude::*;
use std::sync::Arc;

/// Windows that are tried.
pub(super) const WINDOWS_KM: [f64; 6] = [300.0, 450.0, 600.0, 800.0, 1000.0, 1300.0];
/// A window is as good as the mean share of its places that are right to within these.
const RIGHT_KM: [f64; 3] = [200.0, 750.0, 2500.0];
/// Below the threshold of "I can't tell", at most this share of answers is on the right continent…
const RIGHT_WHEN_SILENT: f64 = 1.0 / 3.0;
/// …which is this far.
const CONTINENT_KM: f64 = 2500.0;
/// A threshold rests on as many answers as this.
const FEWEST_SILENT: usize = 10;

/// What a window gives for a photo.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    km: f64,
    /// Probability of everything nearer to the place than the truth.
    nearer: f64,
    locatability: f64,
}

/// What every window gives for every photo.
pub(super) fn read_windows(
    globe: &Arc<Globe>,
    calibration: &Calibration,
    photos: &[Observation],
) -> Result<Vec<Vec<Outcome>>, AnswerError> {
    let each = photos.par_iter().map(|seen| {
        let density = calibration.density(globe, seen.evidence_of(calibration), None)?;
        Ok(WINDOWS_KM.iter().map(|window_km| outcome(&density, seen, *window_km)).collect())
    });
    each.collect()
}

/// What one window gives for every photo.
pub(super) fn read_window(
    globe: &Arc<Globe>,
    calibration: &Calibration,
    photos: &[Observation],
    window_km: f64,
) -> Result<Vec<Outcome>, AnswerError> {
    let each = photos.par_iter().map(|seen| {
        let density = calibration.density(globe, seen.evidence_of(calibration), None)?;
        Ok(outcome(&density, seen, window_km))
    });
    each.collect()
}

fn outcome(density: &Density, seen: &Observation, window_km: f64) -> Outcome {
    let place = density.peaks(window_km, 1)[0].place;
    let km = haversine_km(place, seen.truth);
    Outcome { km, nearer: density.mass_within_km(place, km), locatability: density.locatability(place) }
}

/// The window whose places are right most often.
pub(super) fn choose_window(outcomes: &[Vec<Outcome>], weights: &[f64]) -> usize {
    let score = |window: usize| -> f64 {
        let right = |photo: &[Outcome]| RIGHT_KM.iter().filter(|km| photo[window].km <= **km).count() as f64;
        outcomes.iter().zip(weights).map(|(photo, weight)| weight * right(photo)).sum()
    };
    (0..WINDOWS_KM.len()).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(0)
}

/// The shares of true places within the radii that the density alone says hold 10, 20 … 90 %, and the levels that hold so many.
pub(super) fn radii(outcomes: &[(Outcome, f64)]) -> (Vec<f64>, [f64; 9]) {
    let nearer: Vec<(f64, f64)> = outcomes.iter().map(|(photo, weight)| (photo.nearer, *weight)).collect();
    (shares_within_levels(&nearer), quantiles(nearer))
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
pub(super) fn threshold(outcomes: &[(Outcome, f64)]) -> f64 {
    let mut found: Vec<(f64, bool, f64)> =
        outcomes.iter().map(|(o, weight)| (o.locatability, o.km < CONTINENT_KM, *weight)).collect();
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
