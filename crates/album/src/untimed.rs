//! Photos without a moment: by their own image, with the places of the album as a weak prior. They are in no trip, and are sure only where
//! their image alone is.

use crate::prior::{Anchor, Anchors, KnownPlace, Prior};
use crate::{PhotoTime, Result, TimeSource, album::Album, cloud::Cloud, message::Message, photo::AlbumPhoto};
use crate::{answer::AlbumAnswer, likelihood::LikelihoodRatio, likeness::most_alike};
use locdiff_shdd::sphere::haversine_km;

/// Moments at which one asks where the album was, at the most.
const MOMENTS: usize = 48;
/// Photos that one is compared with at the most.
const COMPARED: usize = 512;
/// Hours of a day at which photos are taken.
const DAYLIGHT_H: [f64; 7] = [8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0];
/// No radius is longer: half of the way around.
const FARTHEST_KM: f64 = 20_015.0;

/// Where an album was at its times, for its photos without a time.
#[derive(Debug)]
pub struct AlbumPlaces {
    anchors: Anchors,
    /// Tags of photos without a time, each by itself.
    apart: Vec<Anchors>,
    /// Times of some photos.
    moments: Vec<f64>,
    /// Some photos, to compare others with.
    photos: Vec<AlbumPhoto>,
}

impl AlbumPlaces {
    /// Of an album's photos, and what is known of other times.
    pub fn of(photos: &[AlbumPhoto], known: &[KnownPlace]) -> Self {
        let anchor = |photo: &AlbumPhoto| {
            let (at, deviation_km, _) = photo.fix(0.0, 0.0)?;
            let (time_s, place) = (photo.time.seconds, at.to_unit());
            Some(Anchor { time_s, place, deviation_km, of: None, camera: None })
        };
        let (timed, rest): (Vec<&AlbumPhoto>, Vec<_>) = photos.iter().partition(|photo| photo.time.is_moment());
        let tags = timed.iter().filter_map(|photo| anchor(photo)).chain(known.iter().map(KnownPlace::anchor));
        let every = |most: usize, count: usize| count.div_ceil(most).max(1);
        let times = timed.iter().map(|photo| photo.time.seconds).step_by(every(MOMENTS, timed.len()));
        let members = photos.iter().filter(|photo| photo.time.is_moment() || photo.is_placed());
        Self {
            anchors: Anchors::new(tags.collect()),
            apart: rest.iter().filter_map(|photo| Some(Anchors::new(vec![anchor(photo)?]))).take(MOMENTS).collect(),
            moments: times.collect(),
            photos: members.cloned().step_by(every(COMPARED, photos.len())).collect(),
        }
    }

    /// Where a photo that `belongs` to the album with a probability may be: a mixture over the times that it may be of. `None` where no place
    /// is known.
    fn prior(&self, time: &PhotoTime, belongs: f64) -> Option<Prior> {
        let of_day = DAYLIGHT_H.map(|hour| time.seconds + 3600.0 * hour);
        let moments = if time.source == TimeSource::Day { &of_day[..] } else { &self.moments };
        let by_time = moments.iter().filter_map(|moment| self.anchors.prior(*moment, None));
        let all: Vec<Prior> =
            by_time.chain(self.apart.iter().filter_map(|tag| tag.prior(tag.all()[0].time_s, None))).collect();
        let share = belongs / all.len() as f64;
        let anywhere = 1.0 - belongs + share * all.iter().map(|prior| prior.anywhere).sum::<f64>();
        let mut blobs: Vec<_> = all.into_iter().flat_map(|prior| prior.blobs).collect();
        blobs.iter_mut().for_each(|blob| blob.mass *= share);
        (!blobs.is_empty()).then_some(Prior { blobs, anywhere })
    }
}

impl Album {
    /// The answer for a photo without a moment, from what it answers `alone` and the album's places. A place that is known of it stays. The
    /// radius that holds 90 % is never smaller than by its image alone. Fails as [`Album::answers`].
    pub fn untimed(&self, photo: &AlbumPhoto, alone: AlbumAnswer, places: &AlbumPlaces) -> Result<AlbumAnswer> {
        if photo.is_placed() || !photo.soft.is_empty() {
            return Ok(alone);
        }
        let (even, slope) = self.settings.untimed;
        let alike = most_alike(photo, places.photos.iter().filter(|other| !other.embedding.is_empty()));
        let alike = alike.filter(|_| !photo.embedding.is_empty());
        let log_odds = even + alike.map_or(0.0, |(_, cosine)| slope * (cosine - 0.5));
        let belongs = 1.0 / (1.0 + (-log_odds).exp());
        let time = photo.time.text().map_or("no time".to_owned(), |day| format!("no time but the day {day}"));
        let Some(prior) = places.prior(&photo.time, belongs) else {
            return Ok(AlbumAnswer { because: format!("{time}: its own picture alone"), ..alone });
        };
        let mut place = Message::of_prior(prior, &self.earth)?;
        let own = LikelihoodRatio::of(photo, (1.0, 0.0), &self.earth, &self.calibration)?;
        place.apply_likelihood(&own, 0.0, &self.earth);
        place.normalise(&self.earth);
        let mut answer = self.read_cloud(photo, &Cloud::of(&place, &self.earth));
        answer.moved_km = haversine_km(answer.best, alone.best);
        let by_itself = (alone.radius_90_km + answer.moved_km).min(FARTHEST_KM);
        answer.answer.radius_90_km = answer.radius_90_km.max(by_itself);
        answer.answer.can_tell &= alone.can_tell && answer.locatability >= self.settings.can_tell_from;
        answer.alone = Some(alone.best);
        answer.elsewhere = 1.0 - belongs;
        answer.because = format!("{time}: its own picture; the locations of the album count a little");
        answer.alone_log_density = alone.alone_log_density;
        Ok(answer)
    }
}
