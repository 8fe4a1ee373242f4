//! Where one was, by a log of positions: a place for a time, with what is not known between two points.

use crate::prior::KnownPlace;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec, interpolate};
use std::ops::RangeInclusive;

/// Between points further apart in time than this nothing is known of the way, in hours.
const LONGEST_GAP_H: f64 = 2.0;
/// Nor so long before the first and after the last point of a log.
const BEYOND_H: f64 = 0.25;
/// How far from the straight way one is in the middle of it: km an hour of the gap, and a part of its length.
const WANDER_KM_H: f64 = 1.5;
const WANDER_PART: f64 = 0.15;
/// How far one is from the last point, or the next, beyond a log: km an hour.
const LEAVE_KM_H: f64 = 6.0;
/// Nobody wanders faster from a point, km an hour.
const FASTEST_KM_H: f64 = 60.0;
/// Points of a log that count as places known of other times are no nearer to one another, in seconds.
const APART_S: f64 = 3600.0;
/// And no further from the photos.
const AROUND_S: f64 = 3.0 * 86_400.0;

/// A position of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrackPoint {
    /// When, in seconds since 1970.
    pub(crate) time_s: f64,
    /// Until when one stayed.
    pub(crate) until_s: f64,
    pub(crate) at: LatLon,
    /// How well it is known, km along each axis.
    pub(crate) deviation_km: f64,
}

/// A log of positions, of one or several files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Track {
    /// In order of time.
    points: Vec<TrackPoint>,
    pub(crate) faults: Vec<String>,
}

impl Track {
    pub(crate) fn new(mut points: Vec<TrackPoint>) -> Self {
        points.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        Self { points, faults: Vec::new() }
    }

    /// Several as one.
    #[must_use]
    pub fn joined(tracks: impl IntoIterator<Item = Self>) -> Self {
        let mut faults = Vec::new();
        let points = tracks.into_iter().flat_map(|mut track| {
            faults.append(&mut track.faults);
            track.points
        });
        let joined = Self::new(points.collect());
        Self { faults, ..joined }
    }

    /// What had to be left out of each file, and why, a line each.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Shifts all positions by so many seconds: the track as clocks that are ahead of it show it.
    #[must_use]
    pub fn shifted(mut self, seconds: f64) -> Self {
        for point in &mut self.points {
            point.time_s += seconds;
            point.until_s += seconds;
        }
        self
    }

    /// How many positions it has.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Where one was at a time, and how well that is known, km along each axis; `None` too far from any point.
    pub fn at(&self, time_s: f64) -> Option<(LatLon, f64)> {
        let next = self.points.partition_point(|point| point.time_s <= time_s);
        let (before, after) = (next.checked_sub(1).map(|k| &self.points[k]), self.points.get(next));
        if let Some(stay) = before.filter(|point| time_s <= point.until_s) {
            return Some((stay.at, stay.deviation_km));
        }
        let hours = |from: f64, to: f64| (to - from) / 3600.0;
        if let Some((before, after)) = before.zip(after)
            && hours(before.until_s, after.time_s) <= LONGEST_GAP_H
        {
            return Some(between(before, after, time_s));
        }
        let ends = [
            before.map(|point| (point, hours(point.until_s, time_s))),
            after.map(|point| (point, hours(time_s, point.time_s))),
        ];
        let (point, away_h) = ends.into_iter().flatten().min_by(|a, b| a.1.total_cmp(&b.1))?;
        (away_h <= BEYOND_H).then(|| (point.at, point.deviation_km.hypot(LEAVE_KM_H * away_h)))
    }

    /// Positions around the times of photos, an hour apart, as places known of other times; `name` says who says so.
    pub fn known(&self, photos: &RangeInclusive<f64>, name: &str) -> Vec<KnownPlace> {
        let mut known: Vec<KnownPlace> = Vec::new();
        let wanted = photos.start() - AROUND_S..=photos.end() + AROUND_S;
        for point in self.points.iter().filter(|point| wanted.contains(&point.time_s)) {
            let stays = point.until_s - point.time_s > APART_S;
            let times = [Some(point.time_s), stays.then_some(point.until_s)].into_iter().flatten();
            for time_s in times {
                if known.last().is_none_or(|last| time_s - last.time_s >= APART_S) {
                    let (name, at, deviation_km) = (name.to_owned(), point.at, point.deviation_km);
                    known.push(KnownPlace { name, time_s, at, deviation_km, embedding: Vec::new() });
                }
            }
        }
        known
    }
}

/// On the way from one point to the next: surest at the ends, and nowhere further off than one can go from the nearer one.
fn between(before: &TrackPoint, after: &TrackPoint, time_s: f64) -> (LatLon, f64) {
    let (from, to): (UnitVec, UnitVec) = (before.at.to_unit(), after.at.to_unit());
    let gap_s = (after.time_s - before.until_s).max(1e-3);
    let part = ((time_s - before.until_s) / gap_s).clamp(0.0, 1.0);
    let km = from.angle_rad(to) * EARTH_RADIUS_KM;
    let nearer_h = part.min(1.0 - part) * gap_s / 3600.0;
    let middle = WANDER_PART * km + WANDER_KM_H * gap_s / 3600.0;
    let wander = (middle * 2.0 * (part * (1.0 - part)).sqrt()).min(FASTEST_KM_H * nearer_h);
    let ends = (1.0 - part) * before.deviation_km + part * after.deviation_km;
    (interpolate(from, to, part).to_latlon(), ends.hypot(wander))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(hours: f64, until: f64, lon: f64) -> TrackPoint {
        let at = LatLon::new(0.0, lon).unwrap();
        TrackPoint { time_s: 3600.0 * hours, until_s: 3600.0 * until, at, deviation_km: 0.02 }
    }

    #[test]
    fn a_place_for_a_time_is_surest_at_points() {
        let track = Track::new(vec![point(1.0, 1.0, 1.0), point(0.0, 0.0, 0.0), point(5.0, 9.0, 3.0)]);
        let at = |hours: f64| track.at(3600.0 * hours).map(|(at, km)| (at.lon_deg(), km));
        assert_eq!(at(0.0), Some((0.0, 0.02)));
        let (lon, km) = at(0.5).unwrap();
        assert!((lon - 0.5).abs() < 1e-9 && km > 10.0 && km < 30.0, "{lon} {km}");
        // A minute from a point one is no further than a minute away.
        assert!(at(1.0 / 60.0).unwrap().1 < 1.1 && at(59.0 / 60.0).unwrap().1 < 1.1);
        assert!(at(1.2).unwrap().1 > 1.0 && at(2.0).is_none() && at(4.0).is_none());
        assert_eq!(at(7.0), Some((3.0, 0.02)), "a stay");
        assert!(at(-0.2).is_some() && at(-0.3).is_none() && Track::default().at(0.0).is_none());
        let later = track.clone().shifted(3600.0);
        assert_eq!(later.at(3600.0), track.at(0.0));
        let known = track.known(&(0.0..=0.0), "log");
        assert_eq!(known.iter().map(|known| known.time_s / 3600.0).collect::<Vec<_>>(), [0.0, 1.0, 5.0, 9.0]);
        assert!(track.known(&(1e7..=1e7), "log").is_empty());
    }
}
