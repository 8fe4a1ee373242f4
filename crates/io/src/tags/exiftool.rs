//! The same facts as a row of a table that exiftool imports (`exiftool -csv=FILE FOLDER`).

use crate::tags::{GeoTag, tag::DATUM};

/// The columns that `exiftool -csv=FILE` knows.
pub const EXIFTOOL_COLUMNS: [&str; 9] = [
    "SourceFile",
    "GPSLatitude",
    "GPSLatitudeRef",
    "GPSLongitude",
    "GPSLongitudeRef",
    "GPSMapDatum",
    "GPSProcessingMethod",
    "GPSHPositioningError",
    "GPSAreaInformation",
];

/// The row of a photo, by the path that exiftool will be given.
pub fn exiftool_row(photo: &str, tag: &GeoTag) -> [String; 9] {
    let (lat_deg, lon_deg) = (tag.place.lat_deg(), tag.place.lon_deg());
    let side = |value: f64, positive: &str, negative: &str| {
        if value < 0.0 { negative.to_owned() } else { positive.to_owned() }
    };
    [
        photo.to_owned(),
        format!("{:.8}", lat_deg.abs()),
        side(lat_deg, "N", "S"),
        format!("{:.8}", lon_deg.abs()),
        side(lon_deg, "E", "W"),
        DATUM.to_owned(),
        tag.method.to_owned(),
        tag.radius_m().map_or_else(String::new, |metres| metres.to_string()),
        tag.area.clone().unwrap_or_default(),
    ]
}
