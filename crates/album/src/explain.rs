//! Why an answer is what it is, in one sentence.

use crate::settings::AlbumSettings;
use crate::{chain::PhotoPosterior, likeness::most_alike, likeness::odds_of, photo::AlbumPhoto};
use locdiff_base::distance;
use locdiff_shdd::sphere::{LatLon, haversine_km};

/// A time in words.
pub(crate) fn duration(seconds: f64) -> String {
    let (number, unit) = match seconds.abs() {
        s if s < 90.0 => (s, "second"),
        s if s < 5400.0 => (s / 60.0, "minute"),
        s if s < 172_800.0 => (s / 3600.0, "hour"),
        s => (s / 86_400.0, "day"),
    };
    let number = number.round();
    format!("{number} {unit}{}", if number == 1.0 { "" } else { "s" })
}

/// The sentence. `tags` are the nearest tagged photos before and after in time.
pub(crate) fn because(
    photo: &AlbumPhoto,
    posterior: &PhotoPosterior,
    (place, alone): (LatLon, LatLon),
    tags: &[&AlbumPhoto],
    settings: &AlbumSettings,
) -> String {
    if let Some(gps) = photo.gps
        && posterior.wrong_tag < 0.5
    {
        return format!("its own GPS tag, {} from here", distance(haversine_km(gps, place)));
    }
    if let Some((at, deviation_km)) = photo.track.filter(|_| photo.gps.is_none() && posterior.wrong_tag < 0.5) {
        let (km, sure) = (distance(haversine_km(at, place)), distance(2.0 * deviation_km));
        return format!("the track has it {km} from here, to within {sure}");
    }
    let moved = haversine_km(place, alone);
    let near: Vec<_> = tags.iter().filter(|tag| tag.gps.is_some_and(|gps| haversine_km(gps, place) < 50.0)).collect();
    let alike = most_alike(photo, near.iter().map(|tag| **tag)).filter(|_| !photo.embedding.is_empty());
    // The next in time, but rather one that lies where the answer does.
    let nearest = near.iter().min_by(|a, b| {
        let km = |tag: &AlbumPhoto| tag.gps.map_or(0.0, |gps| haversine_km(gps, place));
        let gap = |tag: &AlbumPhoto| (tag.time.seconds - photo.time.seconds).abs();
        (gap(a) * (1.0 + km(a))).total_cmp(&(gap(b) * (1.0 + km(b))))
    });
    if let Some(tag) = nearest {
        let gap = photo.time.seconds - tag.time.seconds;
        let when = if gap < 0.0 { "before" } else { "after" };
        let km = tag.gps.map_or(0.0, |gps| haversine_km(gps, place));
        let looks = match alike {
            Some((other, cosine)) if odds_of(cosine, settings) > 0.7 && std::ptr::eq(other, **tag) => {
                ", and looks like it"
            }
            _ => "",
        };
        let (gap, km, name) = (duration(gap), distance(km), &tag.name);
        return format!("{gap} {when} {name}, which has a GPS tag {km} away{looks}");
    }
    if let Some(alike) = posterior.alike.filter(|alike| alike.log_odds > 0.0) {
        let km = alike.place.centre.angle_rad(place.to_unit()) * locdiff_shdd::sphere::EARTH_RADIUS_KM;
        if km < 5.0 {
            return format!("it looks like photos with a GPS tag {} away", distance(km));
        }
    }
    if posterior.stray > 0.5 {
        return "its own picture: it does not fit the photos around it".to_owned();
    }
    if moved > 50.0 && photo.soft.iter().any(|soft| soft.holds(place)) {
        return format!("the location stated for its time; alone it would be {} away", distance(moved));
    }
    if moved > 50.0 {
        return format!("the photos around it in time point here; alone it would be {} away", distance(moved));
    }
    "its own picture; the photos around it agree".to_owned()
}
