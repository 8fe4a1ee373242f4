//! What is written.

use locdiff_shdd::sphere::LatLon;

/// An estimated place, marked as LocDiff's, or one that somebody gave.
#[derive(Debug, Clone, PartialEq)]
pub struct GeoTag {
    pub(crate) place: LatLon,
    pub(crate) radius_km: Option<f64>,
    pub(crate) area: Option<String>,
    pub(crate) names: PlaceNames,
    pub(crate) by_hand: bool,
}

/// A place's names, for the fields of IPTC that photo programs search by: XMP's `photoshop:City`, `State` and `Country`, and
/// `Iptc4xmpCore:CountryCode`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlaceNames {
    /// The town.
    pub city: Option<String>,
    /// The state or province.
    pub state: Option<String>,
    /// The country.
    pub country: Option<String>,
    /// Its code of two letters.
    pub country_code: Option<String>,
}

/// What may be replaced; what may not is an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overwrite {
    /// A file of the copy's name.
    pub files: bool,
    /// A location that the photo or its sidecar has already.
    pub locations: bool,
}

impl Overwrite {
    /// Nothing is replaced.
    pub const NEVER: Self = Self { files: false, locations: false };
    /// Files and locations are.
    pub const FORCE: Self = Self { files: true, locations: true };
}

impl GeoTag {
    /// A place alone.
    pub fn new(place: LatLon) -> Self {
        Self { place, radius_km: None, area: None, names: PlaceNames::default(), by_hand: false }
    }

    /// How far off it may be: `GPSHPositioningError`. Numbers that are not positive are left out.
    #[must_use]
    pub fn radius_km(mut self, radius_km: f64) -> Self {
        self.radius_km = (radius_km.is_finite() && radius_km > 0.0).then_some(radius_km);
        self
    }

    /// The place in words: `GPSAreaInformation`.
    #[must_use]
    pub fn area(mut self, area: &str) -> Self {
        self.area = Some(area.to_owned());
        self
    }

    /// The names of town, state and country. They go into sidecars; names that one has already stay, unless its
    /// location is replaced, too.
    #[must_use]
    pub fn names(mut self, names: PlaceNames) -> Self {
        self.names = names;
        self
    }

    /// Somebody placed it, not LocDiff.
    #[must_use]
    pub fn by_hand(self, by_hand: bool) -> Self {
        Self { by_hand, ..self }
    }

    /// `GPSProcessingMethod`. EXIF has no word for an estimate from the picture: that stands in [`GeoTag::area_text`].
    pub(crate) fn method(&self) -> Option<&'static str> {
        self.by_hand.then_some("MANUAL")
    }

    /// `GPSAreaInformation`: an estimate says that it is one, so that nobody takes it for a measurement.
    pub(crate) fn area_text(&self) -> Option<String> {
        match &self.area {
            area if self.by_hand => area.clone(),
            None => Some(ESTIMATE.to_owned()),
            Some(area) => Some(format!("{area} ({ESTIMATE})")),
        }
    }

    pub(crate) fn radius_m(&self) -> Option<u32> {
        self.radius_km.map(|km| (1000.0 * km).round().clamp(1.0, f64::from(u32::MAX)) as u32)
    }
}

const ESTIMATE: &str = "LocDiff estimate";
pub(crate) const DATUM: &str = "WGS-84";

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
    let (lat, lon) = (format!("{:.8}", lat_deg.abs()), format!("{:.8}", lon_deg.abs()));
    let (north, east) = (if lat_deg < 0.0 { "S" } else { "N" }, if lon_deg < 0.0 { "W" } else { "E" });
    let radius = tag.radius_m().map_or_else(String::new, |metres| metres.to_string());
    let (method, area) = (tag.method().unwrap_or_default(), tag.area_text().unwrap_or_default());
    [photo, &lat, north, &lon, east, DATUM, method, &radius, &area].map(str::to_owned)
}
