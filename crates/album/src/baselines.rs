//! What photo managers do: a place by the nearest tag in time, or on the line between two.

use crate::photo::AlbumPhoto;
use locdiff_shdd::sphere::{LatLon, haversine_km, interpolate};

/// The places that tags of other photos give by time alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByTime {
    /// That of the tag nearest in time.
    pub nearest: LatLon,
    /// That between the tag before and the tag after, by time.
    pub interpolated: LatLon,
    /// The median of the tags within 10 km of the nearest one.
    pub median: LatLon,
}

/// By time alone, for each photo; `None` where no other photo has a tag, and for a photo without a moment. A photo's own tag does not count.
pub fn by_time(photos: &[AlbumPhoto]) -> Vec<Option<ByTime>> {
    let timed = || photos.iter().enumerate().filter(|(_, photo)| photo.time.is_moment());
    let mut tags: Vec<(f64, usize, LatLon)> =
        timed().filter_map(|(k, photo)| Some((photo.time.seconds, k, photo.gps?))).collect();
    tags.sort_by(|a, b| a.0.total_cmp(&b.0));
    let median = |nearest: LatLon, k: usize| {
        let around = tags.iter().filter(|tag| tag.1 != k && haversine_km(tag.2, nearest) < 10.0);
        let (mut lat, mut lon): (Vec<f64>, Vec<f64>) = around
            .map(|tag| (tag.2.lat_deg(), (tag.2.lon_deg() - nearest.lon_deg() + 540.0).rem_euclid(360.0)))
            .unzip();
        let middle = |list: &mut Vec<f64>| {
            list.sort_by(f64::total_cmp);
            f64::midpoint(list[(list.len() - 1) / 2], list[list.len() / 2])
        };
        let (lat, lon) = (middle(&mut lat), middle(&mut lon) - 180.0 + nearest.lon_deg());
        LatLon::new(lat, (lon + 540.0).rem_euclid(360.0) - 180.0).unwrap_or(nearest)
    };
    let one = |k: usize, photo: &AlbumPhoto| {
        let now = photo.time.is_moment().then_some(photo.time.seconds)?;
        let at = tags.partition_point(|tag| tag.0 < now);
        let before = tags[..at].iter().rev().find(|tag| tag.1 != k);
        let after = tags[at..].iter().find(|tag| tag.1 != k);
        let (first, last) = (before.or(after)?, after.or(before)?);
        let share = if last.0 > first.0 { (now - first.0) / (last.0 - first.0) } else { 0.5 };
        let between = || interpolate(first.2.to_unit(), last.2.to_unit(), share).to_latlon();
        let interpolated = if first.1 == last.1 { first.2 } else { between() };
        let nearest = if now - first.0 <= last.0 - now { first.2 } else { last.2 };
        Some(ByTime { nearest, interpolated, median: median(nearest, k) })
    };
    photos.iter().enumerate().map(|(k, photo)| one(k, photo)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_tags_time_decides() {
        let photo = |seconds: f64, lon: Option<f64>| {
            let (time, nothing) = (crate::PhotoTime::at(seconds), locdiff_shdd::Coefficients::new(vec![0.0; 4]));
            AlbumPhoto::new("x", time, nothing.unwrap()).with_gps(lon.map(|lon| LatLon::new(0.0, lon).unwrap()))
        };
        let between = by_time(&[photo(0.0, Some(10.0)), photo(30.0, None), photo(100.0, Some(20.0))])[1].unwrap();
        assert_eq!(between.nearest.lon_deg(), 10.0);
        assert!((between.interpolated.lon_deg() - 13.0).abs() < 1e-6);
    }
}
