//! Tar shards as in WebDataset: `key.jpg` beside `key.json`, found by their headers and read where they lie.

use crate::source::is_picture;
use crate::{IngestError, PhotoSource, PlaceSource, Result};
use locdiff_data::{Format, PointColumns, PointReader};
use locdiff_sphere::LatLon;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// A longer description of one photo is not read.
const LONGEST_JSON: u64 = 1 << 20;

/// The pictures of a shard in its order, with the places in their `.json` members, and how many members are neither.
pub(crate) fn photos(path: &Path) -> Result<(Vec<PhotoSource>, usize)> {
    let shard: Arc<Path> = Arc::from(path);
    let unreadable = |reason| IngestError::Shard { path: path.to_owned(), reason };
    let file = File::open(path).map_err(unreadable)?;
    let mut archive = tar::Archive::new(file);
    let mut found: Vec<(String, PhotoSource)> = Vec::new();
    let mut places = HashMap::new();
    let mut others = 0;
    for entry in archive.entries_with_seek().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if is_picture(Path::new(&name)) {
            let member = PhotoSource::member(&shard, &name, entry.raw_file_position(), entry.size());
            found.push((key(&name).to_owned(), member));
        } else if Path::new(&name).extension().is_some_and(|extension| extension == "json") {
            let mut text = Vec::new();
            entry.by_ref().take(LONGEST_JSON).read_to_end(&mut text).map_err(unreadable)?;
            places.extend(place(&name, &text).map(|place| (key(&name).to_owned(), place)));
        } else {
            others += 1;
        }
    }
    let with_place = |(key, photo): (String, PhotoSource)| {
        photo.at(places.get(&key).map(|&place| (place, PlaceSource::Json)))
    };
    Ok((found.into_iter().map(with_place).collect(), others))
}

/// WebDataset's key: everything before the first dot of the file's name.
fn key(name: &str) -> &str {
    let folder = name.rfind('/').map_or(0, |slash| slash + 1);
    name[folder..].find('.').map_or(name, |dot| &name[..folder + dot])
}

/// The place in a JSON object under the usual names, if it has a valid one.
fn place(name: &str, json: &[u8]) -> Option<LatLon> {
    let value: serde_json::Value = serde_json::from_slice(json).ok()?;
    let line = value.to_string().into_bytes();
    let mut reader = PointReader::from_bytes(name, line, Format::Jsonl, &PointColumns::default()).ok()?;
    Some(reader.next()?.ok()?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_end_at_the_first_dot_of_the_name() {
        for (name, expected) in
            [("a/b.seg.png", "a/b"), ("a.d/b.jpg", "a.d/b"), ("b", "b"), (".x", ""), ("a/", "a/")]
        {
            assert_eq!(key(name), expected);
        }
    }

    #[test]
    fn places_are_read_under_their_usual_names() {
        let lat = |json: &str| place("x.json", json.as_bytes()).map(LatLon::lat_deg);
        assert_eq!(lat("{\n \"lat\": 1.5,\n \"lon\": 2\n}"), Some(1.5));
        assert_eq!(lat(r#"{"caption": "x", "Latitude": -3, "lng": 4}"#), Some(-3.0));
        for none in ["{}", "[1, 2]", r#"{"lat": 95, "lon": 0}"#, r#"{"lat": null, "lon": 1}"#, "{"] {
            assert_eq!(lat(none), None, "{none}");
        }
    }
}
