//! A page for any number of photos: points in clusters, small pictures, a filter.

use super::{HtmlPhoto, heat_image::css_ramp, page::MapPage, page::More};
use crate::label::rounded;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use locdiff_shdd::sphere::LatLon;
use serde_json::{Value, json};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// One photo of a crowd: its file, where it was taken most likely and in words, the radii that hold half and nine tenths of
/// the probability, how sure the answer is (0 to 1), whether it is an answer rather than a guess, and whether the place is the
/// photo's own GPS tag.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it all")]
pub struct CrowdPhoto {
    pub name: String,
    pub place: LatLon,
    pub words: String,
    pub radius_50_km: f64,
    pub radius_90_km: f64,
    pub confidence: f64,
    pub can_tell: bool,
    pub is_tagged: bool,
}

impl CrowdPhoto {
    /// A photo at a place, of which nothing else is known.
    pub fn new(name: &str, place: LatLon, words: &str) -> Self {
        let (name, words) = (name.to_owned(), words.to_owned());
        let (radius_50_km, radius_90_km, confidence) = (0.0, 0.0, 1.0);
        Self { name, place, words, radius_50_km, radius_90_km, confidence, can_tell: true, is_tagged: false }
    }
}

/// A page of thousands of photos on one map: clusters, a list with small pictures, a filter by confidence and by words; of a
/// chosen photo its density, or circles where it has none.
/// Pictures go to `spool` as they come, so memory stays small. The page decodes each when it is shown.
#[derive(Debug)]
pub struct CrowdMap<S> {
    page: MapPage,
    photos: Vec<CrowdPhoto>,
    /// Characters of each picture in the spool; 0 where there is none.
    lengths: Vec<usize>,
    /// The density of each photo, if it is shown.
    details: Vec<Value>,
    spool: S,
}

impl<S: Read + Write + Seek> CrowdMap<S> {
    /// A page without photos yet. `spool` is empty, and this page's alone.
    pub fn new(page: impl Into<MapPage>, spool: S) -> Self {
        Self { page: page.into(), photos: Vec::new(), lengths: Vec::new(), details: Vec::new(), spool }
    }

    /// Adds a photo with a small picture of it, a JPEG file, and its density, some 50 kilobytes. Fails if the spool cannot be
    /// written.
    pub fn push(&mut self, photo: &CrowdPhoto, jpeg: Option<&[u8]>, detail: Option<&HtmlPhoto>) -> io::Result<()> {
        let text = jpeg.map(|jpeg| BASE64.encode(jpeg)).unwrap_or_default();
        self.spool.write_all(text.as_bytes())?;
        self.lengths.push(text.len());
        self.details.push(detail.map_or(Value::Null, HtmlPhoto::json));
        self.photos.push(photo.clone());
        Ok(())
    }

    /// Writes the page. Fails if the spool cannot be read, or the page not written.
    pub fn write<W: Write>(mut self, out: &mut W) -> io::Result<()> {
        let all = |of: fn(&CrowdPhoto) -> f64| self.photos.iter().map(of).collect::<Vec<f64>>();
        let texts = |of: fn(&CrowdPhoto) -> &str| self.photos.iter().map(of).collect::<Vec<&str>>();
        let crowd = json!({
            "name": texts(|photo| &photo.name),
            "words": texts(|photo| &photo.words),
            "lon": all(|photo| rounded(photo.place.lon_deg())),
            "lat": all(|photo| rounded(photo.place.lat_deg())),
            "r50": all(|photo| photo.radius_50_km.round()),
            "r90": all(|photo| photo.radius_90_km.round()),
            "sure": all(|photo| (photo.confidence * 1000.0).round() / 1000.0),
            "tag": self.photos.iter().map(|photo| u8::from(photo.is_tagged)).collect::<Vec<u8>>(),
            "tell": self.photos.iter().map(|photo| u8::from(photo.can_tell)).collect::<Vec<u8>>(),
            "picture": self.lengths,
        });
        let data = json!({ "ramp": css_ramp(), "photos": self.details, "crowd": crowd });
        self.spool.seek(SeekFrom::Start(0))?;
        let script = concat!(include_str!("clusters.js"), include_str!("crowd.js"));
        let more = More { script, pictures: &mut self.spool };
        self.page.write(out, data, Some(more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn hostile_names_stay_text_and_nothing_is_loaded() {
        let page = |name: &str| {
            let mut map = CrowdMap::new(MapPage::new(name).credit(name), Cursor::new(Vec::new()));
            let place = LatLon::new(1.0, 2.0).unwrap();
            let detail = HtmlPhoto::new(name).outline(&[], name);
            map.push(&CrowdPhoto::new(name, place, name), Some(b"jpeg"), Some(&detail)).unwrap();
            let mut page = Vec::new();
            map.write(&mut page).unwrap();
            String::from_utf8(page).unwrap()
        };
        crate::html::page::check_names(page);
        let page = page("region");
        assert!(page.contains("id=\"pictures\">anBlZw==</script>") && page.contains(r#""label":"region","lines":[]"#));
    }
}
