//! Where an album, or a library, falls into trips.

use crate::{AlbumAnswer, AlbumPlaces, Result, album::Album, photo::AlbumPhoto, prior::KnownPlace};
use locdiff_shdd::sphere::{LatLon, haversine_km};
use std::ops::RangeInclusive;

/// A pause of more seconds ends a trip.
pub const TRIP_PAUSE_S: f64 = 36.0 * 3600.0;
/// So does a shorter one, from this on, where the tags beside it are far apart.
const NIGHT_S: f64 = 12.0 * 3600.0;
/// Tags so far apart are.
const JUMP_KM: f64 = 1000.0;
/// Tags further from the pause than this say nothing of it, in seconds.
const BESIDE_S: f64 = 6.0 * 3600.0;

/// Known places on each side of a trip that count in it.
const EACH_SIDE: usize = 6;

/// A photo as the rule sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TripStop<'a> {
    /// When it was taken, in seconds.
    pub time_s: f64,
    /// Its GPS tag.
    pub place: Option<LatLon>,
    /// Its camera.
    pub camera: Option<&'a str>,
}

/// Photos by trip, in order of time. A pause of `pause_s`, or of 12 h between tags over 1,000 km apart, ends a trip.
pub fn trips(stops: &[TripStop<'_>], pause_s: f64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..stops.len()).collect();
    order.sort_by(|a, b| stops[*a].time_s.total_cmp(&stops[*b].time_s));
    let mut trips: Vec<Vec<usize>> = Vec::new();
    for (at, k) in order.iter().enumerate() {
        match trips.last_mut() {
            Some(trip) if !is_cut(stops, &order, at, pause_s) => trip.push(*k),
            _ => trips.push(vec![*k]),
        }
    }
    trips
}

/// The known places next to a trip, which count as they did before it was cut: as many as the prior of a photo uses, on each side. `known`
/// is in order of time, `trip` from its first second to its last.
pub fn beside<'a>(known: &'a [KnownPlace], trip: &RangeInclusive<f64>) -> impl Iterator<Item = &'a KnownPlace> {
    let first = known.partition_point(|place| place.time_s < *trip.start());
    let end = known.partition_point(|place| place.time_s <= *trip.end());
    known[first.saturating_sub(EACH_SIDE)..first].iter().chain(known[end..].iter().take(EACH_SIDE))
}

/// Whether a trip ends before the photo at this position.
fn is_cut(stops: &[TripStop<'_>], order: &[usize], at: usize, pause_s: f64) -> bool {
    let (last, next) = (&stops[order[at - 1]], &stops[order[at]]);
    let pause = next.time_s - last.time_s;
    if pause > pause_s || pause < NIGHT_S {
        return pause > pause_s;
    }
    let stop = |k: &usize| &stops[*k];
    let before = order[..at].iter().rev().map(stop).take_while(|stop| last.time_s - stop.time_s <= BESIDE_S);
    let after = order[at..].iter().map(stop).take_while(|stop| stop.time_s - next.time_s <= BESIDE_S);
    let (Some(before), Some(after)) = (tag_of(before), tag_of(after)) else { return false };
    before.1 == after.1 && haversine_km(before.0, after.0) > JUMP_KM
}

/// The first of them that has a tag: where, and by which camera.
fn tag_of<'a, 'b: 'a>(mut stops: impl Iterator<Item = &'a TripStop<'b>>) -> Option<(LatLon, Option<&'b str>)> {
    stops.find_map(|stop| Some((stop.place?, stop.camera)))
}

/// A trip: positions of its photos in order of time, and the tags of other trips next to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trip {
    /// Its photos.
    pub members: Vec<usize>,
    /// The tags of other trips next to it: they count as they did before the cut.
    pub known: Vec<KnownPlace>,
}

/// The trips of an album, or all of it as one. Photos without a moment are in none: see [`Album::untimed`].
pub fn cut(photos: &[AlbumPhoto], is_one: bool) -> Vec<Trip> {
    let timed: Vec<usize> = (0..photos.len()).filter(|k| photos[*k].time.is_moment()).collect();
    if is_one {
        return vec![Trip { members: timed, known: Vec::new() }];
    }
    // How far people are from tags was fitted to tags: their error is in it.
    let known = |photo: &AlbumPhoto| {
        let (name, time_s, embedding) = (photo.name.clone(), photo.time.seconds, photo.embedding.clone());
        Some(KnownPlace { name, time_s, at: photo.gps?, deviation_km: 0.0, embedding })
    };
    let mut tags: Vec<KnownPlace> = timed.iter().filter_map(|k| known(&photos[*k])).collect();
    tags.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    let time_s = |k: Option<&usize>| k.map_or(0.0, |k| photos[*k].time.seconds);
    let trip = |members: Vec<usize>| {
        let known = beside(&tags, &(time_s(members.first())..=time_s(members.last()))).cloned().collect();
        Trip { members, known }
    };
    let stops: Vec<TripStop<'_>> = timed.iter().map(|k| stop(&photos[*k])).collect();
    let found = trips(&stops, TRIP_PAUSE_S).into_iter();
    found.map(|members| trip(members.into_iter().map(|k| timed[k]).collect())).collect()
}

fn stop(photo: &AlbumPhoto) -> TripStop<'_> {
    TripStop { time_s: photo.time.seconds, place: photo.gps, camera: photo.camera.as_deref() }
}

impl Album {
    /// Answers as [`Album::answers`] gives them, trip by trip, and for each photo its place by the tags of the others and how people travel
    /// alone, without the images; `None` where there are no other tags. Fails as [`Album::answers`].
    pub fn answers_in_trips(&self, all: &[AlbumPhoto], truth: &[LatLon]) -> Result<Vec<(AlbumAnswer, Option<LatLon>)>> {
        let mut found: Vec<Option<(AlbumAnswer, Option<LatLon>)>> = vec![None; all.len()];
        for Trip { members, known } in cut(all, false) {
            let own: Vec<AlbumPhoto> = members.iter().map(|k| all[*k].clone()).collect();
            let places: Vec<LatLon> = members.iter().filter_map(|k| truth.get(*k).copied()).collect();
            let answers = self.answers_knowing(&own, &known, &places, |_| ())?;
            for (k, both) in members.into_iter().zip(answers.into_iter().zip(self.by_travel(&own, &known)?)) {
                found[k] = Some(both);
            }
        }
        let places = AlbumPlaces::of(all, &[]);
        for (k, photo) in all.iter().enumerate().filter(|(_, photo)| !photo.time.is_moment()) {
            let alone =
                self.answers_knowing(std::slice::from_ref(photo), &[], truth.get(k..=k).unwrap_or_default(), |_| ())?;
            for alone in alone {
                found[k] = Some((self.untimed(photo, alone, &places)?, None));
            }
        }
        Ok(found.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cameras of which one stays at home are no jump, and tags of other days are none.
    #[test]
    fn a_jump_is_one_cameras_and_beside_the_pause() {
        let (rome, cairo) = (LatLon::new(41.9, 12.5).ok(), LatLon::new(30.0, 31.2).ok());
        let stop = |hour: f64, place, camera| TripStop { time_s: 3600.0 * hour, place, camera };
        let count = |stops: &[TripStop<'_>]| trips(stops, TRIP_PAUSE_S).len();
        assert_eq!(trips(&[50.0, 0.0, 1.0].map(|hour| stop(hour, None, None)), TRIP_PAUSE_S), [vec![1, 2], vec![0]]);
        let three = |hour: f64| [stop(0.0, rome, None), stop(1.0, None, None), stop(hour, cairo, None)];
        assert_eq!(trips(&three(15.0), TRIP_PAUSE_S), [vec![0, 1], vec![2]]);
        assert_eq!(count(&three(12.0)), 1);
        assert_eq!(count(&[stop(0.0, rome, Some("a")), stop(14.0, cairo, Some("a"))]), 2);
        assert_eq!(count(&[stop(0.0, rome, Some("a")), stop(14.0, cairo, Some("b"))]), 1);
        let long: Vec<TripStop<'_>> = [0.0, 20.0, 40.0, 60.0].map(|hour| stop(hour, None, None)).into();
        assert_eq!(count(&[&[stop(-8.0, rome, None)], &long[..], &[stop(68.0, cairo, None)]].concat()), 1);
        assert_eq!(count(&[]), 0);
    }
}
