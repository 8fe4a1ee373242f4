//! The countries that an answer can be restricted to, and the kinds of clues.

use locdiff_map::{clues::Clue, places::Countries, places::Country};
use serde_json::json;

/// Codes and names of countries, examples of clues with what they say, as one object.
pub(crate) fn json() -> String {
    let countries = Countries::bundled();
    let with_outline = countries.all().iter().filter(|country| !countries.polygons(country).is_empty());
    let each = |country: &Country| json!({ "code": country.code(), "name": country.name() });
    let help = Clue::help();
    let clues = help.lines().filter_map(|line| line.split_once("  "));
    let clue = |(example, says): (&str, &str)| json!({ "example": example, "says": says.trim() });
    let (countries, clues): (Vec<_>, Vec<_>) = (with_outline.map(each).collect(), clues.map(clue).collect());
    json!({ "countries": countries, "clues": clues }).to_string()
}
