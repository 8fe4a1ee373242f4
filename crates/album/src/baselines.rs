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

/// By time alone, for each photo; `None` where no other photo has a tag. A photo's own tag does not count.
///
/// ```
/// use locdiff_album::{AlbumPhoto, PhotoTime, by_time};
/// use locdiff_shdd::Coefficients;
/// use locdiff_shdd::sphere::LatLon;
/// let photo = |seconds: f64, lon: Option<f64>| {
///     let gps = lon.map(|lon| LatLon::new(0.0, lon).unwrap());
///     AlbumPhoto::new("x", PhotoTime::at(seconds), Coefficients::new(vec![0.0; 4]).unwrap()).with_gps(gps)
/// };
/// let found = by_time(&[photo(0.0, Some(10.0)), photo(30.0, None), photo(100.0, Some(20.0))]);
/// let between = found[1].unwrap();
/// assert_eq!(between.nearest.lon_deg(), 10.0);
/// assert!((between.interpolated.lon_deg() - 13.0).abs() < 1e-6);
/// ```
pub fn by_time(photos: &[AlbumPhoto]) -> Vec<Option<ByTime>> {
    let mut tags: Vec<(f64, usize, LatLon)> =
        photos.iter().enumerate().filter_map(|(k, photo)| Some((photo.time.seconds, k, photo.gps?))).collect();
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
        let now = photo.time.seconds;
        let at = tags.partition_point(|tag| tag.0 < now);
        let before = tags[..at].iter().rev().find(|tag| tag.1 != k);
        let after = tags[at..].iter().find(|tag| tag.1 != k);
        match (before, after) {
            (Some(a), Some(b)) => {
                let share = if b.0 > a.0 { (now - a.0) / (b.0 - a.0) } else { 0.5 };
                let between = interpolate(a.2.to_unit(), b.2.to_unit(), share).to_latlon();
                let nearest = if now - a.0 <= b.0 - now { a.2 } else { b.2 };
                Some(ByTime { nearest, interpolated: between, median: median(nearest, k) })
            }
            (Some(only), None) | (None, Some(only)) => {
                Some(ByTime { nearest: only.2, interpolated: only.2, median: median(only.2, k) })
            }
            (None, None) => None,
        }
    };
    photos.iter().enumerate().map(|(k, photo)| one(k, photo)).collect()
}
