//! Countries by point, name and code.

use crate::{places::PlacesError, places::folded::folded, places::inflate::inflate, places::inflate::unpack_polygons};
use locdiff_shdd::sphere::{LatLon, Polygon, PolygonIndex, Unpacker};
use std::sync::OnceLock;

/// A country, or an area that has its own code in ISO 3166 or its own outline in Natural Earth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Country {
    code: String,
    code3: String,
    name: String,
    other_names: Vec<String>,
}

impl Country {
    /// Two letters of ISO 3166 ("FR"); empty for the few areas without a code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Three letters of ISO 3166 ("FRA"); empty for the few areas without a code.
    pub fn code3(&self) -> &str {
        &self.code3
    }

    /// The English name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.other_names).map(String::as_str)
    }
}

/// All countries, with outlines at 1:50 million (Natural Earth's de-facto borders).
#[derive(Debug)]
pub struct Countries {
    list: Vec<Country>,
    outlines: PolygonIndex,
    /// For each polygon its country; ascending.
    owners: Vec<usize>,
}

impl Countries {
    /// The embedded countries, unpacked on first use.
    pub fn bundled() -> &'static Self {
        static BUNDLED: OnceLock<Countries> = OnceLock::new();
        BUNDLED.get_or_init(|| Self::unpack(include_bytes!("../../assets/countries.bin")))
    }

    fn unpack(deflated: &[u8]) -> Self {
        let bytes = inflate(deflated);
        let mut unpacker = Unpacker::new(&bytes);
        let (mut list, mut polygons, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        for owner in 0..unpacker.number() {
            let [code, code3, name, others] = std::array::from_fn(|_| unpacker.string());
            let other_names = others.split('|').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            list.push(Country { code, code3, name, other_names });
            for polygon in unpack_polygons(&mut unpacker) {
                polygons.push(polygon);
                owners.push(owner);
            }
        }
        debug_assert!(unpacker.is_at_end(), "the whole table is read");
        Self { list, outlines: PolygonIndex::new(polygons), owners }
    }

    /// All of them, by name.
    pub fn all(&self) -> &[Country] {
        &self.list
    }

    /// The country whose outline holds a place; `None` at sea. Outlines miss small islands, and shores by some km.
    pub fn at(&self, place: LatLon) -> Option<&Country> {
        self.outlines.polygon_at(place).map(|polygon| &self.list[self.owners[polygon]])
    }

    /// A country by its two- or three-letter code.
    pub fn by_code(&self, code: &str) -> Option<&Country> {
        let is = |other: &str| !other.is_empty() && other.eq_ignore_ascii_case(code);
        self.list.iter().find(|country| is(&country.code) || is(&country.code3))
    }

    /// A country by English name or code; case, accents and dots do not matter. The error has names that look alike.
    pub fn find(&self, name: &str) -> Result<&Country, PlacesError> {
        let wanted = folded(name);
        self.by_code(name.trim())
            .or_else(|| self.list.iter().find(|country| country.names().any(|other| folded(other) == wanted)))
            .ok_or_else(|| PlacesError::UnknownCountry { name: name.to_owned(), near: self.near(&wanted) })
    }

    /// Up to three names that look like a folded one.
    fn near(&self, wanted: &str) -> Vec<String> {
        const ALIKE: f64 = 0.84;
        const TOLD: usize = 3;
        let likeness = |country: &Country| {
            let of_name = |name: &str| {
                let name = folded(name);
                let part = wanted.len() >= 4 && name.contains(wanted);
                if part { 1.0 } else { strsim::jaro_winkler(&name, wanted) }
            };
            country.names().map(of_name).fold(0.0, f64::max)
        };
        let scored = self.list.iter().map(|country| (likeness(country), country.name()));
        let mut scored: Vec<(f64, &str)> = scored.filter(|(score, _)| *score >= ALIKE).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.into_iter().take(TOLD).map(|(_, name)| name.to_owned()).collect()
    }

    /// The outline of a country, several polygons where it has several parts; none where the map shows it as a part of
    /// another. Longitudes may leave −180…180, so that nothing is cut at the antimeridian.
    pub fn polygons(&self, country: &Country) -> &[Polygon] {
        let Some(owner) = self.list.iter().position(|other| other == country) else { return &[] };
        let from = self.owners.partition_point(|&other| other < owner);
        let to = self.owners.partition_point(|&other| other <= owner);
        &self.outlines.polygons()[from..to]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_at(lat: f64, lon: f64) -> &'static str {
        Countries::bundled().at(LatLon::new(lat, lon).unwrap()).map_or("", Country::code)
    }

    #[test]
    fn well_known_points_have_their_country() {
        for (lat, lon, code) in [
            (39.9, 116.4, "CN"),
            (-17.8, 178.0, "FJ"),
            (66.0, -175.0, "RU"), // beyond the antimeridian
            (65.0, 177.0, "RU"),
            (-90.0, 0.0, "AQ"),
            (-85.0, 179.99, "AQ"),
            (70.0, -45.0, "GL"),
            (4.0, -53.0, "FR"),  // French Guiana
            (-29.5, 28.2, "LS"), // a hole in South Africa
            (-29.0, 26.0, "ZA"),
            (42.6, 21.0, "XK"),
            (90.0, 0.0, ""),
            (0.0, 0.0, ""),
            (42.0, 51.0, ""), // the Caspian Sea
        ] {
            assert_eq!(code_at(lat, lon), code, "{lat} {lon}");
        }
    }

    #[test]
    fn names_codes_and_accents_find_countries() {
        let countries = Countries::bundled();
        let codes = "FR=FR|fra=FR|brazil=BR|USA=US|United States of America=US|UK=GB|Kosovo=XK|Northern Cyprus=";
        let odd = "Cote d’Ivoire=CI|ivory coast=CI|the netherlands=NL|st. lucia=LC|Türkiye=TR|Guinea-Bissau=GW";
        for (name, code) in codes.split('|').chain(odd.split('|')).filter_map(|case| case.split_once('=')) {
            assert_eq!(countries.find(name).unwrap().code(), code, "{name}");
        }
        let near = |name: &str| countries.find(name).unwrap_err().to_string();
        assert!(near("Frnace").contains("did you mean France"), "{}", near("Frnace"));
        assert!(near("Germny").contains("Germany"), "{}", near("Germny"));
        assert!(near("Korea, South").contains("South Korea") || near("south kore").contains("South Korea"));
        assert!(!near("qqqq").contains("did you mean"), "{}", near("qqqq"));
        assert!(countries.find("").is_err());
    }

    #[test]
    fn outlines_have_about_their_area() {
        let countries = Countries::bundled();
        for (name, area_km2) in [("Switzerland", 41_285.0), ("Australia", 7.69e6), ("Fiji", 18_270.0)] {
            let polygons = countries.polygons(countries.find(name).unwrap());
            let area: f64 = polygons.iter().map(|polygon| polygon.area_km2().abs()).sum();
            assert!((area / area_km2 - 1.0).abs() < 0.05, "{name}: {area}");
        }
        let has_none = |country: &&Country| countries.polygons(country).is_empty();
        let without: Vec<&str> = countries.all().iter().filter(has_none).map(Country::name).collect();
        assert!(without.len() < 16 && without.contains(&"French Guiana"), "{without:?}");
    }
}
