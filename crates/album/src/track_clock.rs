//! Cameras whose clocks are off, by a log of positions.

use crate::{Result, album::Album, clock::WrongClock, photo::AlbumPhoto, track::Track};
use locdiff_shdd::sphere::{LatLon, haversine_km};
use std::{collections::BTreeMap, f64::consts::TAU};

/// Clocks are tried for shifts of so many seconds to each side: time zones.
const MOST_S: i32 = 14 * 3600;
const COARSE_S: usize = 60;
/// By tags they are found to this, about the best of those.
const FINE_S: usize = 5;
/// How far one goes in half a step, km.
const COARSE_KM: f64 = 1.0;
const FINE_KM: f64 = 0.1;
/// Photos of a camera that are used.
const LOOKED_AT: usize = 48;
/// Tags that a clock must have to be found by them.
const FEWEST_TAGS: usize = 3;
/// Shifts this far from the best one, in seconds, must be worse by so many nats.
const OTHER_S: i32 = 1800;
const CLEAR_NATS: f64 = 3.0;
/// The density of tags that have nothing to do with the log, per km²: about a thousand kilometres around; and the share of such tags.
const ANYWHERE: f64 = 3e-7;
const UNLIKE: f64 = 0.02;

impl Album {
    /// Cameras whose clocks contradict a log of positions: by the tags of their photos, or, where they have none and give no offset from UTC, by
    /// their images. Only what is clear is found. Fails as [`Album::answers`].
    pub fn clocks_by_track(&self, photos: &[AlbumPhoto], track: &Track) -> Result<Vec<WrongClock>> {
        let mut cameras: BTreeMap<&str, Vec<&AlbumPhoto>> = BTreeMap::new();
        for photo in photos.iter().filter(|photo| photo.time.is_moment()) {
            cameras.entry(photo.camera.as_deref().unwrap_or_default()).or_default().push(photo);
        }
        let mut found = Vec::new();
        for (camera, own) in cameras {
            let tags: Vec<(f64, LatLon)> = own.iter().filter_map(|one| Some((one.time.seconds, one.gps?))).collect();
            let best = if tags.len() >= FEWEST_TAGS {
                shift_of(&thinned(&tags), track, self.settings.clock_nats)
            } else if own.iter().all(|photo| photo.gps.is_none() && !photo.time.is_utc) {
                let fits = self.by_likelihood(&thinned(&own), track)?;
                let fit = |shift: i32| fits.iter().find(|(other, _)| *other == shift).map_or(0.0, |(_, fit)| *fit);
                best(hours(), 0, &fit, self.settings.clock_nats)
            } else {
                None
            };
            if let Some((shift, gain_nats)) = best {
                let ahead_h = (f64::from(shift) / 3600.0).round() as i32;
                let (camera, photos, ahead_s) = (camera.to_owned(), own.len(), f64::from(shift));
                found.push(WrongClock { camera, ahead_h, ahead_s, gain_nats, photos, by_track: true });
            }
        }
        Ok(found)
    }

    /// The log likelihood of photos at the log's positions, for whole hours of shift.
    fn by_likelihood(&self, photos: &[&AlbumPhoto], track: &Track) -> Result<Vec<(i32, f64)>> {
        let mut fits: Vec<(i32, f64)> = hours().map(|shift| (shift, 0.0)).collect();
        let stray = self.settings.stray;
        for photo in photos {
            let places: Vec<_> = hours().map(|shift| track.at(photo.time.seconds - f64::from(shift))).collect();
            let points: Vec<_> = places.iter().flatten().map(|(at, _)| at.to_unit()).collect();
            let mut ratios = self.likelihood_at(photo, &points)?.into_iter();
            for ((_, sum), place) in fits.iter_mut().zip(&places) {
                if let Some(ratio) = place.and_then(|_| ratios.next()) {
                    *sum += self.settings.look_power * ((1.0 - stray) * ratio + stray).ln();
                }
            }
        }
        Ok(fits)
    }
}

/// The shift of a clock by its tags, in two steps.
fn shift_of(tags: &[(f64, LatLon)], track: &Track, least: f64) -> Option<(i32, f64)> {
    let coarse = |shift: i32| by_tags(tags, track, f64::from(shift), COARSE_KM);
    let (near, _) = best((-MOST_S..=MOST_S).step_by(COARSE_S), 0, &coarse, least)?;
    let fine = |shift: i32| by_tags(tags, track, f64::from(shift), FINE_KM);
    best((near - 2 * COARSE_S as i32..=near + 2 * COARSE_S as i32).step_by(FINE_S), 0, &fine, least)
}

fn hours() -> impl Iterator<Item = i32> {
    (-MOST_S..=MOST_S).step_by(3600)
}

fn thinned<T: Clone>(all: &[T]) -> Vec<T> {
    all.iter().step_by(all.len().div_ceil(LOOKED_AT).max(1)).cloned().collect()
}

/// The log of how likely tags are where the log has their clocks so many seconds ahead.
fn by_tags(tags: &[(f64, LatLon)], track: &Track, ahead_s: f64, off_km: f64) -> f64 {
    let one = |(time_s, tag): &(f64, LatLon)| {
        let Some((at, deviation_km)) = track.at(time_s - ahead_s) else { return ANYWHERE.ln() };
        let variance = deviation_km.powi(2) + off_km.powi(2);
        let km = haversine_km(at, *tag);
        (UNLIKE * ANYWHERE + (1.0 - UNLIKE) * (-0.5 * km * km / variance).exp() / (TAU * variance)).ln()
    };
    tags.iter().map(one).sum()
}

/// The best shift and what it gains over `usual`, where that is much and no other is nearly as good.
fn best(shifts: impl Iterator<Item = i32>, usual: i32, fit: &dyn Fn(i32) -> f64, least: f64) -> Option<(i32, f64)> {
    let now = fit(usual);
    let fits: Vec<(i32, f64)> = shifts.map(|shift| (shift, fit(shift))).collect();
    // The smallest of those that are as good.
    let top = fits.iter().map(|(_, fit)| *fit).fold(f64::NEG_INFINITY, f64::max);
    let (shift, fit) = fits.iter().filter(|(_, fit)| *fit >= top).min_by_key(|(shift, _)| shift.abs()).copied()?;
    let is_clear = fits.iter().all(|(other, own)| (other - shift).abs() < OTHER_S || *own < fit - CLEAR_NATS);
    (shift != usual && fit - now > least && is_clear).then_some((shift, fit - now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::track::TrackPoint;

    /// A drive of ten hours, a point every minute.
    fn drive() -> Track {
        let point = |minute: i32| {
            let (time_s, at) = (60.0 * f64::from(minute), LatLon::new(40.0 + 0.01 * f64::from(minute), 5.0).unwrap());
            TrackPoint { time_s, until_s: time_s, at, deviation_km: 0.02 }
        };
        Track::new((0..600).map(point).collect())
    }

    #[test]
    fn tags_find_the_shift_to_seconds_where_one_moves() {
        let track = drive();
        for ahead in [7200.0 + 90.0, -3600.0 - 45.0, 240.0] {
            let tag = |minute: f64| (60.0 * minute + ahead, LatLon::new(40.0 + 0.01 * minute, 5.0).unwrap());
            let tags: Vec<_> = [60.5, 130.0, 300.25, 410.0].map(tag).into();
            let (shift, gain) = shift_of(&tags, &track, 5.0).unwrap();
            assert!((f64::from(shift) - ahead).abs() < 6.0 && gain > 5.0, "{ahead}: {shift} {gain}");
        }
        let stay = |minute: f64| (60.0 * minute, LatLon::new(10.0, 5.0).unwrap());
        let strange = [stay(1.0), stay(2.0), stay(9.0)];
        assert_eq!(shift_of(&strange, &track, 5.0), None, "tags of another place say nothing");
    }
}
