//! Photos of a trip, answered together.

use crate::errors::{SettingError, locate};
use crate::places::from_json;
use crate::pool::compute;
use locdiff::{AlbumAnswer, AlbumSettings, EmbeddedPhoto, LatLon, LocateError, LocateOptions, Locator, album_times};
use locdiff::parts::{parse_time, set_clocks};
use pyo3::prelude::*;

/// What the caller knows of the photos, one entry for each; nothing where the photos say it themselves.
#[derive(Default)]
pub(crate) struct Known {
    times: Option<Vec<Option<f64>>>,
    gps: Option<Vec<Option<LatLon>>>,
}

impl Known {
    /// Reads both lists; they must be as long as the photos are many.
    pub(crate) fn of(
        times: Option<&Bound<'_, PyAny>>,
        gps: Option<&Bound<'_, PyAny>>,
        count: usize,
    ) -> PyResult<Self> {
        let known = Self { times: list(times, seconds)?, gps: list(gps, tag)? };
        let lengths =
            [("times", known.times.as_ref().map(Vec::len)), ("gps", known.gps.as_ref().map(Vec::len))];
        for (name, length) in lengths {
            if let Some(length) = length.filter(|length| *length != count) {
                let message =
                    format!("{name} has {length} entries for {count} photos: give one for each, or None");
                return Err(SettingError::new_err(message));
            }
        }
        Ok(known)
    }
}

/// Answers for the photos that could be read, with their positions, as the lines of `album --json`.
pub(crate) fn answers<'py>(
    py: Python<'py>,
    locator: &Locator,
    (at, mut photos): (Vec<usize>, Vec<EmbeddedPhoto>),
    known: &Known,
    (same_place, trust_clocks): (bool, bool),
    options: &LocateOptions,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let found = compute(py, || -> Result<Vec<AlbumAnswer>, LocateError> {
        if let Some(gps) = &known.gps {
            photos.iter_mut().zip(&at).for_each(|(photo, k)| photo.gps = gps[*k]);
        }
        let mut times = album_times(&photos);
        if let Some(given) = &known.times {
            for (time, k) in times.iter_mut().zip(&at) {
                if let Some(seconds) = given[*k] {
                    *time = locdiff::PhotoTime::at(seconds);
                }
            }
        }
        let mut photos = locator.album_photos(&photos, &times, options)?;
        let album = locator.album(AlbumSettings::default())?;
        if same_place {
            return Ok(album.same_place(&photos, None)?);
        }
        if !trust_clocks {
            let wrong = album.wrong_clocks(&photos)?;
            set_clocks(&mut photos, &wrong);
        }
        Ok(album.answers(&photos, &[], |_| ())?)
    })?;
    let found = found.map_err(|error| locate(&error))?;
    found.iter().map(|answer| from_json(py, &answer.to_json().to_string())).collect()
}

/// Each of a list by a rule, None as it is.
fn list<T>(
    given: Option<&Bound<'_, PyAny>>,
    read: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Option<Vec<Option<T>>>> {
    let Some(given) = given else { return Ok(None) };
    let one = |value: PyResult<Bound<'_, PyAny>>| {
        let value = value?;
        if value.is_none() { Ok(None) } else { read(&value).map(Some) }
    };
    given.try_iter()?.map(one).collect::<PyResult<_>>().map(Some)
}

/// A time: seconds since 1970, a text as in EXIF or ISO 8601, or a datetime.
fn seconds(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    if let Ok(text) = value.extract::<String>() {
        return parse_time(&text, None)
            .map(|(seconds, _)| seconds)
            .map_err(|error| SettingError::new_err(error.to_string()));
    }
    let seconds: f64 = match value.extract() {
        Ok(seconds) => seconds,
        Err(_) => value.call_method0("timestamp")?.extract()?,
    };
    if seconds.is_finite() {
        Ok(seconds)
    } else {
        Err(SettingError::new_err(format!(
            "{seconds} is no time: give seconds since 1970, a text or a datetime"
        )))
    }
}

/// A latitude and a longitude.
fn tag(value: &Bound<'_, PyAny>) -> PyResult<LatLon> {
    let (lat, lon): (f64, f64) = value.extract()?;
    LatLon::new(lat, lon).map_err(|error| SettingError::new_err(error.to_string()))
}
