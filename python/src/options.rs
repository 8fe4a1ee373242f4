//! Keyword arguments become a [`Request`]: their names are its fields.

use crate::errors::{OrRaise, SettingError};
use locdiff::Request;
use pyo3::types::{PyBool, PyDict};
use pyo3::{exceptions::PyTypeError, prelude::*};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// What a locator is opened with: no option of a call.
const OPENING: [&str; 8] = ["model", "encoder", "device", "precision", "gallery", "geoclip", "gallery_rule", "hybrid"];
/// What only albums have.
const ALBUMS: [&str; 9] = [
    "same_place",
    "folder_is_place",
    "one_trip",
    "known",
    "tracks",
    "track_offset_s",
    "places",
    "trust_clocks",
    "clock_offset_s",
];

/// Who takes options.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Taker {
    Photos,
    Album,
    Job,
}

impl Taker {
    fn takes(self, name: &str) -> bool {
        match self {
            Self::Photos => !OPENING.contains(&name) && !ALBUMS.contains(&name),
            Self::Album => !OPENING.contains(&name),
            Self::Job => name != "device" && !ALBUMS.contains(&name),
        }
    }
}

/// The usual request with what was given instead.
pub(crate) fn request(given: Option<&Bound<'_, PyDict>>, taker: Taker) -> PyResult<Request> {
    let mut fields = Map::new();
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        let value = match value_of(&value)? {
            Value::Null if name == "within" => Value::Array(Vec::new()),
            Value::String(one) if name == "within" => Value::Array(vec![one.into()]),
            value => value,
        };
        if !taker.takes(&name) {
            return Err(unknown(&name, taker));
        }
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        if let Err(error) = serde_json::from_value::<Request>(alone.into()) {
            let message = error.to_string();
            return Err(match message.split(' ').take(2).collect::<Vec<_>>()[..] {
                ["unknown", "field"] => unknown(&name, taker),
                ["invalid", "type:"] => PyTypeError::new_err(format!("{name}: {message}")),
                _ => SettingError::new_err(format!("{name}: {message}")),
            });
        }
        fields.insert(name, value);
    }
    serde_json::from_value(fields.into()).or_setting()
}

/// The error about a name that is none of the taker's.
fn unknown(name: &str, taker: Taker) -> PyErr {
    // The list of the fields is serde's: "unknown field `?`, expected one of `model`, `encoder`, …".
    let refused = serde_json::from_str::<Request>(r#"{"?": 0}"#).err();
    let message = refused.map_or(String::new(), |error| error.to_string());
    let fields = message.split('`').skip(3).step_by(2);
    let known = fields.filter(|field| taker.takes(field)).collect::<Vec<_>>().join(", ");
    PyTypeError::new_err(format!("there is no option '{name}': there are {known}"))
}

/// The same request to a locator that was opened with another.
pub(crate) fn opened_as(mut request: Request, opened: &Request) -> Request {
    request.model.clone_from(&opened.model);
    request.encoder.clone_from(&opened.encoder);
    request.device = opened.device;
    request.precision = opened.precision;
    request.gallery.clone_from(&opened.gallery);
    request.geoclip.clone_from(&opened.geoclip);
    request.gallery_rule = opened.gallery_rule;
    request.hybrid = opened.hybrid;
    request
}

/// A plain value of Python's as JSON; a path is a text.
pub(crate) fn value_of(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(value.extract::<bool>()?.into());
    }
    if let Ok(path) = value.extract::<PathBuf>() {
        let text = path.into_os_string().into_string();
        let text = text.map_err(|path| SettingError::new_err(format!("{} is no Unicode", path.display())))?;
        return Ok(text.into());
    }
    if let Ok(number) = value.extract::<i64>() {
        return Ok(number.into());
    }
    if let Ok(number) = value.extract::<u64>() {
        return Ok(number.into());
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(number.into());
    }
    if let Ok(named) = value.cast::<PyDict>() {
        let each = named.iter().map(|(name, value)| Ok((name.extract()?, value_of(&value)?)));
        return Ok(Value::Object(each.collect::<PyResult<_>>()?));
    }
    value.try_iter()?.map(|one| value_of(&one?)).collect()
}
