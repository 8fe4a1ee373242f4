//! Cameras whose clocks are off: the hours by which an album makes most sense.

use crate::{AlbumSettings, PhotoTime, Result, album::Album, photo::AlbumPhoto, prior::KnownPlace};
use crate::{likelihood::one_moment, likelihood::weights, likeness::Similarities, likeness::odds_of};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whole hours that clocks are off by: time zones that were not set, and half a day.
const HOURS: std::ops::RangeInclusive<i32> = -13..=13;
/// Photos that are used, of all cameras together.
const LOOKED_AT: usize = 96;
/// The probability that photos which two cameras took at one time are of one thing, and the seconds after which it is less by 1/e; photos of
/// one camera so near to one another say the same of it.
const OF_ONE_THING: f64 = 0.5;
const ONE_THING_S: f64 = 3600.0;

/// A camera whose clock is wrong: by how much it is ahead, according to a log of positions or the other cameras. The nats say how much
/// better the album fits after the correction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct WrongClock {
    pub camera: String,
    pub ahead_h: i32,
    pub ahead_s: f64,
    pub by_track: bool,
    pub gain_nats: f64,
    pub photos: usize,
}

impl Album {
    /// Cameras whose clocks contradict those of the camera with most photos (or most tags), found one after the other.
    /// Photos without a camera have the clock of that one. `known` are other known places. Fails as [`Album::answers`].
    pub fn wrong_clocks(&self, photos: &[AlbumPhoto], known: &[KnownPlace]) -> Result<Vec<WrongClock>> {
        let photos: Vec<&AlbumPhoto> = photos.iter().filter(|photo| photo.time.is_moment()).collect();
        let mut cameras: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for photo in &photos {
            let entry = cameras.entry(photo.camera.as_deref().unwrap_or_default()).or_default();
            *entry = (entry.0 + usize::from(photo.gps.is_some()), entry.1 + 1);
        }
        let Some(reference) = cameras.iter().max_by_key(|(_, counts)| **counts).map(|(name, _)| *name) else {
            return Ok(Vec::new());
        };
        let stride = photos.len().div_ceil(LOOKED_AT);
        let mut found = Vec::new();
        for (camera, (_, count)) in cameras.iter().filter(|(name, _)| **name != reference) {
            let of = |photo: &&AlbumPhoto, name: &str| photo.camera.as_deref().unwrap_or_default() == name;
            let own: Vec<&AlbumPhoto> = photos.iter().copied().filter(|photo| of(photo, camera)).collect();
            let other: Vec<&AlbumPhoto> = photos.iter().copied().filter(|photo| of(photo, reference)).collect();
            if own.len() < 3 || other.len() < 3 {
                continue;
            }
            let thin = |list: &[&AlbumPhoto]| -> Vec<AlbumPhoto> {
                list.iter().step_by(stride).map(|photo| (*photo).clone()).collect()
            };
            let (own, other) = (thin(&own), thin(&other));
            // Each camera's photos are asked about those of the other, as their tags are.
            let pair = |own: &[AlbumPhoto], other: &[AlbumPhoto]| CameraPair::of(own, other, &self.settings);
            let (forward, back) = (pair(&own, &other), pair(&other, &own));
            let shifted = |hours: i32| -> Result<f64> {
                let mut all = other.clone();
                all.extend(own.iter().cloned().map(|photo| shift(photo, -hours)));
                let later_s = -3600.0 * f64::from(hours);
                let likeness = forward.log_likelihood(later_s) + back.log_likelihood(-later_s);
                Ok(self.log_likelihood(&all, known)? + likeness)
            };
            let fits: Vec<_> =
                HOURS.into_par_iter().map(|hours| Ok((hours, shifted(hours)?))).collect::<Result<_>>()?;
            let right = fits.iter().find(|(hours, _)| *hours == 0).map_or(f64::NEG_INFINITY, |(_, fit)| *fit);
            // The first of the best, as one thread would find it.
            let best = fits.iter().fold((0, right), |best, one| if one.1 > best.1 { *one } else { best });
            if best.1 - right > self.settings.clock_nats {
                let (camera, gain_nats) = ((*camera).to_owned(), best.1 - right);
                let ahead_s = 3600.0 * f64::from(best.0);
                found.push(WrongClock { camera, ahead_h: best.0, ahead_s, by_track: false, gain_nats, photos: *count });
            }
        }
        Ok(found)
    }
}

/// The similarity of two cameras' photos: those of one time are of one thing more often than others.
struct CameraPair {
    own_s: Vec<f64>,
    other_s: Vec<f64>,
    /// The weight of each photo: photos of one moment tell the same.
    shares: Vec<f64>,
    /// For each photo, and each of the other camera, the odds of being of one thing by their similarity; empty if this is not known.
    odds: Vec<Vec<f64>>,
}

impl CameraPair {
    fn of(own: &[AlbumPhoto], other: &[AlbumPhoto], settings: &AlbumSettings) -> Self {
        let times = |photos: &[AlbumPhoto]| photos.iter().map(|photo| photo.time.seconds).collect::<Vec<_>>();
        let (own_s, other_s) = (times(own), times(other));
        let moment = |_, _, gap_s| one_moment(gap_s, ONE_THING_S);
        let shares = weights(&own_s, settings.likeness_dependence, moment);
        let both: Vec<&AlbumPhoto> = own.iter().chain(other).collect();
        let similarities = Similarities::of(&both);
        let odds = |k: usize| {
            let odds = |j| Some(odds_of(similarities.cosine(k, own.len() + j)?, settings).exp());
            (0..other.len()).map(odds).collect::<Option<Vec<f64>>>().unwrap_or_default()
        };
        Self { odds: (0..own.len()).map(odds).collect(), own_s, other_s, shares }
    }

    /// The log likelihood of the similarities if the camera's times are so many seconds later.
    fn log_likelihood(&self, later_s: f64) -> f64 {
        let one = |(k, odds): (usize, &Vec<f64>)| {
            let (mut sum, mut near) = (0.0, 0.0);
            for (odds, other_s) in odds.iter().zip(&self.other_s) {
                let weight = one_moment((self.own_s[k] + later_s - other_s).abs(), ONE_THING_S);
                (sum, near) = (sum + weight * odds, near + weight);
            }
            let together = OF_ONE_THING * near.min(1.0);
            self.shares[k] * (1.0 - together + together * sum / near.max(f64::MIN_POSITIVE)).ln()
        };
        self.odds.iter().enumerate().map(one).sum()
    }
}

/// The photo with its time put right.
fn shift(mut photo: AlbumPhoto, hours: i32) -> AlbumPhoto {
    photo.time = PhotoTime { seconds: photo.time.seconds + 3600.0 * f64::from(hours), ..photo.time };
    photo
}

/// Puts the times of the cameras right.
pub fn set_clocks(photos: &mut [AlbumPhoto], wrong: &[WrongClock]) {
    for photo in photos.iter_mut().filter(|photo| photo.time.is_moment()) {
        let camera = photo.camera.as_deref().unwrap_or_default();
        if let Some(clock) = wrong.iter().find(|clock| clock.camera == camera) {
            photo.time.seconds -= clock.ahead_s;
            if clock.by_track {
                (photo.time.ahead_s, photo.time.is_utc) = (0.0, true); // a log is of UTC
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::Coefficients;

    /// What a camera's photos say of the other's they say by the same shift, asked the other way round.
    #[test]
    fn both_cameras_tell_the_same_shift() {
        let photo = |hours: f64, look: usize| {
            let embedding = (0..4).map(|k| f32::from(u8::from(k == look))).collect();
            let nothing = Coefficients::new(vec![0.0; 16]).unwrap();
            AlbumPhoto::new("x", PhotoTime::at(3600.0 * hours), nothing).with_embedding(embedding, 0.0)
        };
        let camera = |ahead_h: f64| (0..4).map(|k| photo(5.0 * k as f64 + ahead_h, k)).collect::<Vec<_>>();
        let (right, wrong) = (camera(0.0), camera(8.0));
        let settings = AlbumSettings::default();
        let (there, back) = (CameraPair::of(&wrong, &right, &settings), CameraPair::of(&right, &wrong, &settings));
        let best = |fit: &dyn Fn(f64) -> f64| {
            HOURS.max_by(|a, b| fit(3600.0 * f64::from(*a)).total_cmp(&fit(3600.0 * f64::from(*b))))
        };
        assert_eq!(best(&|ahead_s| there.log_likelihood(-ahead_s)), Some(8));
        assert_eq!(best(&|ahead_s| back.log_likelihood(ahead_s)), Some(8));
    }
}
