//! The trips of an album, each with the tags next to it.

use locdiff_album::{AlbumPhoto, KnownPlace, TRIP_PAUSE_S, TripStop, beside, trips};

/// A trip: positions of its photos in order of time, and the tags of other trips next to it.
pub(crate) struct Trip {
    pub(crate) members: Vec<usize>,
    pub(crate) known: Vec<KnownPlace>,
}

/// The trips of an album, or all of it as one.
pub(crate) fn cut(photos: &[AlbumPhoto], is_one: bool, gps_km: f64) -> Vec<Trip> {
    if is_one {
        return vec![Trip { members: (0..photos.len()).collect(), known: Vec::new() }];
    }
    let known = |photo: &AlbumPhoto| {
        let (name, time_s) = (photo.name.clone(), photo.time.seconds);
        Some(KnownPlace { name, time_s, at: photo.gps?, deviation_km: gps_km })
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
