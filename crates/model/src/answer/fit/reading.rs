//! The window, the radii about the place that it gives, and when to say "I can't tell".

use crate::answer::{
    Calibration, Density, Globe, LEVELS, ModelOutput, NarrowWindow, Neighbour, Peak, PlaceField, Result, SureLevels,
    Sureness,
};
use locdiff_shdd::{Coefficients, sphere::LatLon, sphere::haversine_km};
use rayon::prelude::*;
use std::sync::Arc;

/// Windows that are tried.
const WINDOWS_KM: [f64; 6] = [300.0, 450.0, 600.0, 800.0, 1000.0, 1300.0];
/// Windows that are tried for a model that gives places scores, which may know a town.
const NARROW_WINDOWS_KM: [f64; 6] = [50.0, 100.0, 200.0, 300.0, 450.0, 800.0];
/// Probabilities that a narrower window must hold to be used, which are tried.
const NARROW_SHARES: [f64; 4] = [0.15, 0.2, 0.25, 0.3];
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
struct Outcome {
    km: f64,
    /// Probability within the window.
    held: f64,
    /// Probability of everything nearer to the place than the truth.
    nearer: f64,
    locatability: f64,
    sure: Sureness,
}

fn windows_km(calibration: &Calibration) -> [f64; 6] {
    if calibration.places.is_some() { NARROW_WINDOWS_KM } else { WINDOWS_KM }
}

fn read_windows(
    globe: &Arc<Globe>,
    calibration: &Calibration,
    photos: &[Observation],
    windows_km: &[f64],
) -> Result<Vec<Vec<Outcome>>> {
    let read = |seen: &Observation| {
        let density = calibration.density(globe, seen.model_output(calibration), None)?;
        Ok(windows_km.iter().map(|window_km| outcome(&density, seen, *window_km)).collect())
    };
    photos.par_iter().map(read).collect()
}

fn outcome(density: &Density, seen: &Observation, window_km: f64) -> Outcome {
    let Peak { place, probability: held } = density.peaks(window_km, 1)[0];
    let (km, sure) = (haversine_km(place, seen.truth), density.sureness(place));
    Outcome { km, held, nearer: density.mass_within_km(place, km), locatability: density.locatability(place), sure }
}

/// Which of the windows that were tried is used, and a narrower one that is used instead if it holds a share.
#[derive(Debug, Clone, Copy)]
struct Windows {
    usual: usize,
    narrow: Option<(usize, f64)>,
}

impl Windows {
    fn read(self, photo: &[Outcome]) -> Outcome {
        let narrow = self.narrow.filter(|(narrow, share)| photo[*narrow].held >= *share);
        photo[narrow.map_or(self.usual, |(narrow, _)| narrow)]
    }

    /// The best of the `tried` ones, of equally good ones the last.
    fn choose(tried: Vec<Self>, calibration: &Calibration, outcomes: &[Vec<Outcome>], weights: &[f64]) -> Self {
        let narrow = calibration.places.as_ref().map(|_| NARROW_RIGHT_KM);
        let score = |windows: &Self| {
            let within = RIGHT_KM.into_iter().chain(narrow);
            let right = |photo: &[Outcome]| within.clone().filter(|km| windows.read(photo).km <= *km).count() as f64;
            let score: f64 = outcomes.iter().zip(weights).map(|(photo, weight)| weight * right(photo)).sum();
            (1e9 * score).round() as u64 // weights do not add up to the last bit
        };
        tried.into_iter().max_by_key(score).expect("there are windows")
    }
}

/// All windows, and with map factors all pairs of them: plain densities are too smooth for narrow windows.
fn all_windows(calibration: &Calibration) -> Vec<Windows> {
    let count = windows_km(calibration).len();
    let mut tried: Vec<Windows> = (0..count).map(|usual| Windows { usual, narrow: None }).collect();
    if calibration.surroundings.is_some() && calibration.gallery.is_none() {
        for narrow in 0..count {
            for usual in narrow + 1..count {
                tried.extend(NARROW_SHARES.map(|share| Windows { usual, narrow: Some((narrow, share)) }));
            }
        }
    }
    tried
}

/// The shares of true places within the radii that the density alone says hold 10, 20 … 90 %, and the levels that hold so many.
fn radii(outcomes: &[(Outcome, f64)]) -> (Vec<f64>, [f64; 9]) {
    let nearer: Vec<(f64, f64)> = outcomes.iter().map(|(photo, weight)| (photo.nearer, *weight)).collect();
    (shares_within_levels(&nearer), quantiles(nearer, 0.0))
}

fn radii_by_sureness(outcomes: &[(Outcome, f64)]) -> SureLevels {
    let parts = ((outcomes.len() as f64 / PHOTOS_OF_PART).sqrt().round() as usize).clamp(1, MOST_PARTS);
    let levels = |part: &[(Outcome, f64)]| {
        let nearer: Vec<(f64, f64)> = part.iter().map(|(photo, weight)| (photo.nearer, *weight)).collect();
        let mean = nearer.iter().map(|(_, weight)| weight).sum::<f64>() / nearer.len() as f64;
        quantiles(nearer, mean)
    };
    SureLevels::of(outcomes, parts, |(outcome, _)| outcome.sure, levels)
}

/// The values that 10, 20 … 90 % of all weight do not exceed, or with the weight of a `next` one, that it will not
/// exceed with these probabilities: of few values that is a little more.
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
fn threshold(outcomes: &[(Outcome, f64)]) -> f64 {
    let mut found: Vec<&(Outcome, f64)> = outcomes.iter().collect();
    found.sort_by(|a, b| a.0.locatability.total_cmp(&b.0.locatability));
    let (mut right, mut all, mut last) = (0.0, 0.0, 0.0);
    for (k, (outcome, weight)) in found.into_iter().enumerate() {
        all += weight;
        right += if outcome.km < CONTINENT_KM { *weight } else { 0.0 };
        if k + 1 >= FEWEST_SILENT && right <= RIGHT_WHEN_SILENT * all {
            last = outcome.locatability;
        }
    }
    last
}

pub(super) struct Levels {
    pub(super) window_km: f64,
    pub(super) narrow: Option<NarrowWindow>,
    pub(super) can_tell_from: f64,
    /// The levels of radii, for photos of the model's kind and for out of domain, where there are any.
    pub(super) own: [f64; 9],
    /// The window of the latter goes with them.
    pub(super) out_of_domain: Option<([f64; 9], f64)>,
    /// Shares of true places within the radii that the densities alone say hold 10, 20 … 90 %.
    pub(super) radii: Vec<f64>,
    /// The levels by how sure answers are, of photos of the model's kind.
    pub(super) by_radius: SureLevels,
}

/// The window whose places are right most often, the radii about them that hold what they say, and when to say "I can't tell".
pub(super) fn read_levels(
    globe: &Arc<Globe>,
    calibration: &Calibration,
    (observations, chosen_by): (&[Observation], Option<usize>),
    out_of_domain: &[Observation],
) -> Result<Levels> {
    let weights = group_weights(observations);
    let chooses = |seen: &Observation| f64::from(u8::from(chosen_by.is_none_or(|group| seen.group == group)));
    let choosing: Vec<f64> = weights.iter().zip(observations).map(|(weight, seen)| weight * chooses(seen)).collect();
    let windows = read_windows(globe, calibration, observations, &windows_km(calibration))?;
    let chosen = Windows::choose(all_windows(calibration), calibration, &windows, &choosing);
    let window_km = windows_km(calibration)[chosen.usual];
    let narrow = chosen.narrow.map(|(narrow, share)| NarrowWindow { km: windows_km(calibration)[narrow], share });
    let mut read: Vec<(Outcome, f64)> = windows.iter().map(|photo| chosen.read(photo)).zip(weights).collect();
    let ((radii_held, own), by_radius) = (radii(&read), radii_by_sureness(&read));
    let mut levels =
        Levels { window_km, narrow, can_tell_from: 0.0, own, out_of_domain: None, radii: radii_held, by_radius };
    if !out_of_domain.is_empty() {
        let weight = 1.0 / out_of_domain.len() as f64;
        // A window of their own only with map factors: plain densities out of domain are too smooth to tell windows apart. It is no
        // narrower: less is known of these photos.
        let widest = if calibration.surroundings.is_some() { windows_km(calibration).len() } else { chosen.usual + 1 };
        let tried: Vec<_> = (chosen.usual..widest).map(|usual| Windows { usual, ..chosen }).collect();
        let theirs = read_windows(globe, calibration, out_of_domain, &windows_km(calibration)[..widest])?;
        let best = Windows::choose(tried, calibration, &theirs, &vec![weight; out_of_domain.len()]);
        let theirs: Vec<(Outcome, f64)> = theirs.iter().map(|photo| (best.read(photo), weight)).collect();
        levels.out_of_domain = Some((radii(&theirs).1, windows_km(calibration)[best.usual]));
        // Half of all photos are out of domain, as the probe takes it.
        read.extend(theirs);
    }
    levels.can_tell_from = threshold(&read);
    Ok(levels)
}

/// A model's output for a photo whose place is known.
#[derive(Debug, Clone)]
pub struct Observation {
    /// The natural parameters that the network gave at pure noise.
    pub evidence: Coefficients,
    /// The true place.
    pub truth: LatLon,
    /// The photo's embedding.
    pub embedding: Vec<f32>,
    /// The photo's collection. Every collection counts the same: what is fitted must hold for collections never seen.
    pub group: usize,
    /// What a gallery finds for the photo, the most similar first; empty without one.
    pub neighbours: Vec<Neighbour>,
    /// What a model that gives places scores says.
    pub places: Option<Arc<PlaceField>>,
}

impl Observation {
    pub(super) fn model_output(&self, calibration: &Calibration) -> ModelOutput<'_> {
        let output = calibration.model_output(&self.evidence, [self.embedding.as_slice()]);
        output.with_neighbours(&self.neighbours).with_places(self.places.as_ref())
    }
}

/// The shares of all weight whose values do not exceed each of the levels.
pub(super) fn shares_within_levels(values: &[(f64, f64)]) -> Vec<f64> {
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    let share = |level: f64| values.iter().filter(|(v, _)| *v <= level).map(|(_, w)| w).sum::<f64>() / total;
    LEVELS.iter().map(|level| share(*level)).collect()
}

/// A weight for each photo such that every collection has the same sum, and all together 1.
pub(super) fn group_weights(observations: &[Observation]) -> Vec<f64> {
    weights_of(&observations.iter().map(|seen| seen.group).collect::<Vec<_>>())
}

/// Weights of photos in these collections such that every collection has the same sum, and all together 1.
pub(super) fn weights_of(groups: &[usize]) -> Vec<f64> {
    let mut sizes = std::collections::BTreeMap::new();
    for group in groups {
        *sizes.entry(group).or_insert(0.0) += 1.0;
    }
    groups.iter().map(|group| 1.0 / (sizes[group] * sizes.len() as f64)).collect()
}
