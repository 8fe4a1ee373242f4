//! Names on the page's globe.

use locdiff_map::{MapLabel, places::PlaceKind, places::place_names};
use serde_json::json;
use std::sync::OnceLock;

/// Towns from this size on are named.
const LEAST_POPULATION: u32 = 100_000;

/// Countries, then towns, the largest first: longitude, latitude, name, the first level at which it is shown, 1 for a town. Made once.
pub(crate) fn json() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let label = |name: locdiff_map::places::PlaceName| match name.kind {
            PlaceKind::Country { width_deg } => MapLabel::country(name.place, &name.text, width_deg),
            PlaceKind::Town { population } => MapLabel::town(name.place, &name.text, population),
        };
        let fine = |number: f64| (100.0 * number).round() / 100.0;
        let row = |label: MapLabel| {
            let (lon, lat) = (fine(label.place.lon_deg()), fine(label.place.lat_deg()));
            json!([lon, lat, label.text, fine(label.least_zoom), u8::from(label.is_town)])
        };
        json!(place_names(LEAST_POPULATION).into_iter().map(label).map(row).collect::<Vec<_>>()).to_string()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    #[test]
    fn countries_come_before_towns_and_the_text_is_small() {
        let text = super::json();
        let all: Vec<(f64, f64, String, f64, u8)> = serde_json::from_str(text).unwrap();
        let first_town = all.iter().position(|label| label.4 == 1).unwrap();
        assert!(all[first_town..].iter().all(|label| label.4 == 1) && first_town > 150);
        assert!(all.iter().any(|label| label.2 == "Lima") && text.len() < 300_000, "{}", text.len());
        assert!(serde_json::from_str::<Value>(text).unwrap().is_array());
    }
}
