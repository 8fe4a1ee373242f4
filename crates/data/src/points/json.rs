//! Latitude and longitude from a JSON object, without building the rest of it: a line may also carry an embedding.

use super::columns::Wanted;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// What an object says about the two coordinates: the values of the best-fitting keys.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Coordinates {
    pub(super) lat: Option<(String, Value)>,
    pub(super) lon: Option<(String, Value)>,
}

/// Reads the coordinates of one object.
pub(super) fn coordinates(line: &[u8], lat: &Wanted, lon: &Wanted) -> serde_json::Result<Coordinates> {
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let found = Seed { lat, lon }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(found)
}

/// The keys of an object, for a message.
pub(super) fn keys(line: &[u8]) -> Vec<String> {
    serde_json::from_slice::<serde_json::Map<String, Value>>(line)
        .map(|object| object.into_iter().map(|(key, _)| key).collect())
        .unwrap_or_default()
}

struct Seed<'a> {
    lat: &'a Wanted,
    lon: &'a Wanted,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Coordinates;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Coordinates, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Coordinates;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Coordinates, A::Error> {
        let mut found = Coordinates::default();
        let mut best = [usize::MAX; 2];
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let (slot, rank, side) = match (self.lat.rank(&key), self.lon.rank(&key)) {
                (Some(rank), _) => (&mut found.lat, rank, 0),
                (None, Some(rank)) => (&mut found.lon, rank, 1),
                (None, None) => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let value = map.next_value::<Value>()?;
            if rank < best[side] {
                best[side] = rank;
                *slot = Some((key.into_owned(), value));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PointColumns;

    fn read(line: &str) -> serde_json::Result<Coordinates> {
        let columns = PointColumns::default();
        coordinates(line.as_bytes(), &columns.lat_names(), &columns.lon_names())
    }

    #[test]
    fn the_best_key_wins_and_the_rest_is_skipped() {
        let found =
            read(r#"{"longitude":9,"embedding":[[1],{"lat":7}],"l\u0061t":1.5,"Lon":2,"latitude":8}"#)
                .unwrap();
        assert_eq!(found.lat, Some(("lat".to_owned(), Value::from(1.5))));
        assert_eq!(found.lon, Some(("Lon".to_owned(), Value::from(2))));
        assert_eq!(read("{}").unwrap(), Coordinates::default());
    }

    #[test]
    fn anything_but_one_object_is_an_error() {
        for line in ["", "[1,2]", "3", "{\"lat\":1", "{} {}", "{\"lat\":NaN}", "\u{0}"] {
            assert!(read(line).is_err(), "{line}");
        }
        assert_eq!(keys(br#"{"a":1,"b":2}"#), ["a", "b"]);
        assert!(keys(b"oops").is_empty());
    }
}
