//! An album that was read, to be placed again and again while somebody corrects it.

use crate::pipeline::Read;
use locdiff_album::{AlbumAnswer, AlbumPhoto, KnownPlace, Track, WrongClock};
use locdiff_shdd::sphere::{LatLon, interpolate};
use std::{collections::BTreeMap, collections::HashMap, hash::DefaultHasher, hash::Hash, hash::Hasher};

/// Places that are known better than this count as GPS tags, km.
const AS_TAG_KM: f64 = 5.0;

pub(crate) struct ReadAlbum {
    pub(crate) read: Vec<Read>,
    /// The same as an album sees them; none for those that cannot be read.
    pub(crate) photos: Vec<Option<AlbumPhoto>>,
}

pub(crate) struct PlacedAlbum {
    pub(crate) answers: Vec<Option<AlbumAnswer>>,
    pub(crate) clocks: Vec<WrongClock>,
}

/// Caches the answers of trips by everything known about them. If nothing changed, a trip is not placed again.
#[derive(Default)]
pub(crate) struct PlacedTrips {
    last: HashMap<u64, Vec<AlbumAnswer>>,
    now: HashMap<u64, Vec<AlbumAnswer>>,
}

impl PlacedTrips {
    /// From now on trips that are not met again are forgotten.
    pub(crate) fn begin(&mut self) {
        self.last = std::mem::take(&mut self.now);
    }

    /// The answers for photos of these numbers, computed again only if something else is known now.
    pub(crate) fn answers<E>(
        &mut self,
        numbers: &[usize],
        photos: &[AlbumPhoto],
        known: &[KnownPlace],
        make: impl FnOnce() -> Result<Vec<AlbumAnswer>, E>,
    ) -> Result<Vec<AlbumAnswer>, E> {
        let mut hasher = DefaultHasher::new();
        numbers.hash(&mut hasher);
        for photo in photos {
            let AlbumPhoto { time, camera, gps, track, soft, .. } = photo;
            format!("{time:?} {camera:?} {gps:?} {track:?} {soft:?}").hash(&mut hasher);
        }
        format!("{known:?}").hash(&mut hasher);
        let key = hasher.finish();
        let found = self.last.remove(&key).map_or_else(make, Ok)?;
        self.now.insert(key, found.clone());
        Ok(found)
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct AlbumChanges {
    /// Stated locations of photos, by number, with a radius in km. Such a location counts as a GPS tag.
    pub(crate) places: BTreeMap<usize, (LatLon, f64)>,
    /// How far the clocks of cameras are ahead; `None` to find it.
    pub(crate) clocks: Option<Vec<WrongClock>>,
}

impl AlbumChanges {
    /// Gives photos the places that are as good as a tag.
    pub(crate) fn tag(&self, photos: &mut [Option<AlbumPhoto>]) {
        for (k, (at, radius_km)) in &self.places {
            if let Some(photo) = photos.get_mut(*k).and_then(Option::as_mut).filter(|_| *radius_km <= AS_TAG_KM) {
                photo.gps = Some(*at);
            }
        }
    }

    /// Gives the `members` of an album the rougher ones, as a log of positions would.
    pub(crate) fn place_roughly(&self, photos: &mut [AlbumPhoto], members: &[usize]) {
        for (photo, k) in photos.iter_mut().zip(members) {
            if let Some((at, radius_km)) = self.places.get(k).filter(|(_, radius_km)| *radius_km > AS_TAG_KM) {
                // Nine in ten within the radius, by two Gaussian axes.
                photo.track = Some((*at, radius_km / 2.146));
            }
        }
    }
}

impl ReadAlbum {
    /// The cameras, by how many photos each has; photos without a known time are left out.
    pub(crate) fn cameras(&self) -> BTreeMap<&str, usize> {
        let mut found = BTreeMap::new();
        for photo in self.timed() {
            *found.entry(camera(photo.1)).or_default() += 1;
        }
        found
    }

    /// Returns the locations of a camera's photos by time alone if its clock were `ahead_s` seconds ahead. The log decides, or else the way
    /// between the `known` locations of other cameras' photos. Fast enough for a slider.
    pub(crate) fn along(
        &self,
        of: &str,
        ahead_s: f64,
        known: &BTreeMap<usize, LatLon>,
        clocks: &[WrongClock],
        track: Option<&Track>,
    ) -> Vec<(usize, LatLon)> {
        let set = |name: &str| clocks.iter().find(|clock| clock.camera == name).map_or(0.0, |clock| clock.ahead_s);
        let others = self.timed().filter(|(_, photo)| camera(photo) != of);
        let mut stops: Vec<(f64, LatLon)> =
            others.filter_map(|(k, photo)| Some((photo.time.seconds - set(camera(photo)), *known.get(&k)?))).collect();
        stops.sort_by(|a, b| a.0.total_cmp(&b.0));
        let own = self.timed().filter(|(_, photo)| camera(photo) == of);
        own.filter_map(|(k, photo)| {
            let time_s = photo.time.seconds - ahead_s;
            let logged = track.and_then(|track| track.at(time_s)).map(|(at, _)| at);
            Some((k, logged.or_else(|| between(&stops, time_s))?))
        })
        .collect()
    }

    fn timed(&self) -> impl Iterator<Item = (usize, &AlbumPhoto)> {
        let all = self.photos.iter().enumerate().filter_map(|(k, photo)| Some((k, photo.as_ref()?)));
        all.filter(|(_, photo)| photo.time.is_moment())
    }
}

fn camera(photo: &AlbumPhoto) -> &str {
    photo.camera.as_deref().unwrap_or_default()
}

/// The place on the way between stops in order of time.
fn between(stops: &[(f64, LatLon)], time_s: f64) -> Option<LatLon> {
    let next = stops.partition_point(|stop| stop.0 <= time_s);
    match (next.checked_sub(1).map(|k| stops[k]), stops.get(next)) {
        (Some((from_s, from)), Some((to_s, to))) => {
            let part = (time_s - from_s) / (to_s - from_s).max(1e-3);
            Some(interpolate(from.to_unit(), to.to_unit(), part).to_latlon())
        }
        (before, after) => before.or(after.copied()).map(|(_, at)| at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_album::PhotoTime;
    use locdiff_shdd::Coefficients;

    fn album(photos: &[(&str, f64)]) -> ReadAlbum {
        let photo = |(camera, seconds): &(&str, f64)| {
            let evidence = Coefficients::new(vec![0.0; 4]).unwrap();
            let photo = AlbumPhoto::new("x", PhotoTime::at(*seconds), evidence);
            Some(photo.with_camera(Some((*camera).to_owned())))
        };
        ReadAlbum { read: Vec::new(), photos: photos.iter().map(photo).collect() }
    }

    #[test]
    fn photos_of_a_camera_go_along_the_others_as_its_clock_is_moved() {
        let album = album(&[("a", 0.0), ("b", 3600.0), ("a", 3600.0), ("b", 9000.0)]);
        assert_eq!(album.cameras(), BTreeMap::from([("a", 2), ("b", 2)]));
        let at = |lon| LatLon::new(0.0, lon).unwrap();
        let known = BTreeMap::from([(0, at(10.0)), (2, at(20.0)), (1, at(77.0))]);
        let lons = |ahead_s: f64| -> Vec<f64> {
            let found = album.along("b", ahead_s, &known, &[], None);
            found.iter().map(|(_, at)| (1e6 * at.lon_deg()).round() / 1e6).collect()
        };
        assert_eq!(lons(0.0), [20.0, 20.0], "the second is after all others");
        assert_eq!(lons(1800.0), [15.0, 20.0]);
        assert_eq!(lons(7200.0), [10.0, 15.0]);
        assert!(album.along("b", 0.0, &BTreeMap::new(), &[], None).is_empty());
    }

    #[test]
    fn a_trip_is_placed_again_where_something_changed() {
        let photos: Vec<AlbumPhoto> = album(&[("a", 0.0), ("a", 60.0)]).photos.into_iter().flatten().collect();
        let (mut trips, mut made) = (PlacedTrips::default(), 0);
        let mut ask = |photos: &[AlbumPhoto], known: &[KnownPlace]| {
            trips.begin();
            let make = || {
                made += 1;
                Ok::<_, ()>(Vec::new())
            };
            trips.answers(&[0, 1], photos, known, make).unwrap();
            made
        };
        let at = LatLon::new(1.0, 2.0).unwrap();
        let known = KnownPlace { name: "x".to_owned(), time_s: 9.0, at, deviation_km: 1.0, embedding: Vec::new() };
        assert_eq!([ask(&photos, &[]), ask(&photos, &[])], [1, 1], "nothing changed");
        let mut moved = photos.clone();
        moved[1].gps = Some(at);
        assert_eq!([ask(&moved, &[]), ask(&moved, std::slice::from_ref(&known))], [2, 3]);
        moved[0].time.seconds += 1.0;
        assert_eq!([ask(&moved, &[known]), ask(&photos, &[])], [4, 5], "what was not met is forgotten");
    }

    #[test]
    fn a_place_by_hand_is_a_tag_where_it_is_well_known() {
        let mut photos = album(&[("a", 0.0), ("a", 1.0)]).photos;
        let at = LatLon::new(1.0, 2.0).unwrap();
        let changes =
            AlbumChanges { places: BTreeMap::from([(0, (at, 0.2)), (1, (at, 30.0)), (9, (at, 1.0))]), clocks: None };
        changes.tag(&mut photos);
        let mut own: Vec<AlbumPhoto> = photos.into_iter().flatten().collect();
        changes.place_roughly(&mut own, &[0, 1]);
        assert_eq!((own[0].gps, own[0].track, own[1].gps), (Some(at), None, None));
        assert!((own[1].track.unwrap().1 - 13.98).abs() < 0.01);
    }
}
