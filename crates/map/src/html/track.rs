//! A page for an album: photos along a track, with a slider through time.

use super::page::{MapPage, More};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use locdiff_shdd::sphere::LatLon;
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
    /// Whether it is an answer rather than a guess.
    pub can_tell: bool,
    /// What is wrong with it.
    pub outlier: Option<String>,
}

/// A page with the photos of an album: on the map alone or in clusters, tagged ones, placed ones and guesses told apart; their track, a
/// slider in order of time, the radii of the chosen one, what it says and why. Everything is in the one file; nothing is loaded.
///
/// ```
/// use locdiff_map::{TrackMap, TrackPhoto};
/// use locdiff_shdd::sphere::LatLon;
/// let photo = TrackPhoto {
///     name: "a.jpg".into(), time: "12 May 2024".into(), place: LatLon::new(48.86, 2.35)?, words: "in Paris, France".into(),
///     because: "its own GPS tag".into(), radius_50_km: 0.1, radius_90_km: 0.2, is_tagged: true, can_tell: true, outlier: None,
/// };
/// let mut page = Vec::new();
/// TrackMap::new("LocDiff").photo(photo, None).write(&mut page)?;
/// assert!(String::from_utf8(page)?.contains("its own GPS tag"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
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
    #[must_use]
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
                "tagged": photo.is_tagged, "tell": photo.can_tell, "outlier": photo.outlier, "picture": length,
            })
        };
        let track: Vec<Value> = self.photos.iter().zip(&self.lengths).map(photo).collect();
        let script = concat!(include_str!("clusters.js"), include_str!("track.js"));
        let more = More { script, pictures: Some(&mut self.pictures.as_bytes()) };
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
                can_tell: false,
                outlier: Some(name.to_owned()),
            };
            let mut page = Vec::new();
            TrackMap::new(MapPage::new(name).credit(name)).photo(photo, Some(b"jpeg")).write(&mut page).unwrap();
            String::from_utf8(page).unwrap()
        };
        crate::html::page::check_names(page);
        assert!(page("x").contains("id=\"pictures\">anBlZw==</script>") && page("x").contains("\"picture\":8"));
    }
}
