//! What the caller knows of an album's photos.

use crate::errors::{OrRaise, SettingError};
use locdiff::{LatLon, PhotoTime, Source};
use pyo3::prelude::*;

/// Photos with the times and tags that the caller gives; otherwise the photos' metadata counts.
pub(crate) fn with_known(
    sources: Vec<Source>,
    times: Option<&Bound<'_, PyAny>>,
    gps: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Source>> {
    let count = sources.len();
    let (times, gps) = (list("times", times, count, time)?, list("gps", gps, count, tag)?);
    let known = times.into_iter().zip(gps);
    Ok(sources.into_iter().zip(known).map(|(source, (time, gps))| source.with_time(time).with_gps(gps)).collect())
}

/// Converts each item of a list, except None. Without a list, returns None for each photo.
fn list<T>(
    name: &str,
    given: Option<&Bound<'_, PyAny>>,
    count: usize,
    read: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<Option<T>>> {
    let Some(given) = given else { return Ok((0..count).map(|_| None).collect()) };
    let one = |value: PyResult<Bound<'_, PyAny>>| {
        let value = value?;
        if value.is_none() { Ok(None) } else { read(&value).map(Some) }
    };
    let all: Vec<Option<T>> = given.try_iter()?.map(one).collect::<PyResult<_>>()?;
    if all.len() == count {
        return Ok(all);
    }
    let message = format!("{name} has {} entries for {count} photos: give one for each, or None", all.len());
    Err(SettingError::new_err(message))
}

/// A time: seconds since 1970, a text as in EXIF or ISO 8601, or a datetime.
fn time(value: &Bound<'_, PyAny>) -> PyResult<PhotoTime> {
    if let Ok(text) = value.extract::<String>() {
        return PhotoTime::read(&text, None).or_setting();
    }
    let seconds: f64 = match value.extract() {
        Ok(seconds) => seconds,
        Err(_) => value.call_method0("timestamp")?.extract()?,
    };
    if seconds.is_finite() {
        return Ok(PhotoTime::at(seconds));
    }
    let message = format!("{seconds} is no time: give seconds since 1970, a text or a datetime");
    Err(SettingError::new_err(message))
}

/// A latitude and a longitude.
fn tag(value: &Bound<'_, PyAny>) -> PyResult<LatLon> {
    let (lat, lon): (f64, f64) = value.extract()?;
    LatLon::new(lat, lon).or_setting()
}
