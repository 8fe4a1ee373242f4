//! Regions that an answer can be restricted to.

use crate::places::{Countries, PlacesError, circle, find_place, geojson, named};
use locdiff_base::ensure;
use locdiff_shdd::sphere::{LatLon, Polygon, PolygonIndex};
use std::path::Path;

/// A part of the Earth: a box, a circle, a continent, a country, a state, or the polygons of a `GeoJSON` file.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    name: String,
    outline: PolygonIndex,
}

impl Region {
    /// What [`Region::in_words`] understands, or the path of a `GeoJSON` file. The error names the remedy.
    pub fn parse(text: &str) -> Result<Self, PlacesError> {
        match Self::in_words(text) {
            // A file of that name is meant only where nothing else is.
            Err(PlacesError::UnknownRegion { text, near }) => {
                let path = Path::new(&text);
                let ends = |kind: &str| path.extension().is_some_and(|end| end.eq_ignore_ascii_case(kind));
                let is_file = ends("geojson") || ends("json") || path.is_file();
                if is_file { Self::open(path) } else { Err(PlacesError::UnknownRegion { text, near }) }
            }
            other => other,
        }
    }

    /// `"lat0,lon0,lat1,lon1"` (two opposite corners; from the first longitude east to the second), `"50 km around
    /// Paris"` (any place of [`crate::places::find_place`]), the English name or ISO code of a country, state or province, or a continent. No file is ever looked at,
    /// so that anyone may choose the words. The error names the remedy.
    pub fn in_words(text: &str) -> Result<Self, PlacesError> {
        let text = text.trim();
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        let numbers: Vec<f64> = fields.iter().filter_map(|field| field.parse().ok()).collect();
        if fields.len() > 1 && numbers.len() == fields.len() {
            let [lat0, lon0, lat1, lon1] = numbers[..] else {
                let reason = format!("it has {} numbers, not four", numbers.len());
                return Err(PlacesError::Box { text: text.to_owned(), reason });
            };
            return Self::from_corners(lat0, lon0, lat1, lon1);
        }
        if let Some(circle) = circle::parse(text) {
            return Ok(Self::new(text.to_owned(), vec![circle?]));
        }
        match named::find(text) {
            Ok((name, polygons)) => Ok(Self::new(name, polygons)),
            Err(PlacesError::UnknownCountry { mut near, .. }) => {
                if let Ok(Some(town)) = find_place(text) {
                    near.insert(0, format!("\"50 km around {}\"", town.name));
                }
                Err(PlacesError::UnknownRegion { text: text.to_owned(), near })
            }
            Err(other) => Err(other),
        }
    }

    fn new(name: String, polygons: Vec<Polygon>) -> Self {
        Self { name, outline: PolygonIndex::new(polygons) }
    }

    /// All that lies in any of several regions. Its name is theirs with "or" between them.
    #[must_use]
    pub fn union(regions: &[Self]) -> Self {
        let names: Vec<&str> = regions.iter().map(Self::name).collect();
        Self::new(names.join(" or "), regions.iter().flat_map(|region| region.polygons().iter().cloned()).collect())
    }

    /// The box between two parallels, from the first longitude east to the second. Fails for bad corners or no area.
    fn from_corners(lat0: f64, lon0: f64, lat1: f64, lon1: f64) -> Result<Self, PlacesError> {
        let name = format!("{lat0},{lon0},{lat1},{lon1}");
        let refuse = |reason: &str| Err(PlacesError::Box { text: name.clone(), reason: reason.to_owned() });
        if !(lat0.abs() <= 90.0 && lat1.abs() <= 90.0) {
            return refuse("latitudes are from -90 to 90");
        }
        if !(lon0.abs() <= 360.0 && lon1.abs() <= 360.0) {
            return refuse("longitudes are from -180 to 180");
        }
        let width = (lon1 - lon0).rem_euclid(360.0);
        if lon1 < lon0 && width > 180.0 {
            let back = lon1 + 360.0;
            return refuse(&format!(
                "from longitude {lon0} east to {lon1} it would go almost around the Earth; give {lat0},{lon1},{lat1},{lon0}, or {lat0},{lon0},{lat1},{back} if you mean that"
            ));
        }
        let (south, north) = (lat0.min(lat1), lat0.max(lat1));
        let width = if (lon1 - lon0).abs() == 360.0 { 360.0 } else { (lon1 - lon0).rem_euclid(360.0) };
        if south == north || width == 0.0 {
            return refuse("its corners lie on one line");
        }
        let west = (lon0 + 180.0).rem_euclid(360.0) - 180.0;
        let east = west + width;
        let outer = vec![[west, south], [east, south], [east, north], [west, north], [west, south]];
        Ok(Self::new(name, vec![Polygon { outer, holes: Vec::new() }]))
    }

    /// A country by English name or ISO code. Fails for an unknown name, or an outline that is a part of another's.
    pub fn country(name: &str) -> Result<Self, PlacesError> {
        let countries = Countries::bundled();
        let country = countries.find(name)?;
        let polygons = countries.polygons(country);
        ensure!(!polygons.is_empty(), PlacesError::NoOutline { name: country.name().to_owned() });
        Ok(Self::new(country.name().to_owned(), polygons.to_vec()))
    }

    /// The polygons of a `GeoJSON` file: a geometry, a feature or a collection. Fails if it cannot be read or has none.
    pub fn open(path: &Path) -> Result<Self, PlacesError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|source| PlacesError::Read { file: file.clone(), source })?;
        Self::from_geojson(&text, &file)
    }

    /// The polygons of a `GeoJSON` text; `name` stands for it in messages. Fails with [`PlacesError::GeoJson`].
    pub fn from_geojson(text: &str, name: &str) -> Result<Self, PlacesError> {
        let polygons = geojson::polygons(text);
        let polygons = polygons.map_err(|reason| PlacesError::GeoJson { file: name.to_owned(), reason })?;
        Ok(Self::new(name.to_owned(), polygons))
    }

    /// What the region is called: the country, the file or the corners.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its polygons. Longitudes may leave −180…180.
    pub fn polygons(&self) -> &[Polygon] {
        self.outline.polygons()
    }

    /// Whether a place lies inside. Made for millions of questions: each tests the edges of one degree of latitude.
    pub fn contains(&self, place: LatLon) -> bool {
        self.outline.polygon_at(place).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(region: &Region, lat: f64, lon: f64) -> bool {
        region.contains(LatLon::new(lat, lon).unwrap())
    }

    #[test]
    fn boxes_of_every_kind() {
        let europe = Region::parse(" 71, -10, 35, 40 ").unwrap();
        assert!(contains(&europe, 48.0, 2.0) && !contains(&europe, 48.0, 50.0) && !contains(&europe, 20.0, 2.0));
        let pacific = Region::parse("-10,170,10,190").unwrap();
        assert!(contains(&pacific, 0.0, -175.0) && contains(&pacific, 0.0, 180.0) && !contains(&pacific, 0.0, 0.0));
        let world = Region::parse("-90,-180,90,180").unwrap();
        let everywhere = [(-90.0, 0.0), (90.0, 0.0), (0.0, 180.0), (0.0, -180.0), (5.0, 5.0)];
        assert!(everywhere.iter().all(|&(lat, lon)| contains(&world, lat, lon)));
        let fiji = Region::parse("-21,176,-12,-178").unwrap();
        assert!(contains(&fiji, -17.8, 178.0) && contains(&fiji, -17.0, -179.5) && !contains(&fiji, -17.0, 0.0));
        for bad in ["1,2,3", "1,2,3,4,5", "0,0,95,10", "0,0,0,10", "0,10,5,10", "nan,0,1,1", "0,0,inf,1"] {
            let message = Region::parse(bad).unwrap_err().to_string();
            assert!(message.contains("is not a box") && message.to_lowercase().contains(bad), "{message}");
        }
    }

    #[test]
    fn countries_cross_the_antimeridian() {
        let russia = Region::parse("Russia").unwrap();
        assert!(contains(&russia, 66.0, -175.0) && contains(&russia, 55.7, 37.6) && !contains(&russia, 64.0, -150.0));
        // Shown as a part of France among the countries, but with an outline among the departments.
        let guiana = Region::parse("GF").unwrap();
        assert!(contains(&guiana, 4.9, -52.4) && !contains(&guiana, 48.9, 2.4));
        let message = Region::parse("Itly").unwrap_err().to_string();
        assert!(message.contains("did you mean Italy"), "{message}");
    }

    #[test]
    fn continents_states_and_circles() {
        for (name, inside, outside) in [
            ("China", (39.999, 116.275), (35.7, 139.7)),
            ("Europe", (48.9, 2.4), (4.9, -52.4)),
            ("south america", (4.9, -52.4), (48.9, 2.4)),
            ("Asia", (35.7, 139.7), (51.5, -0.1)),
            ("Oceania", (-33.8, 151.0), (1.35, 103.8)),
            ("Americas", (40.0, -100.0), (51.5, -0.1)),
            ("Bavaria", (48.1, 11.6), (50.9, 6.9)),
            ("US-GA", (33.7, -84.4), (41.7, 44.8)),
            ("Georgia, US", (33.7, -84.4), (41.7, 44.8)),
            ("GE", (41.7, 44.8), (33.7, -84.4)),
            ("Scotland", (55.9, -3.3), (51.5, -0.1)),
            ("Quebec", (46.9, -71.3), (43.7, -79.4)),
            ("10 km around 48.85,2.35", (48.9, 2.35), (49.0, 2.35)),
            ("Niger", (13.5, 2.2), (9.6, 6.5)),
            ("Luxembourg", (49.6, 6.1), (50.0, 5.5)),
            ("BE-WLX", (50.0, 5.5), (49.6, 6.1)),
        ] {
            let region = Region::parse(name).unwrap();
            assert!(contains(&region, inside.0, inside.1), "{name} lacks {inside:?}");
            assert!(!contains(&region, outside.0, outside.1), "{name} has {outside:?}");
        }
        let both = Region::union(&[Region::parse("Bavaria").unwrap(), Region::parse("AT").unwrap()]);
        assert!(contains(&both, 48.1, 11.6) && contains(&both, 48.2, 16.4) && !contains(&both, 50.9, 6.9));
        let name = |text: &str| Region::in_words(text).unwrap().name().to_owned();
        assert_eq!([both.name(), &name("JP"), &name("fra")], ["Bavaria or Austria", "Japan", "France"]);
        assert!(Region::parse("Atlantis").is_err() && Region::in_words("/etc/passwd").is_err());
    }

    #[test]
    fn ambiguous_names_say_how_to_say_each() {
        let message = |text: &str| Region::parse(text).unwrap_err().to_string();
        assert_eq!(
            message("Georgia"),
            "\"Georgia\" is the name of several places: choose GE for the country, or US-GA for Georgia in United States"
        );
        assert!(message("Punjab").contains("IN-PB") && message("Punjab").contains("PK-PB"), "{}", message("Punjab"));
        assert!(message("Bavria").contains("did you mean Bavaria"), "{}", message("Bavria"));
        assert!(message("Breslau").contains("did you mean \"50 km around Wrocław\""), "{}", message("Breslau"));
    }

    #[test]
    fn geojson_with_holes_collections_and_the_antimeridian() {
        let text = r#"{"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":[
                [[0,0],[30,0],[30,30],[0,30],[0,0]], [[10,10],[20,10],[20,20],[10,20],[10,10]]]}},
            {"type":"Feature","properties":null,"geometry":null},
            {"type":"Feature","geometry":{"type":"MultiPolygon","coordinates":[
                [[[175,-20],[-175,-20,7],[-175,-10],[175,-10],[175,-20]]]]}}]}"#;
        let region = Region::from_geojson(text, "x").unwrap();
        assert!(contains(&region, 5.0, 5.0) && !contains(&region, 15.0, 15.0) && contains(&region, 15.0, 25.0));
        assert!(contains(&region, -15.0, 179.0) && contains(&region, -15.0, -179.0) && !contains(&region, -15.0, 0.0));
        let world = r#"{"type":"Polygon","coordinates":[[[-180,-90],[180,-90],[180,90],[-180,90],[-180,-90]]]}"#;
        assert!(contains(&Region::from_geojson(world, "x").unwrap(), 12.0, 34.0));
    }

    #[test]
    fn bad_geojson_says_why() {
        for (text, reason) in [
            ("{", "not JSON"),
            ("{}", "\"type\" is missing"),
            ("[]", "\"type\" is missing"),
            (r#"{"type":"Point","coordinates":[0,0]}"#, "encloses nothing"),
            (r#"{"type":"FeatureCollection","features":[]}"#, "no polygons"),
            (r#"{"type":"Polygon","coordinates":[]}"#, "no ring"),
            (r#"{"type":"Polygon","coordinates":[[[0,0],[1,1],[0,0]]]}"#, "3 positions"),
            (r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}"#, "differs from its first"),
            (r#"{"type":"Polygon","coordinates":[[[0,95],[1,0],[1,1],[0,95]]]}"#, "not a longitude and latitude"),
            (r#"{"type":"Polygon","coordinates":[[["a",5],[1,0],[1,1],[0,1]]]}"#, "not a position"),
            (r#"{"type":"Polygon","coordinates":7}"#, "not a list"),
        ] {
            let message = Region::from_geojson(text, "bad.json").unwrap_err().to_string();
            let is_line = message.starts_with("bad.json") && !message.contains('\n');
            assert!(message.contains(reason) && is_line, "{message}");
        }
        let nested = r#"{"type":"GeometryCollection","geometries":["#.repeat(20) + &"]}".repeat(20);
        assert!(Region::from_geojson(&nested, "x").unwrap_err().to_string().contains("nested too deeply"));
    }

    #[test]
    fn files_are_read_or_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("area.geojson");
        let message = Region::parse(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(message.starts_with("cannot read") && message.contains("area.geojson"), "{message}");
        std::fs::write(&path, r#"{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,9],[0,0]]]}"#).unwrap();
        assert!(contains(&Region::parse(path.to_str().unwrap()).unwrap(), 5.0, 5.0));
    }
}
