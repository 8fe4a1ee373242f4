//! Where an album, or a library, falls into trips.

use crate::known::KnownPlace;
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

/// Positions of photos, by trip, in order of time. A pause of more than `pause_s` seconds ends a trip; so does one of 12 hours between tags
/// of one camera more than 1,000 km apart.
///
/// ```
/// use locdiff_album::{TRIP_PAUSE_S, TripStop, trips};
/// use locdiff_shdd::sphere::LatLon;
/// let stop = |hour: f64, place| TripStop { time_s: 3600.0 * hour, place, camera: None };
/// assert_eq!(trips(&[stop(50.0, None), stop(0.0, None), stop(1.0, None)], TRIP_PAUSE_S), [vec![1, 2], vec![0]]);
/// let (rome, cairo) = (LatLon::new(41.9, 12.5).ok(), LatLon::new(30.0, 31.2).ok());
/// assert_eq!(trips(&[stop(0.0, rome), stop(1.0, None), stop(15.0, cairo)], TRIP_PAUSE_S), [vec![0, 1], vec![2]]);
/// assert_eq!(trips(&[stop(0.0, rome), stop(1.0, None), stop(12.0, cairo)], TRIP_PAUSE_S).len(), 1);
/// ```
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

/// The known places next to a trip, which count as they did before it was cut: as many as the prior of a photo looks at, on each side. `known`
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
    if pause > pause_s {
        return true;
    }
    if pause < NIGHT_S {
        return false;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cameras of which one stays at home are no jump, and tags of other days are none.
    #[test]
    fn a_jump_is_one_cameras_and_beside_the_pause() {
        let (rome, cairo) = (LatLon::new(41.9, 12.5).ok(), LatLon::new(30.0, 31.2).ok());
        let stop = |hour: f64, place, camera| TripStop { time_s: 3600.0 * hour, place, camera };
        let count = |stops: &[TripStop<'_>]| trips(stops, TRIP_PAUSE_S).len();
        assert_eq!(count(&[stop(0.0, rome, Some("a")), stop(14.0, cairo, Some("a"))]), 2);
        assert_eq!(count(&[stop(0.0, rome, Some("a")), stop(14.0, cairo, Some("b"))]), 1);
        let long: Vec<TripStop<'_>> = [0.0, 20.0, 40.0, 60.0].map(|hour| stop(hour, None, None)).into();
        assert_eq!(count(&[&[stop(-8.0, rome, None)], &long[..], &[stop(68.0, cairo, None)]].concat()), 1);
        assert_eq!(count(&[]), 0);
    }
}
