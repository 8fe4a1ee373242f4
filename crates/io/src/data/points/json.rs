//! Latitude and longitude from a JSON object, without building the rest of it: a line may also carry an embedding.

use super::columns::{PointColumns, Wanted};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::{borrow::Cow, fmt};

/// What an object says about the two coordinates: the values of the best-fitting keys.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Coordinates {
    pub(super) lat: Option<(String, Value)>,
    pub(super) lon: Option<(String, Value)>,
}

pub(super) fn coordinates(line: &[u8], lat: &Wanted, lon: &Wanted) -> serde_json::Result<Coordinates> {
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let found = Seed { lat, lon }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(found)
}

/// Where an answer of `locate --json` has its place.
const BEST: &str = "best";

/// Brings the place inside `best` to where places are, and makes a photo with an `error` one without a place.
pub(super) fn lift_answer(object: &mut Map<String, Value>, columns: &PointColumns) {
    let is_known = |wanted: &Wanted| object.keys().any(|key| wanted.rank(key).is_some());
    if is_known(&columns.lat_names()) || is_known(&columns.lon_names()) {
        return;
    }
    let absent = object.contains_key("error");
    let inner = object.get(BEST).and_then(Value::as_object).cloned();
    for (key, wanted) in [("lat", &columns.lat), ("lon", &columns.lon)] {
        let value = inner.as_ref().and_then(|inner| inner.get(key)).cloned();
        if let Some(value) = value.or(absent.then_some(Value::Null))
            && wanted.is_none()
        {
            object.insert(key.to_owned(), value);
        }
    }
}

pub(super) fn keys(line: &[u8]) -> Vec<String> {
    let object: Map<String, Value> = serde_json::from_slice(line).unwrap_or_default();
    object.into_iter().map(|(key, _)| key).collect()
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
        let mut inner = Value::Null;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let (slot, rank, best) = match (self.lat.rank(&key), self.lon.rank(&key)) {
                (Some(rank), _) => (&mut found.lat, rank, &mut best[0]),
                (None, Some(rank)) => (&mut found.lon, rank, &mut best[1]),
                (None, None) => {
                    if key == BEST {
                        inner = map.next_value()?;
                    } else {
                        _ = map.next_value::<IgnoredAny>()?;
                    }
                    continue;
                }
            };
            let value = map.next_value::<Value>()?;
            if rank < *best {
                *best = rank;
                *slot = Some((key.into_owned(), value));
            }
        }
        if let (None, None, Value::Object(inner)) = (&found.lat, &found.lon, inner) {
            let lifted = |wanted: &Wanted| {
                inner.iter().find(|(key, _)| wanted.rank(key).is_some()).map(|(k, v)| (k.clone(), v.clone()))
            };
            found = Coordinates { lat: lifted(self.lat), lon: lifted(self.lon) };
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> serde_json::Result<Coordinates> {
        let columns = PointColumns::default();
        coordinates(line.as_bytes(), &columns.lat_names(), &columns.lon_names())
    }

    #[test]
    fn the_best_key_wins_and_the_rest_is_skipped() {
        let found = read(r#"{"longitude":9,"embedding":[[1],{"lat":7}],"l\u0061t":1.5,"Lon":2,"latitude":8}"#).unwrap();
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
