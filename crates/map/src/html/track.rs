//! A page for an album: photos along a track, with a slider through time.

use super::page::{MapPage, More};
use locdiff_sphere::LatLon;
use serde_json::{Value, json};
use std::io::{self, Write};

/// One photo of a track.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackPhoto {
    /// Its file's name.
    pub name: String,
    /// When, in words.
    pub time: String,
    /// Where it was taken, most likely.
    pub place: LatLon,
    /// That in words.
    pub words: String,
    /// Why.
    pub because: String,
    /// Half of the probability lies within.
    pub radius_50_km: f64,
    /// Nine tenths of the probability lie within.
    pub radius_90_km: f64,
    /// Whether it has a GPS tag of its own.
    pub is_tagged: bool,
    /// What is wrong with it.
    pub outlier: Option<String>,
}

/// A page with the track of an album: a slider through the photos in order of time, the radii of the chosen one, what it says and
/// why. Everything is in the one file; nothing is loaded.
///
/// ```
/// use locdiff_map::{TrackMap, TrackPhoto};
/// use locdiff_sphere::LatLon;
/// let photo = TrackPhoto {
///     name: "a.jpg".into(), time: "12 May 2024".into(), place: LatLon::new(48.86, 2.35)?, words: "in Paris, France".into(),
///     because: "its own GPS tag".into(), radius_50_km: 0.1, radius_90_km: 0.2, is_tagged: true, outlier: None,
/// };
/// let mut page = Vec::new();
/// TrackMap::new("LocDiff").photo(photo).write(&mut page)?;
/// assert!(String::from_utf8(page)?.contains("its own GPS tag"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TrackMap {
    page: MapPage,
    photos: Vec<TrackPhoto>,
}

impl TrackMap {
    /// A page without photos yet.
    pub fn new(page: impl Into<MapPage>) -> Self {
        Self { page: page.into(), photos: Vec::new() }
    }

    /// Adds a photo; they come in order of time.
    #[must_use]
    pub fn photo(mut self, photo: TrackPhoto) -> Self {
        self.photos.push(photo);
        self
    }

    /// Writes the page.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let fine = |degrees: f64| (degrees * 1e6).round() / 1e6;
        let photo = |photo: &TrackPhoto| -> Value {
            json!({
                "name": photo.name, "time": photo.time, "words": photo.words, "because": photo.because,
                "lon": fine(photo.place.lon_deg()), "lat": fine(photo.place.lat_deg()),
                "r50": (photo.radius_50_km * 100.0).round() / 100.0, "r90": (photo.radius_90_km * 100.0).round() / 100.0,
                "tagged": photo.is_tagged, "outlier": photo.outlier,
            })
        };
        let track: Vec<Value> = self.photos.iter().map(photo).collect();
        let more = More { script: include_str!("track.js"), pictures: None };
        self.page.write(out, json!({ "ramp": [], "photos": [], "track": track }), Some(more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_text_and_nothing_is_loaded() {
        let page = |name: &str| {
            let photo = TrackPhoto {
                name: name.to_owned(),
                time: name.to_owned(),
                place: LatLon::new(1.0, 2.0).unwrap(),
                words: name.to_owned(),
                because: name.to_owned(),
                radius_50_km: 1.0,
                radius_90_km: 2.0,
                is_tagged: false,
                outlier: Some(name.to_owned()),
            };
            let mut page = Vec::new();
            TrackMap::new(MapPage::new(name).credit(name)).photo(photo).write(&mut page).unwrap();
            String::from_utf8(page).unwrap()
        };
        crate::html::page::check_names(page);
    }
}
