//! Knowledge about an album in addition to its photos: logs of positions, stated places, videos.

use crate::{AlbumOptions, StatedPlace, error::Result};
use locdiff_album::{Album, AlbumPhoto, KnownPlace, SoftPlace, Track, WrongClock, parse_time, set_clocks};
use locdiff_base::setting;
use locdiff_map::places::{Countries, Region, find_place};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};

/// Countries smaller than this are a place with a size, km².
const SMALL_KM2: f64 = 40_000.0;
/// How well a stated point is known, km.
const POINT_KM: f64 = 1.0;

/// A stated place with its time: from, to, and whether they are of UTC.
type Stated = ([Option<(f64, bool)>; 2], SoftPlace);

pub(crate) struct AlbumKnowledge {
    track: Option<Track>,
    stated: Vec<Stated>,
}

impl AlbumKnowledge {
    pub(crate) fn of(options: &AlbumOptions, album: &Album) -> Result<Self> {
        let track = options.track()?;
        let stated = options.places.iter().map(|stated| stated_place(stated, album)).collect::<Result<_, _>>()?;
        Ok(Self { track, stated })
    }

    /// Sets clocks by the log, unless its offset is given.
    pub(crate) fn set_clocks(
        &self,
        photos: &mut [AlbumPhoto],
        options: &AlbumOptions,
        album: &Album,
    ) -> Result<Vec<WrongClock>> {
        let Some(track) = self.track.as_ref().filter(|_| options.track_offset_s.is_none()) else {
            return Ok(Vec::new());
        };
        let wrong = album.clocks_by_track(photos, track)?;
        set_clocks(photos, &wrong);
        Ok(wrong)
    }

    /// Positions of the log around the photos, as places known of other times.
    pub(crate) fn known(&self, photos: &[AlbumPhoto]) -> Vec<KnownPlace> {
        let Some(track) = &self.track else { return Vec::new() };
        let times = || photos.iter().filter(|photo| photo.time.is_moment()).map(|photo| photo.time.seconds);
        let (first, last) = (times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max));
        track.known(&(first..=last), "a point of the track")
    }

    /// Gives each photo what is known of its time.
    pub(crate) fn give(&self, photos: &mut [AlbumPhoto]) {
        for photo in photos {
            let track = self.track.as_ref().filter(|_| photo.time.is_moment());
            photo.track = track.and_then(|track| track.at(photo.time.seconds));
            let span = photo.time.span();
            let ahead_s = |is_utc: bool| if is_utc || photo.time.is_utc { 0.0 } else { photo.time.ahead_s };
            let holds = |[from, to]: &[Option<(f64, bool)>; 2]| {
                from.is_none_or(|(from, is_utc)| span.start() + ahead_s(is_utc) >= from)
                    && to.is_none_or(|(to, is_utc)| span.end() + ahead_s(is_utc) <= to)
            };
            photo.soft = self.stated.iter().filter(|(span, _)| holds(span)).map(|(_, soft)| soft.clone()).collect();
        }
    }
}

fn stated_place(stated: &StatedPlace, album: &Album) -> Result<Stated> {
    const DAY_S: f64 = 86_400.0;
    let time = |text: Option<&str>, is_end: bool| -> Result<Option<(f64, bool)>> {
        let Some(text) = text else { return Ok(None) };
        let (seconds, is_utc) = parse_time(text, None)?;
        let is_day = text.trim().len() <= 10 && text.trim().parse::<f64>().is_err();
        Ok(Some((if is_end && is_day { seconds + DAY_S } else { seconds }, is_utc)))
    };
    let span = [time(stated.from.as_deref(), false)?, time(stated.to.as_deref(), true)?];
    if let [Some((from, _)), Some((to, _))] = span
        && from > to
    {
        let texts = [&stated.from, &stated.to].map(|text| text.as_deref().unwrap_or_default());
        return Err(setting("the time of a place", texts.join(" to "), "it ends before it begins"));
    }
    let soft = soft_place(&stated.place, album);
    soft.map(|soft| (span, soft)).map_err(|error| setting("place", &stated.place, error.to_string()))
}

fn soft_place(text: &str, album: &Album) -> Result<SoftPlace> {
    let is_country = Countries::bundled().find(text).is_ok();
    let found = if is_country { Ok(None) } else { find_place(text) };
    // A region goes before a town that is also called so, not before one whose own name it is.
    let region = match (found, Region::in_words(text)) {
        (Ok(Some(place)), region) if place.is_own_name || region.is_err() => {
            let is_town = place.radius_km > POINT_KM;
            return Ok(SoftPlace::Around(place.at, if is_town { place.radius_km.max(5.0) + 5.0 } else { POINT_KM }));
        }
        (Err(several), Err(_)) => return Err(several.into()),
        (_, region) => region?,
    };
    let area_km2: f64 = region.polygons().iter().map(|polygon| polygon.area_km2().abs()).sum();
    let corners = || {
        let all = region.polygons().iter().flat_map(|polygon| &polygon.outer);
        all.filter_map(|[lon, lat]| LatLon::new(*lat, *lon).ok()).map(LatLon::to_unit)
    };
    let sum = corners().map(UnitVec::to_array).fold([0.0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
    match UnitVec::new(sum[0], sum[1], sum[2]) {
        Ok(middle) if area_km2 < SMALL_KM2 => {
            let km = corners().map(|corner| corner.angle_rad(middle) * EARTH_RADIUS_KM).fold(0.0, f64::max);
            Ok(SoftPlace::Around(middle.to_latlon(), (0.6 * km).clamp(1.0, 200.0)))
        }
        _ => Ok(album.within(region)),
    }
}
