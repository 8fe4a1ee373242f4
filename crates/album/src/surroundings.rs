//! Likeness to whole surroundings: a photo that looks like those tagged about a place was rather taken about it than about another, also
//! some kilometres off. Where hours leave open in which of two surroundings it was, that decides.

use crate::tagged_look::{tagged, unit};
use crate::{known::KnownPlace, photo::AlbumPhoto, settings::AlbumSettings};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, UnitVec};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PhotoTime;
    use locdiff_shdd::Coefficients;
    use locdiff_shdd::sphere::LatLon;

    fn photo(hours: f64, place: Option<(f64, f64)>, look: [f32; 2]) -> AlbumPhoto {
        let nothing = Coefficients::new(vec![0.0; 16]).unwrap();
        let gps = place.map(|(lat, lon)| LatLon::new(lat, lon).unwrap());
        AlbumPhoto::new("x", PhotoTime::at(3600.0 * hours), nothing).with_gps(gps).with_embedding(look.to_vec(), 0.0)
    }

    /// A surrounding is as alike as its most alike photo; nothing is said against the most alike one, little where a photo is of another
    /// kind, and no more than the most.
    #[test]
    fn the_most_alike_photo_of_a_surrounding_counts() {
        let photos = [
            photo(0.0, Some((48.86, 2.35)), [1.0, 0.0]),
            photo(1.0, Some((48.80, 2.13)), [0.0, 1.0]),
            photo(9.0, Some((45.76, 4.84)), [0.8, 0.6]),
        ];
        let (list, times) = (photos.iter().collect::<Vec<_>>(), [0.0, 3600.0, 9.0 * 3600.0]);
        let surroundings = Surroundings::of(&list, &times, &[]);
        let settings = AlbumSettings::default();
        let odds = |photo: &AlbumPhoto| -> Vec<f64> {
            surroundings.log_odds(photo, 7200.0, &settings).into_iter().map(|(_, odds)| odds).collect()
        };
        let (slope, of_strange) = settings.surroundings;
        let own = photo(2.0, None, [0.0, 2.0]);
        let said = odds(&own);
        assert!(said[0].abs() < 1e-9 && said[1].abs() < 1e-9 && (said[2] + (0.4 * slope)).abs() < 1e-6, "{said:?}");
        let strange = odds(&own.clone().with_embedding(vec![0.0, 1.0], 1.0));
        assert!((strange[2] + 0.4 * of_strange).abs() < 1e-6, "{strange:?}");
        assert_eq!(odds(&photo(2.0, None, [-0.6, 0.8]))[2], -settings.most_surroundings);
        // Without an embedding, or with one of another length, nothing is said.
        assert!(odds(&own.clone().with_embedding(Vec::new(), 0.0)).is_empty());
        assert!(odds(&own.with_embedding(vec![1.0; 3], 0.0)).is_empty());
    }
}
