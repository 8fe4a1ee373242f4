//! Places in and out: arrays of degrees, and `locdiff.Place`.

use crate::errors::OrRaise;
use locdiff::LatLon;
use numpy::{PyArray2, PyArrayLike2, PyArrayLikeDyn, TypeMustMatch};
use pyo3::{prelude::*, sync::PyOnceLock};
use serde_json::Value;

/// A location as a Python object.
pub(crate) fn place(py: Python<'_>, at: LatLon) -> PyResult<Bound<'_, PyAny>> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || Ok::<_, PyErr>(py.import("locdiff._types")?.getattr("Place")?.unbind());
    TYPE.get_or_try_init(py, make)?.bind(py).call1((at.lat_deg(), at.lon_deg()))
}

/// A place as it stands in JSON.
pub(crate) fn json_place(at: &Value) -> Result<LatLon, String> {
    let (lat, lon) = (at["lat"].as_f64(), at["lon"].as_f64());
    let both = lat.zip(lon).ok_or_else(|| format!("{at} is no place"))?;
    LatLon::new(both.0, both.1).map_err(|error| error.to_string())
}

/// A hypothesis as it stands in JSON, as `locdiff.Hypothesis`.
pub(crate) fn hypothesis<'py>(py: Python<'py>, found: &Value) -> PyResult<Bound<'py, PyAny>> {
    let number = |name: &str| found[name].as_f64().unwrap_or(f64::NAN);
    let given = (number("lat"), number("lon"), number("probability"), found["place"].as_str());
    py.import("locdiff._types")?.getattr("Hypothesis")?.call1(given)
}

/// A result as `locdiff.results` has it, from its JSON.
pub(crate) fn record<'py>(py: Python<'py>, kind: &str, json: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("locdiff.results")?.getattr(kind)?.call_method1("from_json", (json.to_string(),))
}

/// JSON as Python's own values.
pub(crate) fn from_json<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}

/// Numbers of any type and shape.
pub(crate) type Numbers<'py> = PyArrayLikeDyn<'py, f64, numpy::AllowTypeChange>;

/// Degrees of two arrays of one dimension and the same length.
pub(crate) fn degrees(lat: &Numbers<'_>, lon: &Numbers<'_>) -> PyResult<Vec<LatLon>> {
    let (lat, lon) = (lat.as_array(), lon.as_array());
    if let Some(other) = [&lat, &lon].into_iter().find(|array| array.ndim() != 1) {
        let shape = other.shape();
        let message = format!("latitudes or longitudes of shape {shape:?}: give one dimension, such as lat.ravel()");
        return Err(crate::errors::SettingError::new_err(message));
    }
    if lat.len() != lon.len() {
        let message = format!("{} latitudes and {} longitudes: give as many of both", lat.len(), lon.len());
        return Err(crate::errors::SettingError::new_err(message));
    }
    lat.iter().zip(lon).map(|(lat, lon)| LatLon::new(*lat, *lon)).collect::<Result<_, _>>().or_setting()
}

/// Reads rows of latitude and longitude. A row of two NaN has no location.
pub(crate) fn rows(array: &PyArrayLike2<'_, f64, numpy::AllowTypeChange>) -> PyResult<Vec<Option<LatLon>>> {
    let array = array.as_array();
    if array.ncols() != 2 {
        let message =
            format!("an array of {} columns holds no places: give [N, 2], latitude and longitude", array.ncols());
        return Err(crate::errors::SettingError::new_err(message));
    }
    let place = |row: numpy::ndarray::ArrayView1<'_, f64>| {
        if row[0].is_nan() && row[1].is_nan() { Ok(None) } else { LatLon::new(row[0], row[1]).map(Some) }
    };
    array.rows().into_iter().map(place).collect::<Result<_, _>>().or_setting()
}

/// Places as an array of [N, 2].
pub(crate) fn array<'py>(py: Python<'py>, places: &[LatLon]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows: Vec<Vec<f64>> = places.iter().map(|at| vec![at.lat_deg(), at.lon_deg()]).collect();
    if rows.is_empty() {
        return Ok(PyArray2::zeros(py, [0, 2], false));
    }
    Ok(PyArray2::from_vec2(py, &rows)?)
}

/// Codes and embeddings must be arrays of numbers that are not converted in silence.
pub(crate) type Matrix<'py, T> = PyArrayLike2<'py, T, TypeMustMatch>;
