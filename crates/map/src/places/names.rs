//! Names to write on a map.

use crate::places::{Countries, Places};
use locdiff_shdd::sphere::{LatLon, Polygon};

/// A name, and where it belongs: the middle of a country's largest part, or the town.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct PlaceName {
    pub place: LatLon,
    pub text: String,
    pub kind: PlaceKind,
}

/// What a name is of, with its size: a map shows the larger first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlaceKind {
    /// A country.
    Country {
        /// The side of a square as large as its largest part, in degrees of the equator.
        width_deg: f64,
    },
    /// A town.
    Town {
        /// Its inhabitants, to the thousand.
        population: u32,
    },
}

/// The names of countries, the widest first, then of towns with at least so many inhabitants, the largest first.
pub fn place_names(least_population: u32) -> Vec<PlaceName> {
    let mut countries = country_names();
    countries.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut towns: Vec<_> = Places::bundled().towns_with_population().filter(|one| one.2 >= least_population).collect();
    towns.sort_by_key(|town| std::cmp::Reverse(town.2));
    let towns = towns.into_iter().map(|(name, place, population)| PlaceName {
        place,
        text: name.to_owned(),
        kind: PlaceKind::Town { population },
    });
    countries.into_iter().map(|(_, name)| name).chain(towns).collect()
}

/// Countries and their widths.
fn country_names() -> Vec<(f64, PlaceName)> {
    let countries = Countries::bundled();
    let name = |country| {
        let area = |polygon: &&Polygon| polygon.area_sr().abs();
        let polygon = countries.polygons(country).iter().max_by(|a, b| area(a).total_cmp(&area(b)))?;
        let width_deg = area(&polygon).sqrt().to_degrees();
        let [lon, lat] = centre(&polygon.outer);
        let place = LatLon::new(lat.clamp(-84.0, 84.0), lon).ok()?;
        let text = country.name().to_owned();
        Some((width_deg, PlaceName { place, text, kind: PlaceKind::Country { width_deg } }))
    };
    countries.all().iter().filter_map(name).collect()
}

/// The centre of gravity in the plane of longitude and latitude.
fn centre(ring: &[[f64; 2]]) -> [f64; 2] {
    let (mut area, mut x, mut y) = (0.0, 0.0, 0.0);
    for edge in ring.windows(2) {
        let cross = edge[0][0] * edge[1][1] - edge[1][0] * edge[0][1];
        area += cross;
        x += (edge[0][0] + edge[1][0]) * cross;
        y += (edge[0][1] + edge[1][1]) * cross;
    }
    [x / (3.0 * area), y / (3.0 * area)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lie_in_their_countries_and_large_ones_come_first() {
        let names = place_names(3_000_000);
        for name in ["France", "Brazil", "Russia", "Australia", "China", "Fiji"] {
            let found = names.iter().find(|other| other.text == name).unwrap();
            assert_eq!(Countries::bundled().at(found.place).unwrap().name(), name);
        }
        let rank = |name: &str| names.iter().position(|other| other.text == name).unwrap();
        assert!(rank("Russia") < rank("France") && rank("France") < rank("Luxembourg"));
        let population = |name: &PlaceName| match name.kind {
            PlaceKind::Town { population } => Some(population),
            PlaceKind::Country { .. } => None,
        };
        let towns: Vec<u32> = names.iter().filter_map(population).collect();
        assert!((50..400).contains(&towns.len()), "{}", towns.len());
        assert!(towns.is_sorted_by(|a, b| a >= b));
    }
}
