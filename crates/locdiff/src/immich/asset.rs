//! A photo of the server.

use locdiff_shdd::sphere::LatLon;
use serde_json::Value;

/// A photo's metadata on the server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Asset {
    /// Its number.
    pub id: String,
    /// Its file's name.
    pub name: String,
    /// When it was taken, as immich writes it.
    pub time: Option<String>,
    /// The camera.
    pub camera: Option<String>,
    /// Where it was taken; 0° N 0° E is no place.
    pub place: Option<LatLon>,
}

impl Asset {
    /// Of immich's `AssetResponseDto`; `None` for what is no photo, or has a number that is none.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        let id = value["id"].as_str().filter(|id| is_id(id))?.to_owned();
        if value["type"].as_str().is_some_and(|kind| kind != "IMAGE") {
            return None;
        }
        let exif = &value["exifInfo"];
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let place = exif["latitude"].as_f64().zip(exif["longitude"].as_f64());
        let place = place.filter(|(lat, lon)| lat.abs().max(lon.abs()) >= 1e-6); // as in photos
        let camera: Vec<String> = [text(&exif["make"]), text(&exif["model"])].into_iter().flatten().collect();
        Some(Self {
            name: text(&value["originalFileName"]).unwrap_or_else(|| id.clone()),
            time: text(&exif["dateTimeOriginal"]).or_else(|| text(&value["fileCreatedAt"])),
            camera: (!camera.is_empty()).then(|| camera.join(" ")),
            place: place.and_then(|(lat, lon)| LatLon::new(lat, lon).ok()),
            id,
        })
    }
}

/// Whether a text may stand in a path: immich's numbers are UUIDs.
pub(crate) fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}
