//! Likeness inside the album: a photo that looks like a tagged one is probably near it, also days apart.

use crate::evidence::{NEIGHBOURS, one_moment};
use crate::tagged_look::{TaggedLook, tagged, unit};
use crate::{blob::Blob, known::KnownPlace, message::Return, photo::AlbumPhoto, settings::AlbumSettings};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, UnitVec};
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

/// For each photo (in order of time) the tagged places that it may have been taken at. Tagged photos have none: their tags speak.
pub(crate) fn returns(
    photos: &[&AlbumPhoto],
    times: &[f64],
    known: &[KnownPlace],
    settings: &AlbumSettings,
) -> Vec<Vec<Return>> {
    let places = gather(&tagged(photos, times, known), settings.alike_km);
    if places.is_empty() {
        return vec![Vec::new(); photos.len()];
    }
    photos
        .par_iter()
        .enumerate()
        .map(|(k, photo)| {
            if photo.is_placed() {
                return Vec::new();
            }
            let own = unit(&photo.embedding);
            let mut found: Vec<(f64, f64, &Tagged)> = places
                .iter()
                .map(|tagged| (log_odds(&own, tagged, settings), tagged.gap_s(times[k]), tagged))
                .collect();
            // The next ones in time, whatever they look like, then the most alike of those that they leave time for.
            found.sort_by(|a, b| a.1.total_cmp(&b.1));
            let rest = found.split_off(2.min(found.len()));
            let next: Vec<(f64, &Tagged)> = found.iter().map(|(_, gap, tagged)| (*gap, *tagged)).collect();
            let reachable = |tagged: &Tagged| next.iter().all(|(gap, other)| other.is_within_reach(tagged.place, *gap));
            let mut alike: Vec<_> =
                rest.into_iter().filter(|(odds, _, tagged)| *odds > 0.0 && reachable(tagged)).collect();
            alike.sort_by(|a, b| b.0.total_cmp(&a.0));
            found.extend(alike.into_iter().take(KEPT));
            found
                .into_iter()
                .filter(|(_, _, tagged)| reachable(tagged))
                .map(|(log_odds, _, tagged)| Return {
                    place: Blob::at_km(tagged.place, settings.alike_km, 1.0),
                    log_odds,
                })
                .collect()
        })
        .collect()
}

/// How much each photo looks like those around it in time: the mean cosine, those within a moment counting most. `None` for a photo
/// without an embedding or without others.
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

/// How much photos look alike.
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

    /// How much two photos so many seconds apart are views of one thing, from 0 to 1. Where their looks are not known, the time alone says.
    pub(crate) fn one_view(&self, (k, other): (usize, usize), gap_s: f64, settings: &AlbumSettings) -> f64 {
        let Some(cosine) = self.cosine(k, other) else { return one_moment(gap_s, settings.moment_s) };
        let (half, slope) = settings.same_view;
        one_moment(gap_s, settings.same_view_s) / (1.0 + (-slope * (cosine - half)).exp())
    }
}

/// The tagged photo that a photo looks like most, and the cosine.
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
fn gather(looks: &[TaggedLook<'_>], reach_km: f64) -> Vec<Tagged> {
    let mut places: Vec<Tagged> = Vec::new();
    for look in looks {
        let (at, own) = (look.place, unit(look.embedding));
        // A traveller's tags come place after place: the last ones are looked at first.
        let near = |tagged: &&mut Tagged| tagged.place.angle_rad(at) * EARTH_RADIUS_KM < reach_km;
        if let Some(tagged) = places.iter_mut().rev().take(MOST_PLACES).find(near) {
            tagged.count += 1.0;
            let count = tagged.count;
            tagged.mean.iter_mut().zip(&own).for_each(|(mean, value)| *mean += (value - *mean) / count);
            tagged.times.push(look.time_s);
        } else {
            places.push(Tagged { place: at, mean: own, count: 1.0, times: vec![look.time_s] });
        }
    }
    if places.len() > MOST_PLACES {
        places.sort_by(|a, b| b.count.total_cmp(&a.count));
        places.truncate(MOST_PLACES);
    }
    places
}
