//! All ranks must want the same: settings and data are compared before the first step.

use super::collective::Collective;
use crate::TrainError;
use locdiff_model::chance;
use serde_json::{Map, Value};

/// Longer values are compared by a hash of theirs.
const LONG: usize = 200;

/// Fails, on every rank alike, where a rank has another value than rank 0 somewhere in `wanted` (an object of objects).
pub(crate) fn agree(ranks: &mut dyn Collective, wanted: &Value) -> Result<(), TrainError> {
    let own = serde_json::to_string(&flat(wanted)).expect("plain data");
    let all = ranks.gather(own.as_bytes())?;
    let parsed = |bytes: &[u8]| serde_json::from_slice::<Map<String, Value>>(bytes).unwrap_or_default();
    let first = parsed(&all[0]);
    for (rank, other) in all.iter().enumerate().skip(1) {
        let other = parsed(other);
        let names = first.keys().chain(other.keys());
        if let Some(name) = names.into_iter().find(|name| first.get(*name) != other.get(*name)) {
            let of = |map: &Map<String, Value>| map.get(name).map_or("none".to_owned(), ToString::to_string);
            let reason = format!(
                "has {name} = {}, rank 0 has {}: start every rank with the same settings and data",
                of(&other),
                of(&first)
            );
            return Err(TrainError::Rank { rank, reason });
        }
    }
    Ok(())
}

/// Every value by its path: `train.batch`.
fn flat(value: &Value) -> Map<String, Value> {
    fn walk(value: &Value, path: &str, into: &mut Map<String, Value>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    walk(value, &if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, into);
                }
            }
            other => {
                let text = other.to_string();
                let short = if text.len() > LONG {
                    let words: Vec<u64> = text.bytes().map(u64::from).collect();
                    Value::from(format!("{:016x}", chance::hash(&words)))
                } else {
                    other.clone()
                };
                into.insert(path.to_owned(), short);
            }
        }
    }
    let mut all = Map::new();
    walk(value, "", &mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Alone;
    use serde_json::json;

    #[test]
    fn values_are_found_by_their_path() {
        let long: Vec<u32> = (0..500).collect();
        let map = flat(&json!({"train": {"batch": 32}, "model": {"kept": long}}));
        assert_eq!(map["train.batch"], 32);
        assert_eq!(map["model.kept"].as_str().map(str::len), Some(16));
        assert!(agree(&mut Alone, &json!({"a": 1})).is_ok());
    }
}
