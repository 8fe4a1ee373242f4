//! Keyword arguments become [`FlatOptions`]: their names are its fields.

use crate::errors::{OrRaise, SettingError};
use locdiff::FlatOptions;
use pyo3::types::{PyBool, PyDict};
use pyo3::{exceptions::PyTypeError, prelude::*};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The receiver of options.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Taker {
    Photos,
    Album,
    Job,
}

impl Taker {
    fn takes(self, name: &str) -> bool {
        let [_, locate, album] = FlatOptions::names().map(|names| names.contains(&name));
        match self {
            Self::Photos => locate,
            Self::Album => locate || album,
            Self::Job => name != "device" && !album,
        }
    }
}

/// Returns the defaults, changed by the given options.
pub(crate) fn options(given: Option<&Bound<'_, PyDict>>, taker: Taker) -> PyResult<FlatOptions> {
    let mut fields = Map::new();
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        let value = match value_of(&value)? {
            Value::Null if matches!(&*name, "within" | "clue" | "ignore_text") => Value::Array(Vec::new()),
            Value::String(one) if matches!(&*name, "within" | "clue" | "ignore_text") => Value::Array(vec![one.into()]),
            value => value,
        };
        if !taker.takes(&name) {
            return Err(unknown(&name, taker));
        }
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        if let Err(error) = serde_json::from_value::<FlatOptions>(alone.into()) {
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
    let known =
        FlatOptions::names().concat().into_iter().filter(|field| taker.takes(field)).collect::<Vec<_>>().join(", ");
    PyTypeError::new_err(format!("there is no option '{name}': there are {known}"))
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
    let whole = value.extract::<i64>().map(Value::from).or_else(|_| value.extract::<u64>().map(Value::from));
    if let Ok(number) = whole.or_else(|_| value.extract::<f64>().map(Value::from)) {
        return Ok(number);
    }
    if let Ok(named) = value.cast::<PyDict>() {
        let each = named.iter().map(|(name, value)| Ok((name.extract()?, value_of(&value)?)));
        return Ok(Value::Object(each.collect::<PyResult<_>>()?));
    }
    value.try_iter()?.map(|one| value_of(&one?)).collect()
}
