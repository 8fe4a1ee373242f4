//! What can be wrong with a country's name or a region.

use std::io;
use thiserror::Error;

/// A country or region that cannot be understood; each message is one line with a remedy.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
#[non_exhaustive]
pub enum PlacesError {
    #[error("no country is called \"{name}\"{}: give an English name or an ISO 3166 code such as FR", hint(near))]
    UnknownCountry { name: String, near: Vec<String> },
    #[error("{name} has no outline on the 1:50 million map: give a box \"lat0,lon0,lat1,lon1\" or a GeoJSON file")]
    NoOutline { name: String },
    #[error(
        "\"{text}\" is not a box: {reason}; give \"lat0,lon0,lat1,lon1\", two opposite corners, the western one first"
    )]
    Box { text: String, reason: String },
    #[error("\"{text}\" is the name of several places: choose {}", choices.join(", or "))]
    Ambiguous { text: String, choices: Vec<String> },
    #[error("\"{text}\" is not a circle: {reason}; give it as \"50 km around Paris\" or \"50 km around 48.85,2.35\"")]
    Circle { text: String, reason: String },
    #[error(
        "\"{text}\" is not a region: it is not a file, continent, country, state or province{}. Give one of these, \
         \"50 km around Paris\", \"lat0,lon0,lat1,lon1\" or a GeoJSON file",
        hint(near)
    )]
    UnknownRegion { text: String, near: Vec<String> },
    #[error("cannot read {file}: {source}; check the path and its permissions")]
    Read { file: String, source: io::Error },
    #[error(
        "{file} is not a GeoJSON region: {reason}; give Polygon or MultiPolygon geometries in degrees, longitude first"
    )]
    GeoJson { file: String, reason: String },
}

fn hint(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(", ")) }
}
