//! Names on a map.

use locdiff_shdd::sphere::LatLon;
use serde_json::{Value, json};

/// A name on the map, shown from a zoom level on (0 is a world of 256 pixels, each level doubles it).
#[derive(Debug, Clone, PartialEq)]
pub struct MapLabel {
    /// Where.
    pub place: LatLon,
    /// The name.
    pub text: String,
    /// The first level at which it is shown.
    pub least_zoom: f64,
    /// A town gets a dot; a country does not.
    pub is_town: bool,
}

impl MapLabel {
    /// A country's name, shown once the country is wide enough to bear it.
    pub fn country(place: LatLon, name: &str, width_deg: f64) -> Self {
        /// The width that a name needs.
        const PIXELS: f64 = 44.0;
        let least_zoom = (PIXELS * 360.0 / (256.0 * width_deg)).log2().max(1.0);
        Self { place, text: name.to_owned(), least_zoom, is_town: false }
    }

    /// A town's name, shown from the world for the largest to the province for the least.
    pub fn town(place: LatLon, name: &str, population: u32) -> Self {
        let least_zoom = match population {
            8_000_000.. => 2.4,
            3_000_000.. => 3.4,
            1_000_000.. => 4.4,
            400_000.. => 5.4,
            150_000.. => 6.3,
            _ => 7.2,
        };
        Self { place, text: name.to_owned(), least_zoom, is_town: true }
    }
}

/// Labels as the page's script takes them.
pub(crate) fn json(labels: &[MapLabel]) -> Vec<Value> {
    let row = |label: &MapLabel| {
        let [lon, lat] = degrees(label.place);
        json!([lon, lat, label.text, label.least_zoom, u8::from(label.is_town)])
    };
    labels.iter().map(row).collect()
}

/// Longitude and latitude of a place.
pub(crate) fn degrees(place: LatLon) -> [f64; 2] {
    [rounded(place.lon_deg()), rounded(place.lat_deg())]
}

/// To 0.0001°, 11 m: finer than any map here.
pub(crate) fn rounded(degrees: f64) -> f64 {
    (degrees * 1e4).round() / 1e4
}
