//! Likeness inside the album: a photo that looks like a tagged one is probably near it, also days apart. Where hours leave open in which
//! neighbourhood a photo was taken, its likeness to the photos tagged there decides.

use crate::{blob::Blob, photo::AlbumPhoto, prior::KnownPlace, settings::AlbumSettings};
use crate::{likelihood::NEIGHBOURS, likelihood::one_moment, message::NEIGHBOURHOOD_KM, message::Return};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use rayon::prelude::*;

/// Tagged places that a photo is compared with at the most.
const MOST_PLACES: usize = 512;
/// Places of a photo that are kept: the most alike, and those next in time.
const KEPT: usize = 6;
/// Nobody travels faster, but for what is left of a distance: km/h and km.
const FASTEST_KM_H: f64 = 900.0;
const ANYWAY_KM: f64 = 100.0;

/// A place with tagged photos.
struct Tagged {
    place: UnitVec,
    /// The mean of their embeddings, each of length 1: its product with another is the mean cosine.
    mean: Vec<f64>,
    count: f64,
    /// Times of its photos.
    times: Vec<f64>,
}

impl Tagged {
    /// How far in time a moment is from the nearest of its photos.
    fn gap_s(&self, time: f64) -> f64 {
        let next = self.times.partition_point(|own| *own < time);
        let gap = |k: usize| self.times.get(k).map_or(f64::INFINITY, |own| (own - time).abs());
        gap(next).min(if next > 0 { gap(next - 1) } else { f64::INFINITY })
    }

    /// Whether one could be here as well, so much time away.
    fn is_within_reach(&self, place: UnitVec, gap_s: f64) -> bool {
        self.place.angle_rad(place) * EARTH_RADIUS_KM <= ANYWAY_KM + FASTEST_KM_H * gap_s / 3600.0
    }
}

/// For each photo (in order of time) the tagged places that it may have been taken at. Tagged photos have none: their tags count.
pub(crate) fn returns(
    photos: &[&AlbumPhoto],
    times: &[f64],
    known: &[KnownPlace],
    settings: &AlbumSettings,
) -> Vec<Vec<Return>> {
    let places = gather(&tagged(photos, times, known), settings.alike_km);
    let of_photo = |(photo, time): (&&AlbumPhoto, &f64)| {
        if photo.is_placed() || places.is_empty() {
            return Vec::new();
        }
        let own = unit(&photo.embedding);
        let found = places.iter().map(|tagged| (log_odds(&own, tagged, settings), tagged.gap_s(*time), tagged));
        let mut found: Vec<(f64, f64, &Tagged)> = found.collect();
        // The next ones in time, whatever their similarity, then the most alike of those that they leave time for.
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        let rest = found.split_off(2.min(found.len()));
        let next: Vec<(f64, &Tagged)> = found.iter().map(|(_, gap, tagged)| (*gap, *tagged)).collect();
        let reachable = |tagged: &Tagged| next.iter().all(|(gap, other)| other.is_within_reach(tagged.place, *gap));
        let mut alike: Vec<_> = rest.into_iter().filter(|(odds, _, tagged)| *odds > 0.0 && reachable(tagged)).collect();
        alike.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.extend(alike.into_iter().take(KEPT));
        let place = |tagged: &Tagged| Blob::at_km(tagged.place, settings.alike_km, 1.0);
        let reached = found.into_iter().filter(|(_, _, tagged)| reachable(tagged));
        reached.map(|(log_odds, _, tagged)| Return { place: place(tagged), log_odds }).collect()
    };
    photos.par_iter().zip(times).map(of_photo).collect()
}

/// The mean cosine of each photo with those around it in time; `None` for one without an embedding or without others.
pub(crate) fn neighbour_similarity(similarities: &Similarities, times: &[f64], moment_s: f64) -> Vec<Option<f64>> {
    let one = |k: usize| {
        let (mut sum, mut total) = (0.0, 0.0);
        for other in k.saturating_sub(NEIGHBOURS)..(k + NEIGHBOURS + 1).min(times.len()) {
            if let Some(cosine) = similarities.cosine(k, other).filter(|_| other != k) {
                // Those of other days count a little, so that a photo alone in time has neighbours, too.
                let weight = one_moment((times[k] - times[other]).abs(), moment_s) + 1e-3;
                sum += weight * cosine;
                total += weight;
            }
        }
        (total > 0.0).then(|| sum / total)
    };
    (0..times.len()).into_par_iter().map(one).collect()
}

/// Similarities of photos.
pub(crate) struct Similarities<'a> {
    photos: &'a [&'a AlbumPhoto],
    lengths: Vec<f64>,
}

impl<'a> Similarities<'a> {
    pub(crate) fn of(photos: &'a [&'a AlbumPhoto]) -> Self {
        let length = |photo: &&AlbumPhoto| photo.embedding.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        Self { photos, lengths: photos.iter().map(length).collect() }
    }

    /// The cosine of two, where both have embeddings.
    pub(crate) fn cosine(&self, k: usize, other: usize) -> Option<f64> {
        let (a, b) = (&self.photos[k].embedding, &self.photos[other].embedding);
        let product: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        let is_known = !a.is_empty() && a.len() == b.len();
        is_known.then(|| product / (self.lengths[k] * self.lengths[other]).max(1e-12))
    }

    /// How much two photos so many seconds apart are views of one thing, from 0 to 1. Without embeddings, the time alone decides.
    pub(crate) fn one_view(&self, (k, other): (usize, usize), gap_s: f64, settings: &AlbumSettings) -> f64 {
        let Some(cosine) = self.cosine(k, other) else { return one_moment(gap_s, settings.moment_s) };
        let (half, slope) = settings.same_view;
        one_moment(gap_s, settings.same_view_s) / (1.0 + (-slope * (cosine - half)).exp())
    }
}

/// The most similar tagged photo, and the cosine.
pub(crate) fn most_alike<'a>(
    photo: &AlbumPhoto,
    among: impl Iterator<Item = &'a AlbumPhoto>,
) -> Option<(&'a AlbumPhoto, f64)> {
    let own = unit(&photo.embedding);
    let cosine = |other: &AlbumPhoto| unit(&other.embedding).iter().zip(&own).map(|(a, b)| a * b).sum::<f64>();
    among.map(|other| (other, cosine(other))).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The log of the odds of being at a place, as four views of a place, and photos of other places of the same region, have them.
pub(crate) fn odds_of(cosine: f64, settings: &AlbumSettings) -> f64 {
    let (even, slope) = settings.likeness;
    (slope * (cosine - even)).clamp(-settings.most_likeness, settings.most_likeness)
}

fn log_odds(own: &[f64], tagged: &Tagged, settings: &AlbumSettings) -> f64 {
    if own.is_empty() || tagged.mean.len() != own.len() {
        return 0.0;
    }
    odds_of(tagged.mean.iter().zip(own).map(|(a, b)| a * b).sum(), settings)
}

/// The tagged photos by place.
fn gather(photos: &[TaggedPhoto<'_>], reach_km: f64) -> Vec<Tagged> {
    let mut places: Vec<Tagged> = Vec::new();
    for photo in photos {
        let (at, own) = (photo.place, unit(photo.embedding));
        // A traveller's tags come place after place: the last ones are tried first.
        let near = |tagged: &&mut Tagged| tagged.place.angle_rad(at) * EARTH_RADIUS_KM < reach_km;
        if let Some(tagged) = places.iter_mut().rev().take(MOST_PLACES).find(near) {
            tagged.count += 1.0;
            let count = tagged.count;
            tagged.mean.iter_mut().zip(&own).for_each(|(mean, value)| *mean += (value - *mean) / count);
            tagged.times.push(photo.time_s);
        } else {
            places.push(Tagged { place: at, mean: own, count: 1.0, times: vec![photo.time_s] });
        }
    }
    if places.len() > MOST_PLACES {
        places.sort_by(|a, b| b.count.total_cmp(&a.count));
        places.truncate(MOST_PLACES);
    }
    places
}

/// An embedding of length 1.
pub(crate) fn unit(embedding: &[f32]) -> Vec<f64> {
    let length = embedding.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    embedding.iter().map(|value| f64::from(*value) / length.max(1e-12)).collect()
}

/// A photo with a tag, of the album or beside it.
struct TaggedPhoto<'a> {
    time_s: f64,
    place: UnitVec,
    embedding: &'a [f32],
}

/// All of them, in order of time.
fn tagged<'a>(photos: &[&'a AlbumPhoto], times: &[f64], known: &'a [KnownPlace]) -> Vec<TaggedPhoto<'a>> {
    let one = |time_s: f64, at: LatLon, embedding: &'a [f32]| TaggedPhoto { time_s, place: at.to_unit(), embedding };
    let own = photos.iter().zip(times).filter_map(|(photo, time_s)| Some(one(*time_s, photo.gps?, &photo.embedding)));
    let others = known.iter().filter(|known| !known.embedding.is_empty());
    let others = others.map(|known| one(known.time_s, known.at, &known.embedding));
    let mut all: Vec<TaggedPhoto<'a>> = own.chain(others).collect();
    all.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    all
}

/// Tagged photos on each side of a moment that a photo is compared with.
const EACH_SIDE: usize = 24;

/// The photos of an album that have tags, and those beside it, in order of time.
pub(crate) struct Neighbourhoods {
    times: Vec<f64>,
    places: Vec<UnitVec>,
    /// Embeddings of length 1; empty where there is none.
    embeddings: Vec<Vec<f64>>,
}

impl Neighbourhoods {
    pub(crate) fn of(photos: &[&AlbumPhoto], times: &[f64], known: &[KnownPlace]) -> Self {
        let all = tagged(photos, times, known);
        Self {
            times: all.iter().map(|one| one.time_s).collect(),
            places: all.iter().map(|one| one.place).collect(),
            embeddings: all.iter().map(|one| unit(one.embedding)).collect(),
        }
    }

    /// Places with tags near in time, and the log odds of their neighbourhoods by the photo most alike in each.
    pub(crate) fn log_odds(&self, photo: &AlbumPhoto, time_s: f64, settings: &AlbumSettings) -> Vec<(UnitVec, f64)> {
        let next = self.times.partition_point(|time| *time < time_s);
        let near = next.saturating_sub(EACH_SIDE)..(next + EACH_SIDE).min(self.times.len());
        let own = unit(&photo.embedding);
        let cosine = |k: usize| {
            let is_known = !own.is_empty() && own.len() == self.embeddings[k].len();
            is_known.then(|| own.iter().zip(&self.embeddings[k]).map(|(a, b)| a * b).sum::<f64>())
        };
        let seen: Vec<(UnitVec, f64)> = near.filter_map(|k| Some((self.places[k], cosine(k)?))).collect();
        let (slope, slope_of_strange) = settings.surroundings;
        let slope = slope + photo.ood * (slope_of_strange - slope);
        let most_alike = seen.iter().map(|one| one.1).fold(f64::NEG_INFINITY, f64::max);
        let best_about = |place: UnitVec| {
            let about = seen.iter().filter(|other| place.angle_rad(other.0) * EARTH_RADIUS_KM < NEIGHBOURHOOD_KM);
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

    fn photo(hours: f64, place: Option<(f64, f64)>, look: [f32; 2]) -> AlbumPhoto {
        let nothing = Coefficients::new(vec![0.0; 16]).unwrap();
        let gps = place.map(|(lat, lon)| LatLon::new(lat, lon).unwrap());
        AlbumPhoto::new("x", PhotoTime::at(3600.0 * hours), nothing).with_gps(gps).with_embedding(look.to_vec(), 0.0)
    }

    /// A neighbourhood is as alike as its best photo, which loses nothing; others lose little if the photo is strange.
    #[test]
    fn the_most_alike_photo_of_a_surrounding_counts() {
        let photos = [
            photo(0.0, Some((48.86, 2.35)), [1.0, 0.0]),
            photo(1.0, Some((48.80, 2.13)), [0.0, 1.0]),
            photo(9.0, Some((45.76, 4.84)), [0.8, 0.6]),
        ];
        let (list, times) = (photos.iter().collect::<Vec<_>>(), [0.0, 3600.0, 9.0 * 3600.0]);
        let neighbourhoods = Neighbourhoods::of(&list, &times, &[]);
        let settings = AlbumSettings::default();
        let odds = |photo: &AlbumPhoto| -> Vec<f64> {
            neighbourhoods.log_odds(photo, 7200.0, &settings).into_iter().map(|(_, odds)| odds).collect()
        };
        let (slope, of_strange) = settings.surroundings;
        let own = photo(2.0, None, [0.0, 2.0]);
        let found = odds(&own);
        assert!(found[0].abs() < 1e-9 && found[1].abs() < 1e-9 && (found[2] + (0.4 * slope)).abs() < 1e-6, "{found:?}");
        let strange = odds(&own.clone().with_embedding(vec![0.0, 1.0], 1.0));
        assert!((strange[2] + 0.4 * of_strange).abs() < 1e-6, "{strange:?}");
        assert_eq!(odds(&photo(2.0, None, [-0.6, 0.8]))[2], -settings.most_surroundings);
        // Without an embedding, or with one of another length, there are no odds.
        assert!(odds(&own.clone().with_embedding(Vec::new(), 0.0)).is_empty());
        assert!(odds(&own.with_embedding(vec![1.0; 3], 0.0)).is_empty());
    }
}
