//! Where a photo may be, by the places that are known of other times: how people stay, return and leave.
//!
//! The density is a mixture, normalised for each moment by itself, so that nothing changes where a photo without a place stands between
//! two others. Its weights are functions of hours and kilometres that were fitted to traces of real people (`lab/scripts/fit_travel.py`).
//! Places within 20 km of one another are one cluster: the model says in which cluster one is, or in none, by how long before and
//! after one was there; inside it, at which of the known places and how far from it; on the way from the last to the next; or outside, how
//! far from either.

use crate::{blob::Blob, blob::variance_of_km, earth::AT_SEA, earth::is_land};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec, interpolate};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Known places used on each side of a moment.
const EACH_SIDE: usize = 6;
/// Known places this near to one another are one cluster, km.
const CLUSTER_KM: f64 = 20.0;
/// Nobody is on the way between places that are nearer to one another, and what is on the way is known no better, km.
const SHORTEST_KM: f64 = 0.05;
const NARROWEST_KM: f64 = 0.02;
/// Nothing was fitted to longer times than this, in hours.
const LONGEST_H: f64 = 336.0;
/// Sooner than this, in hours, one is hardly just anywhere.
const ANYWHERE_H: f64 = 6.0;
/// After this time without a known place, in hours, the places known count half.
const FORGOTTEN_H: f64 = 2000.0;
/// Known places whose distances tell the extent of an album, at the most.
const MOST_FOR_EXTENT: usize = 64;

/// A place that is known at a time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Anchor {
    pub(crate) time_s: f64,
    pub(crate) place: UnitVec,
    /// How well the place is known, km along each axis.
    pub(crate) deviation_km: f64,
    /// The photo that it is of, by its position in time.
    pub(crate) of: Option<usize>,
    /// The camera that it is of.
    pub(crate) camera: Option<String>,
}

/// A place that is known at a time: of a video, of a photo of another trip, of a track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownPlace {
    /// Who says so.
    pub name: String,
    /// When, in seconds since 1970.
    pub time_s: f64,
    /// Where.
    pub at: LatLon,
    /// How well that is known, km along each axis.
    pub deviation_km: f64,
    /// The embedding of the photo that was taken there; empty where there is none.
    #[serde(skip)]
    pub embedding: Vec<f32>,
}

impl KnownPlace {
    pub(crate) fn anchor(&self) -> Anchor {
        let Self { time_s, at, deviation_km, .. } = self;
        Anchor { time_s: *time_s, place: at.to_unit(), deviation_km: *deviation_km, of: None, camera: None }
    }
}

/// The known places of an album, in order of time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Anchors {
    list: Vec<Anchor>,
    /// The median distance between two of them, km.
    extent_km: f64,
}

/// The known place nearest in time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nearest {
    pub(crate) place: UnitVec,
    /// How long before or after.
    pub(crate) hours: f64,
    /// Whether the photos' images contradict it.
    pub(crate) is_doubted: bool,
    /// What the album's other tags add to the share of one half that a radius is read at.
    pub(crate) shift: f64,
}

/// Where a photo may be: blobs, and the probability of being anywhere. All sum to 1.
#[derive(Debug, Clone)]
pub(crate) struct Prior {
    pub(crate) blobs: Vec<Blob>,
    pub(crate) anywhere: f64,
}

/// The fitted numbers: one row for each width, one column for each feature.
#[derive(Debug, Deserialize)]
struct Fitted {
    near_km: Vec<f64>,
    far_km: Vec<f64>,
    between: Vec<f64>,
    near: Vec<Vec<f64>>,
    #[serde(rename = "surrounding")]
    cluster: Vec<f64>,
    outside: Vec<f64>,
    far: Vec<Vec<f64>>,
    far_nearest: f64,
    on_the_way: Vec<Vec<f64>>,
    anywhere: f64,
}

static FITTED: LazyLock<Fitted> =
    LazyLock::new(|| serde_json::from_str(include_str!("travel.json")).expect("a table of this crate"));

/// How far one gets in so many hours from a known place and is still about it, km along each axis.
fn about_km(hours: f64) -> f64 {
    0.2 + 50.0 * hours
}

/// How far one gets in so many hours away from all known places, km along each axis.
fn reach_km(hours: f64) -> f64 {
    3.0 + 120.0 * hours.max(hours.powf(1.5))
}

fn log_hours(hours: f64) -> f64 {
    (hours.min(LONGEST_H) + 0.03).ln() / 3.0
}

fn dot(row: &[f64], features: &[f64]) -> f64 {
    row.iter().zip(features).map(|(a, b)| a * b).sum()
}

/// Brings weights given as logs to a sum of 1.
fn softmax(logs: &mut [f64]) {
    let top = logs.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    logs.iter_mut().for_each(|log| *log = (*log - top).exp());
    let sum: f64 = logs.iter().sum();
    logs.iter_mut().for_each(|weight| *weight /= sum);
}

fn km(a: UnitVec, b: UnitVec) -> f64 {
    a.angle_rad(b) * EARTH_RADIUS_KM
}

impl Anchors {
    pub(crate) fn new(mut list: Vec<Anchor>) -> Self {
        list.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let some: Vec<UnitVec> =
            list.iter().step_by(list.len().div_ceil(MOST_FOR_EXTENT).max(1)).map(|anchor| anchor.place).collect();
        let mut distances: Vec<f64> =
            (0..some.len()).flat_map(|k| (0..k).map(move |j| (k, j))).map(|(k, j)| km(some[k], some[j])).collect();
        distances.sort_by(f64::total_cmp);
        let half = distances.len() / 2;
        let extent_km = match distances.len() {
            0 => 5.0,
            n if n % 2 == 0 => f64::midpoint(distances[half - 1], distances[half]),
            _ => distances[half],
        };
        Self { list, extent_km }
    }

    pub(crate) fn all(&self) -> &[Anchor] {
        &self.list
    }

    /// Where one may be at a time; anchors of photo `without` itself are left out. `None` if nothing is known.
    pub(crate) fn prior(&self, time_s: f64, without: Option<usize>) -> Option<Prior> {
        self.prior_by(time_s, |anchor| without.is_none() || anchor.of != without)
    }

    /// The known place that is nearest in time, `without` as in [`Anchors::prior`].
    pub(crate) fn nearest(&self, time_s: f64, without: Option<usize>) -> Option<Nearest> {
        self.nearest_by(time_s, |anchor| without.is_none() || anchor.of != without)
    }

    /// The nearest of those that `counts`.
    pub(crate) fn nearest_by(&self, time_s: f64, counts: impl Fn(&Anchor) -> bool) -> Option<Nearest> {
        let next = self.list.partition_point(|anchor| anchor.time_s < time_s);
        let counts = |anchor: &&Anchor| counts(anchor);
        let before = self.list[..next].iter().rev().find(counts);
        let after = self.list[next..].iter().find(counts);
        let gap = |anchor: &&Anchor| (anchor.time_s - time_s).abs();
        let nearest = before.into_iter().chain(after).min_by(|a, b| gap(a).total_cmp(&gap(b)))?;
        Some(Nearest { place: nearest.place, hours: gap(&nearest) / 3600.0, is_doubted: false, shift: 0.0 })
    }

    /// By those that `counts`.
    pub(crate) fn prior_by(&self, time_s: f64, counts: impl Fn(&Anchor) -> bool) -> Option<Prior> {
        let next = self.list.partition_point(|anchor| anchor.time_s < time_s);
        let mut before: Vec<&Anchor> = self.list[..next].iter().rev().filter(|a| counts(a)).take(EACH_SIDE).collect();
        before.reverse();
        let after: Vec<&Anchor> = self.list[next..].iter().filter(|anchor| counts(anchor)).take(EACH_SIDE).collect();
        let around = Around::new(time_s, &before, &after, self.extent_km)?;
        Some(around.mixture())
    }
}

/// The known places around a moment.
struct Around<'a> {
    anchors: Vec<&'a Anchor>,
    hours: Vec<f64>,
    /// How many of them are before the moment.
    before: usize,
    /// The cluster that each belongs to.
    cluster: Vec<usize>,
    distances: Vec<Vec<f64>>,
    shortest_h: f64,
    extent_km: f64,
    /// Where there is one on each side: the distance between them, the longer time, and the part of the time that is over.
    bracket: Option<(f64, f64, f64)>,
}

impl<'a> Around<'a> {
    fn new(time_s: f64, before: &[&'a Anchor], after: &[&'a Anchor], extent_km: f64) -> Option<Self> {
        let anchors: Vec<&Anchor> = before.iter().chain(after).copied().collect();
        let hours: Vec<f64> = anchors.iter().map(|anchor| (anchor.time_s - time_s).abs() / 3600.0).collect();
        let shortest_h = hours.iter().copied().reduce(f64::min)?;
        let distances: Vec<Vec<f64>> =
            anchors.iter().map(|a| anchors.iter().map(|b| km(a.place, b.place)).collect()).collect();
        let bracket = before.last().zip(after.first()).map(|(last, next)| {
            let gap = (next.time_s - last.time_s).max(1.0);
            let longer = (time_s - last.time_s).max(next.time_s - time_s) / 3600.0;
            (km(last.place, next.place), longer, (time_s - last.time_s) / gap)
        });
        let mut cluster: Vec<usize> = (0..anchors.len()).collect();
        for a in 0..anchors.len() {
            for b in 0..a {
                let (own, other) = (cluster[a], cluster[b]);
                if distances[a][b] < CLUSTER_KM && own != other {
                    cluster.iter_mut().filter(|one| **one == own).for_each(|one| *one = other);
                }
            }
        }
        Some(Self { before: before.len(), anchors, hours, cluster, distances, shortest_h, extent_km, bracket })
    }

    fn mixture(&self) -> Prior {
        let fitted = &*FITTED;
        let mut names: Vec<usize> = self.cluster.clone();
        names.sort_unstable();
        names.dedup();
        let outside = self.outside_features(names.len());
        let mut shares: Vec<_> =
            names.iter().map(|one| dot(&fitted.cluster, &self.cluster_features(*one, &names))).collect();
        let way = self.way();
        if let Some((_, middle)) = way {
            // Few photos are taken on the way over a sea.
            let at_sea = if is_land(middle) { 0.0 } else { AT_SEA.ln() };
            shares.extend(fitted.on_the_way.iter().map(|row| dot(row, &outside) + at_sea));
        }
        shares.push(dot(&fitted.outside, &outside));
        softmax(&mut shares);
        let known = 1.0 / (1.0 + self.shortest_h / FORGOTTEN_H);
        let mut blobs = Vec::new();
        for (name, share) in names.iter().zip(&shares) {
            let members: Vec<usize> = (0..self.anchors.len()).filter(|k| self.cluster[*k] == *name).collect();
            let features = members.iter().map(|k| self.near_features(*k));
            let mut weights: Vec<f64> =
                features.flat_map(|own| fitted.near.iter().map(move |row| dot(row, &own))).collect();
            softmax(&mut weights);
            for (k, own) in members.iter().zip(weights.chunks(fitted.near_km.len())) {
                let most_km = about_km(self.hours[*k]);
                let about = own.iter().zip(&fitted.near_km);
                blobs.extend(about.map(|(weight, km)| self.blob(*k, km.min(most_km), known * share * weight)));
            }
        }
        if let Some((distance, middle)) = way {
            for (share, width) in shares[names.len()..].iter().zip(&fitted.between) {
                blobs.push(Blob::at_km(middle, (width * distance).max(NARROWEST_KM), known * share));
            }
        }
        let out = known * shares.last().copied().unwrap_or(0.0);
        let anywhere = self.add_outside(&mut blobs, out, &outside);
        Prior { blobs, anywhere: anywhere + 1.0 - known }
    }

    fn blob(&self, k: usize, deviation_km: f64, mass: f64) -> Blob {
        let Anchor { place, deviation_km: own_km, .. } = self.anchors[k];
        Blob { centre: *place, variance: variance_of_km(deviation_km) + variance_of_km(*own_km), mass }
    }

    /// On the way from the last to the next known place: their distance, and where one is by the time.
    fn way(&self) -> Option<(f64, UnitVec)> {
        let (distance, _, part) = self.bracket.filter(|(distance, ..)| *distance > SHORTEST_KM)?;
        Some((distance, interpolate(self.anchors[self.before - 1].place, self.anchors[self.before].place, part)))
    }

    /// Away from what is known: about the last and the next place. Returns the mass of being anywhere.
    fn add_outside(&self, blobs: &mut Vec<Blob>, mass: f64, features: &[f64]) -> f64 {
        let fitted = &*FITTED;
        let ends = [self.before.checked_sub(1), Some(self.before)].into_iter().flatten();
        let ends: Vec<usize> = ends.filter(|k| *k < self.hours.len()).collect();
        let nearest = |k: usize| if self.hours[k] <= self.shortest_h { fitted.far_nearest } else { 0.0 };
        let mut weights: Vec<f64> =
            ends.iter().flat_map(|k| fitted.far.iter().map(move |row| dot(row, features) + nearest(*k))).collect();
        weights.push(fitted.anywhere + (self.shortest_h / ANYWHERE_H).clamp(1e-9, 1.0).ln());
        softmax(&mut weights);
        for (k, own) in ends.iter().zip(weights.chunks(fitted.far.len())) {
            let most_km = reach_km(self.hours[*k]);
            let about = own.iter().zip(&fitted.far_km);
            blobs.extend(about.map(|(weight, km)| self.blob(*k, km.min(most_km), mass * weight)));
        }
        mass * weights.last().copied().unwrap_or(0.0)
    }

    fn log_extent(&self) -> f64 {
        (self.extent_km + 0.5).ln() / 3.0
    }

    /// The longer of the times to the last and the next known place; 0 where one of them is missing.
    fn log_longer(&self) -> f64 {
        self.bracket.map_or(0.0, |(_, longer, _)| log_hours(longer))
    }

    fn near_features(&self, k: usize) -> [f64; 11] {
        let (hours, log) = (self.hours[k], log_hours(self.hours[k]));
        let same = self.distances[k].iter().filter(|km| **km < 1.0).count() as f64;
        let others = self.distances[k].iter().enumerate().filter(|(other, _)| *other != k);
        let nearest = others.map(|(_, km)| *km).reduce(f64::min);
        let is_long = 1.0 / (1.0 + (-(hours - 9.0) / 2.0).exp());
        let hour_of_day = is_long * (std::f64::consts::TAU * hours / 24.0).cos();
        [
            1.0,
            log,
            log * log,
            same.ln() / 1.5,
            nearest.map_or(1.0, |km| (km.min(20.0) + 0.03).ln() / 3.0),
            hour_of_day,
            self.bracket.map_or(0.0, |(distance, ..)| (distance.min(20.0) + 0.05).ln() / 3.0),
            f64::from(self.bracket.is_some()),
            self.log_longer(),
            self.log_extent(),
            f64::from(hours <= self.shortest_h),
        ]
    }

    fn cluster_features(&self, name: usize, names: &[usize]) -> [f64; 12] {
        let shortest = |is: &dyn Fn(usize) -> bool| {
            (0..self.hours.len()).filter(|k| is(*k)).map(|k| self.hours[k]).reduce(f64::min)
        };
        let own = shortest(&|k| self.cluster[k] == name).unwrap_or(LONGEST_H);
        let first = names.iter().find(|other| shortest(&|k| self.cluster[k] == **other) == Some(self.shortest_h));
        let other = shortest(&|k| self.cluster[k] != name);
        let before = shortest(&|k| self.cluster[k] == name && k < self.before);
        let after = shortest(&|k| self.cluster[k] == name && k >= self.before);
        let count = self.cluster.iter().filter(|one| **one == name).count() as f64;
        let log = log_hours(own);
        let has = |k: usize| self.cluster[k] == name;
        let has_both_ends = self.bracket.is_some() && has(self.before - 1) && has(self.before);
        [
            1.0,
            log,
            log * log,
            f64::from(first == Some(&name)),
            other.map_or(0.0, |hours| log_hours(hours) - log),
            f64::from(other.is_some()),
            f64::from(before.is_some() && after.is_some()),
            before.zip(after).map_or(0.0, |(before, after)| log_hours(before.max(after))),
            count.ln() / 1.5,
            count / self.hours.len() as f64,
            self.log_extent(),
            f64::from(has_both_ends),
        ]
    }

    fn outside_features(&self, clusters: usize) -> [f64; 8] {
        let log = log_hours(self.shortest_h);
        [
            1.0,
            log,
            log * log,
            f64::from(self.bracket.is_some()),
            self.bracket.map_or(0.0, |(distance, ..)| (distance + 0.05).ln() / 3.0),
            self.log_longer(),
            self.log_extent(),
            (clusters as f64).ln() / 1.5,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(hours: f64, lat: f64, lon: f64) -> Anchor {
        let place = LatLon::new(lat, lon).unwrap().to_unit();
        Anchor { time_s: 3600.0 * hours, place, deviation_km: 0.0, of: None, camera: None }
    }

    /// All that may be sums to 1, whatever is known, also seconds, months and years away.
    #[test]
    fn the_prior_is_normalised() {
        let places =
            [(0.0, 48.86, 2.35), (5.0, 48.80, 2.13), (30.0, 43.3, 5.4), (31.0, 43.31, 5.4), (900.0, -33.9, 151.2)];
        for count in 1..=places.len() {
            let anchors = Anchors::new(places[..count].iter().map(|(h, lat, lon)| anchor(*h, *lat, *lon)).collect());
            for hours in [-9000.0, -1.0, 0.0, 0.001, 2.0, 17.0, 30.5, 100.0, 1e5] {
                let prior = anchors.prior(3600.0 * hours, None).unwrap();
                let sum: f64 = prior.blobs.iter().map(|blob| blob.mass).sum::<f64>() + prior.anywhere;
                assert!((sum - 1.0).abs() < 1e-9, "{count} {hours}: {sum}");
                assert!(prior.blobs.iter().all(|blob| blob.mass >= 0.0 && blob.variance > 0.0));
            }
        }
        assert!(Anchors::default().prior(0.0, None).is_none());
    }

    /// A day later people are near by for the most part, not everywhere between here and the next country.
    #[test]
    fn a_day_away_from_a_place_one_is_rather_there() {
        let anchors = Anchors::new(vec![anchor(0.0, 48.86, 2.35), anchor(48.0, 48.87, 2.30)]);
        let prior = anchors.prior(24.0 * 3600.0, None).unwrap();
        let paris = LatLon::new(48.86, 2.35).unwrap().to_unit();
        let is_near = |b: &&Blob| km(b.centre, paris) < 10.0 && b.variance.sqrt() * EARTH_RADIUS_KM < 20.0;
        let near: f64 = prior.blobs.iter().filter(is_near).map(|b| b.mass).sum();
        assert!(near > 0.6, "{near}");
    }
}
