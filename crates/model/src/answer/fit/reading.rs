//! The window, the radii about the place that it gives, and when to say "I can't tell".

use super::observation::{Observation, shares_within_levels};
use crate::answer::{Density, Globe, LEVELS, Result, SureLevels, Sureness, calibration::Calibration};
use locdiff_shdd::sphere::haversine_km;
use rayon::prelude::*;
use std::sync::Arc;

/// Windows that are tried.
const WINDOWS_KM: [f64; 6] = [300.0, 450.0, 600.0, 800.0, 1000.0, 1300.0];
/// Windows that are tried for a model that gives places scores, which may know a town.
const NARROW_WINDOWS_KM: [f64; 6] = [50.0, 100.0, 200.0, 300.0, 450.0, 800.0];
/// A window is as good as the mean share of its places that are right to within these, of a model that gives places scores the narrow one, too.
const RIGHT_KM: [f64; 3] = [200.0, 750.0, 2500.0];
const NARROW_RIGHT_KM: f64 = 25.0;
/// Below the threshold of "I can't tell", at most this share of answers is on the right continent…
const RIGHT_WHEN_SILENT: f64 = 1.0 / 3.0;
/// …which is this far.
const CONTINENT_KM: f64 = 2500.0;
/// Photos are parted in so many by their own radius, and each of these by their score, such that a part has about so many.
const MOST_PARTS: usize = 6;
const PHOTOS_OF_PART: f64 = 40.0;
/// A threshold rests on as many answers as this.
const FEWEST_SILENT: usize = 10;

/// What a window gives for a photo.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    km: f64,
    /// Probability of everything nearer to the place than the truth.
    nearer: f64,
    locatability: f64,
    sure: Sureness,
}

/// The windows that are tried.
pub(super) fn windows_km(calibration: &Calibration) -> [f64; 6] {
    if calibration.places.is_some() { NARROW_WINDOWS_KM } else { WINDOWS_KM }
}

/// What each of the windows gives for every photo.
pub(super) fn read_windows(
    globe: &Arc<Globe>,
    calibration: &Calibration,
    photos: &[Observation],
    windows_km: &[f64],
) -> Result<Vec<Vec<Outcome>>> {
    let each = photos.par_iter().map(|seen| {
        let density = calibration.density(globe, seen.model_output(calibration), None)?;
        Ok(windows_km.iter().map(|window_km| outcome(&density, seen, *window_km)).collect())
    });
    each.collect()
}

fn outcome(density: &Density, seen: &Observation, window_km: f64) -> Outcome {
    let place = density.peaks(window_km, 1)[0].place;
    let km = haversine_km(place, seen.truth);
    let sure = density.sureness(place);
    Outcome { km, nearer: density.mass_within_km(place, km), locatability: density.locatability(place), sure }
}

/// The window whose places are right most often.
pub(super) fn choose_window(calibration: &Calibration, outcomes: &[Vec<Outcome>], weights: &[f64]) -> usize {
    let narrow = calibration.places.as_ref().map(|_| NARROW_RIGHT_KM);
    let score = |window: usize| -> f64 {
        let within = RIGHT_KM.into_iter().chain(narrow);
        let right = |photo: &[Outcome]| within.clone().filter(|km| photo[window].km <= *km).count() as f64;
        outcomes.iter().zip(weights).map(|(photo, weight)| weight * right(photo)).sum()
    };
    (0..windows_km(calibration).len()).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(0)
}

/// The shares of true places within the radii that the density alone says hold 10, 20 … 90 %, and the levels that hold so many.
pub(super) fn radii(outcomes: &[(Outcome, f64)]) -> (Vec<f64>, [f64; 9]) {
    let nearer: Vec<(f64, f64)> = outcomes.iter().map(|(photo, weight)| (photo.nearer, *weight)).collect();
    (shares_within_levels(&nearer), quantiles(nearer, 0.0))
}

/// The levels by how sure answers are.
pub(super) fn radii_by_sureness(outcomes: &[(Outcome, f64)]) -> SureLevels {
    let parts = ((outcomes.len() as f64 / PHOTOS_OF_PART).sqrt().round() as usize).clamp(1, MOST_PARTS);
    let levels = |part: &[(Outcome, f64)]| {
        let nearer: Vec<(f64, f64)> = part.iter().map(|(photo, weight)| (photo.nearer, *weight)).collect();
        let mean = nearer.iter().map(|(_, weight)| weight).sum::<f64>() / nearer.len() as f64;
        quantiles(nearer, mean)
    };
    SureLevels::of(outcomes, parts, |(outcome, _)| outcome.sure, levels)
}

/// The values that 10, 20 … 90 % of all weight do not exceed, or with the weight of a `next` one, that it will not exceed with these
/// probabilities: of few values that is a little more.
fn quantiles(mut values: Vec<(f64, f64)>, next: f64) -> [f64; 9] {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = values.iter().map(|(_, weight)| weight).sum::<f64>() + next;
    LEVELS.map(|level| {
        // Each value stands in the middle of its weight; between two of them it is linear.
        let (mut sum, mut last) = (0.0, (0.0, 0.0));
        for (value, weight) in &values {
            let middle = (sum + 0.5 * (weight + next)) / total;
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
