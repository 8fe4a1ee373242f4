//! Names to write on a map.

use crate::{Countries, Places};
use locdiff_map::{MapLabel, Polygon};
use locdiff_sphere::LatLon;

/// The names of countries, at their largest part, and of towns with at least so many inhabitants, the largest first:
/// what [`locdiff_map::HtmlMap::labels`] takes. 200,000 inhabitants make some 100 kB of a page.
///
/// ```
/// let labels = locdiff_places::map_labels(1_000_000);
/// assert!(labels.iter().any(|label| label.text == "France" && !label.is_town));
/// assert!(labels.iter().any(|label| label.text == "Lima" && label.is_town));
/// assert!(!labels.iter().any(|label| label.text == "Bern"));
/// ```
pub fn map_labels(least_population: u32) -> Vec<MapLabel> {
    let mut labels = country_labels();
    let mut towns: Vec<_> =
        Places::bundled().towns_with_population().filter(|town| town.2 >= least_population).collect();
    towns.sort_by_key(|town| std::cmp::Reverse(town.2));
    labels.extend(towns.into_iter().map(|(name, place, population)| MapLabel {
        place,
        text: name.to_owned(),
        least_zoom: match population {
            8_000_000.. => 2.4,
            3_000_000.. => 3.4,
            1_000_000.. => 4.4,
            400_000.. => 5.4,
            150_000.. => 6.3,
            _ => 7.2,
        },
        is_town: true,
    }));
    labels
}

fn country_labels() -> Vec<MapLabel> {
    /// A country is named once it is this many pixels wide.
    const PIXELS: f64 = 44.0;
    let countries = Countries::bundled();
    let mut labels: Vec<MapLabel> = countries
        .all()
        .iter()
        .filter_map(|country| {
            let area = |polygon: &&Polygon| polygon.area_sr().abs();
            let polygon = countries.polygons(country).iter().max_by(|a, b| area(a).total_cmp(&area(b)))?;
            let width_deg = area(&polygon).sqrt().to_degrees();
            let least_zoom = (PIXELS * 360.0 / (256.0 * width_deg)).log2().max(1.0);
            let [lon, lat] = centre(&polygon.outer);
            let place = LatLon::new(lat.clamp(-84.0, 84.0), lon).ok()?;
            Some(MapLabel { place, text: country.name().to_owned(), least_zoom, is_town: false })
        })
        .collect();
    labels.sort_by(|a, b| a.least_zoom.total_cmp(&b.least_zoom));
    labels
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
        let labels = map_labels(3_000_000);
        for name in ["France", "Brazil", "Russia", "Australia", "China", "Fiji"] {
            let label = labels.iter().find(|label| label.text == name).unwrap();
            assert_eq!(Countries::bundled().at(label.place).unwrap().name(), name);
        }
        let level = |name: &str| labels.iter().find(|label| label.text == name).unwrap().least_zoom;
        assert!(level("Russia") < level("France") && level("France") < level("Luxembourg"));
        let towns: Vec<_> = labels.iter().filter(|label| label.is_town).collect();
        assert!((50..400).contains(&towns.len()), "{}", towns.len());
        assert!(towns.windows(2).all(|pair| pair[0].least_zoom <= pair[1].least_zoom));
    }
}
