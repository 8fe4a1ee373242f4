//! A page for an album: photos along a track, with a slider through time.

use super::page::{MapPage, More};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use locdiff_shdd::sphere::LatLon;
use serde_json::{Value, json};
use std::io::{self, Write};

/// One photo of a track: its time and place in words, why there, and the radii that hold 50 % and 90 % of the mass.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct TrackPhoto {
    pub name: String,
    pub time: String,
    pub place: LatLon,
    pub words: String,
    pub because: String,
    pub radius_50_km: f64,
    pub radius_90_km: f64,
    pub is_tagged: bool,
    pub can_tell: bool,
    pub is_timed: bool,
    pub outlier: Option<String>,
}

/// A page with the photos of an album: on the map alone or in clusters, tagged ones, placed ones and guesses in different marks; their track, a
/// slider in order of time, the radii of the chosen one, its answer and why. Everything is in the one file; nothing is loaded.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct TrackMap {
    page: MapPage,
    photos: Vec<TrackPhoto>,
    /// Small pictures in base64, one after the other, and the characters of each; 0 where there is none.
    pictures: String,
    lengths: Vec<usize>,
}

impl TrackMap {
    /// A page without photos yet.
    pub fn new(page: impl Into<MapPage>) -> Self {
        Self { page: page.into(), photos: Vec::new(), pictures: String::new(), lengths: Vec::new() }
    }

    /// Adds a photo, with a small JPEG of it where there is one; they come in order of time.
    pub fn photo(mut self, photo: TrackPhoto, jpeg: Option<&[u8]>) -> Self {
        let before = self.pictures.len();
        BASE64.encode_string(jpeg.unwrap_or_default(), &mut self.pictures);
        self.lengths.push(self.pictures.len() - before);
        self.photos.push(photo);
        self
    }

    /// Writes the page. Fails if it cannot be written.
    pub fn write<W: Write>(&self, out: &mut W) -> io::Result<()> {
        let fine = |degrees: f64| (degrees * 1e6).round() / 1e6;
        let photo = |(photo, length): (&TrackPhoto, &usize)| -> Value {
            json!({
                "name": photo.name, "time": photo.time, "words": photo.words, "because": photo.because,
                "lon": fine(photo.place.lon_deg()), "lat": fine(photo.place.lat_deg()),
                "r50": (photo.radius_50_km * 100.0).round() / 100.0, "r90": (photo.radius_90_km * 100.0).round() / 100.0,
                "tagged": photo.is_tagged, "tell": photo.can_tell, "timed": photo.is_timed, "outlier": photo.outlier, "picture": length,
            })
        };
        let track: Vec<Value> = self.photos.iter().zip(&self.lengths).map(photo).collect();
        let script = concat!(include_str!("clusters.js"), include_str!("track.js"));
        let more = More { script, pictures: &mut self.pictures.as_bytes() };
        self.page.write(out, json!({ "ramp": [], "photos": [], "track": track }), Some(more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_text_and_nothing_is_loaded() {
        let page = |name: &str| {
            let text = || name.to_owned();
            let (place, outlier) = (LatLon::new(1.0, 2.0).unwrap(), Some(text()));
            let (name, time, words, because) = (text(), text(), text(), text());
            let (radius_50_km, radius_90_km, is_tagged, can_tell) = (1.0, 2.0, false, false);
            let photo = TrackPhoto {
                name,
                time,
                place,
                words,
                because,
                radius_50_km,
                radius_90_km,
                is_tagged,
                can_tell,
                is_timed: true,
                outlier,
            };
            let mut page = Vec::new();
            let base = MapPage::new(&photo.name).credit(&photo.name);
            TrackMap::new(base).photo(photo, Some(b"jpeg")).write(&mut page).unwrap();
            String::from_utf8(page).unwrap()
        };
        crate::html::page::check_names(page);
        assert!(page("x").contains("id=\"pictures\">anBlZw==</script>") && page("x").contains("\"picture\":8"));
    }
}
