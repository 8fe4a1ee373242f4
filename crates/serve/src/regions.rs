//! The countries that an answer can be restricted to.

use locdiff_map::places::{Countries, Country};
use serde_json::json;

/// Their codes and names, as one object.
pub(crate) fn json() -> String {
    let countries = Countries::bundled();
    let with_outline = countries.all().iter().filter(|country| !countries.polygons(country).is_empty());
    let each = |country: &Country| json!({ "code": country.code(), "name": country.name() });
    json!({ "countries": with_outline.map(each).collect::<Vec<_>>() }).to_string()
}
