//! Likeness to whole surroundings: a photo that looks like those tagged about a place was rather taken about it than about another, also
//! some kilometres off. Where hours leave open in which of two surroundings it was, that decides.

use crate::likeness::{tagged, unit};
use crate::{known::KnownPlace, photo::AlbumPhoto, settings::AlbumSettings};
use locdiff_sphere::{EARTH_RADIUS_KM, UnitVec};

/// Tagged photos so near to a place are of its surroundings, km.
pub(crate) const SURROUNDINGS_KM: f64 = 25.0;
/// Tagged photos on each side of a moment that a photo is compared with.
const EACH_SIDE: usize = 24;

/// The photos of an album that have tags, and those beside it, in order of time.
pub(crate) struct Surroundings {
    times: Vec<f64>,
    places: Vec<UnitVec>,
    /// Embeddings of length 1; empty where there is none.
    looks: Vec<Vec<f64>>,
}

impl Surroundings {
    pub(crate) fn of(photos: &[&AlbumPhoto], times: &[f64], known: &[KnownPlace]) -> Self {
        let all = tagged(photos, times, known);
        Self {
            times: all.iter().map(|one| one.time_s).collect(),
            places: all.iter().map(|one| one.place).collect(),
            looks: all.iter().map(|one| unit(one.embedding)).collect(),
        }
    }

    /// Places with tags near in time, and the log of the odds of being in their surroundings, not in the most alike ones, by the photo that is
    /// most alike there.
    pub(crate) fn log_odds(&self, photo: &AlbumPhoto, time_s: f64, settings: &AlbumSettings) -> Vec<(UnitVec, f64)> {
        let next = self.times.partition_point(|time| *time < time_s);
        let near = next.saturating_sub(EACH_SIDE)..(next + EACH_SIDE).min(self.times.len());
        let own = unit(&photo.embedding);
        let cosine = |k: usize| {
            let is_known = !own.is_empty() && own.len() == self.looks[k].len();
            is_known.then(|| own.iter().zip(&self.looks[k]).map(|(a, b)| a * b).sum::<f64>())
        };
        let seen: Vec<(UnitVec, f64)> = near.filter_map(|k| Some((self.places[k], cosine(k)?))).collect();
        let (slope, slope_of_strange) = settings.surroundings;
        let slope = slope + photo.ood * (slope_of_strange - slope);
        let most_alike = seen.iter().map(|one| one.1).fold(f64::NEG_INFINITY, f64::max);
        let best_about = |place: UnitVec| {
            let about = seen.iter().filter(|other| place.angle_rad(other.0) * EARTH_RADIUS_KM < SURROUNDINGS_KM);
            about.map(|other| other.1).fold(f64::NEG_INFINITY, f64::max)
        };
        let odds = |place: UnitVec| (slope * (best_about(place) - most_alike)).max(-settings.most_surroundings);
        seen.iter().map(|(place, _)| (*place, odds(*place))).collect()
    }
}
