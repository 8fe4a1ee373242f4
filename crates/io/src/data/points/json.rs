//! Latitude and longitude from a JSON object.

use super::columns::{PointColumns, Wanted};
use serde_json::{Map, Value};

/// Where an answer of `locate --json` has its place.
const BEST: &str = "best";

/// A key with its value.
type Found = Option<(String, Value)>;

/// What an object says about the two coordinates: the values of the best-fitting keys.
pub(super) fn coordinates(line: &[u8], lat: &Wanted, lon: &Wanted) -> serde_json::Result<[Found; 2]> {
    let object: Map<String, Value> = serde_json::from_slice(line)?;
    let best = |object: &Map<String, Value>, wanted: &Wanted| {
        let ranked = object.iter().filter_map(|(key, value)| Some((wanted.rank(key)?, key, value)));
        ranked.min_by_key(|(rank, ..)| *rank).map(|(_, key, value)| (key.clone(), value.clone()))
    };
    let found = [lat, lon].map(|wanted| best(&object, wanted));
    let inner = object.get(BEST).and_then(Value::as_object).filter(|_| found == [None, None]);
    Ok(inner.map_or(found, |inner| [lat, lon].map(|wanted| best(inner, wanted))))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> serde_json::Result<[Found; 2]> {
        let columns = PointColumns::default();
        coordinates(line.as_bytes(), &columns.lat_names(), &columns.lon_names())
    }

    #[test]
    fn the_best_key_wins_and_the_rest_is_skipped() {
        let found = read(r#"{"longitude":9,"embedding":[[1],{"lat":7}],"l\u0061t":1.5,"Lon":2,"latitude":8}"#).unwrap();
        assert_eq!(
            found,
            [("lat", Value::from(1.5)), ("Lon", 2.into())].map(|(key, value)| Some((key.to_owned(), value)))
        );
        assert_eq!(read("{}").unwrap(), [None, None]);
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
