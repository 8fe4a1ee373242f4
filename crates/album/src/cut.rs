//! The trips of an album, each with the tags next to it, and their answers.

use crate::trips::{TRIP_PAUSE_S, TripStop, beside, trips};
use crate::{AlbumAnswer, AlbumError, album::Album, known::KnownPlace, photo::AlbumPhoto};
use locdiff_shdd::sphere::LatLon;

/// A trip: positions of its photos in order of time, and the tags of other trips next to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trip {
    /// Its photos.
    pub members: Vec<usize>,
    /// The tags of other trips next to it: they count as they did before the cut.
    pub known: Vec<KnownPlace>,
}

/// The trips of an album, or all of it as one.
pub fn cut(photos: &[AlbumPhoto], is_one: bool) -> Vec<Trip> {
    if is_one {
        return vec![Trip { members: (0..photos.len()).collect(), known: Vec::new() }];
    }
    // How far people are from tags was fitted to tags: their error is in it.
    let known = |photo: &AlbumPhoto| {
        let (name, time_s, embedding) = (photo.name.clone(), photo.time.seconds, photo.embedding.clone());
        Some(KnownPlace { name, time_s, at: photo.gps?, deviation_km: 0.0, embedding })
    };
    let mut tags: Vec<KnownPlace> = photos.iter().filter_map(known).collect();
    tags.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    let time_s = |k: Option<&usize>| k.map_or(0.0, |k| photos[*k].time.seconds);
    let trip = |members: Vec<usize>| {
        let known = beside(&tags, &(time_s(members.first())..=time_s(members.last()))).cloned().collect();
        Trip { members, known }
    };
    trips(&photos.iter().map(stop).collect::<Vec<_>>(), TRIP_PAUSE_S).into_iter().map(trip).collect()
}

fn stop(photo: &AlbumPhoto) -> TripStop<'_> {
    TripStop { time_s: photo.time.seconds, place: photo.gps, camera: photo.camera.as_deref() }
}

impl Album {
    /// Answers as [`Album::answers`] gives them, trip by trip, and for each photo its place by the tags of the others and how people travel
    /// alone, whatever the photos look like; `None` where there are no other tags.
    ///
    /// # Errors
    /// As [`Album::answers`].
    pub fn answers_in_trips(
        &self,
        photos: &[AlbumPhoto],
        truths: &[LatLon],
    ) -> Result<Vec<(AlbumAnswer, Option<LatLon>)>, AlbumError> {
        let mut found: Vec<Option<(AlbumAnswer, Option<LatLon>)>> = vec![None; photos.len()];
        for Trip { members, known } in cut(photos, false) {
            let own: Vec<AlbumPhoto> = members.iter().map(|k| photos[*k].clone()).collect();
            let places: Vec<LatLon> = members.iter().filter_map(|k| truths.get(*k).copied()).collect();
            let answers = self.answers_knowing(&own, &known, &places, |_| ())?;
            for (k, both) in members.into_iter().zip(answers.into_iter().zip(self.by_travel(&own, &known)?)) {
                found[k] = Some(both);
            }
        }
        Ok(found.into_iter().flatten().collect())
    }
}
