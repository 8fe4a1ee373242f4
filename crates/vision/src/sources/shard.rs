//! Shards as in WebDataset: `key.jpg` beside `key.json` or `key.cls`, found by their headers and read where they lie.

use crate::sources::{IngestError, PhotoSource, PlaceSource, Result, source::is_picture};
use locdiff_io::data::{Format, PointColumns, PointReader};
use locdiff_shdd::sphere::LatLon;
use std::{collections::HashMap, fs::File, io, io::Read, path::Path, sync::Arc};

/// A longer description of one photo is not read.
const LONGEST_JSON: u64 = 1 << 20;

/// The pictures of a tar shard in its order, with the places in the members beside them, and how many members are neither.
pub(crate) fn photos(path: &Path) -> Result<(Vec<PhotoSource>, usize)> {
    let archive: Arc<Path> = Arc::from(path);
    let unreadable = |reason| IngestError::Shard { path: path.to_owned(), reason };
    let mut tar = tar::Archive::new(File::open(path).map_err(unreadable)?);
    let mut shard = Shard::default();
    for entry in tar.entries_with_seek().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if is_picture(Path::new(&name)) {
            let source = PhotoSource::member(&archive, &name, entry.raw_file_position(), entry.size());
            shard.picture(&name, source);
        } else if Description::of(&name).is_some() {
            shard.describe(&name, &mut entry).map_err(unreadable)?;
        } else {
            shard.others += 1;
        }
    }
    Ok(shard.finish())
}

/// How a member beside a picture says where it was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Description {
    /// An object with latitude and longitude.
    Json,
    /// Two numbers.
    Numbers,
}

impl Description {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match Path::new(name).extension()?.to_str()? {
            "json" => Some(Self::Json),
            "cls" => Some(Self::Numbers),
            _ => None,
        }
    }

    fn place(self, name: &str, text: &[u8]) -> Option<LatLon> {
        match self {
            Self::Json => place(name, text),
            Self::Numbers => {
                let text = std::str::from_utf8(text).ok()?;
                let mut numbers = text.split([',', ' ', '\t', '\n']).filter(|part| !part.is_empty());
                let found = LatLon::new(numbers.next()?.parse().ok()?, numbers.next()?.trim().parse().ok()?);
                found.ok().filter(|_| numbers.next().is_none())
            }
        }
    }
}

#[derive(Default)]
pub(crate) struct Shard {
    found: Vec<(String, PhotoSource)>,
    places: HashMap<String, LatLon>,
    /// Members that are neither pictures nor descriptions.
    pub(crate) others: usize,
}

impl Shard {
    pub(crate) fn picture(&mut self, name: &str, source: PhotoSource) {
        self.found.push((key(name).to_owned(), source));
    }

    pub(crate) fn describe(&mut self, name: &str, member: &mut impl Read) -> io::Result<()> {
        let mut text = Vec::new();
        member.take(LONGEST_JSON).read_to_end(&mut text)?;
        let found = Description::of(name).and_then(|kind| kind.place(name, &text));
        self.places.extend(found.map(|place| (key(name).to_owned(), place)));
        Ok(())
    }

    /// The pictures with their places, and how many members are neither.
    pub(crate) fn finish(self) -> (Vec<PhotoSource>, usize) {
        let place = |key: &str| self.places.get(key).map(|&place| (place, PlaceSource::Json));
        (self.found.into_iter().map(|(key, photo)| photo.at(place(&key))).collect(), self.others)
    }
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
        for (name, expected) in [("a/b.seg.png", "a/b"), ("a.d/b.jpg", "a.d/b"), ("b", "b"), (".x", ""), ("a/", "a/")] {
            assert_eq!(key(name), expected);
        }
    }

    #[test]
    fn two_numbers_are_a_place() {
        let lat = |text: &str| Description::Numbers.place("x.cls", text.as_bytes()).map(LatLon::lat_deg);
        for good in ["1.5,2", "1.5 2\n", "1.5, 2"] {
            assert_eq!(lat(good), Some(1.5), "{good}");
        }
        for none in ["", "7", "1.5,2,3", "95,0", "a,b"] {
            assert_eq!(lat(none), None, "{none}");
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
