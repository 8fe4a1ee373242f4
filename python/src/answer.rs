//! What is said about a photo, as Python sees it.

use crate::density::pixel_density;
use crate::errors::locate;
use crate::places::{degrees, from_json, place};
use crate::pool::compute;
use locdiff::{AnswerMap, Atlas, LatLon, LocateError};
use numpy::{AllowTypeChange, PyArray1, PyArrayLike1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::sync::{Arc, OnceLock};

/// Where a photo was taken, as far as can be told.
#[pyclass(frozen, module = "locdiff")]
pub(crate) struct Answer {
    inner: Arc<locdiff::Answer>,
}

impl Answer {
    /// Keeps a few kilobytes of it: the density's values at the pixels are worked out again when they are asked for.
    pub(crate) fn new(mut answer: locdiff::Answer) -> Self {
        answer.density = answer.density.compact();
        Self { inner: Arc::new(answer) }
    }

    fn draw<T: Send>(
        &self,
        py: Python<'_>,
        pick: impl FnOnce(&AnswerMap<'_>) -> Result<T, LocateError> + Send,
    ) -> PyResult<T> {
        static ATLAS: OnceLock<Atlas> = OnceLock::new();
        let answer = self.inner.clone();
        let drawn = compute(py, move || {
            let atlas = if let Some(atlas) = ATLAS.get() {
                atlas
            } else {
                let made = Atlas::new()?;
                ATLAS.get_or_init(|| made)
            };
            pick(&atlas.draw(&answer)?)
        })?;
        drawn.map_err(|error| locate(&error))
    }
}

#[pymethods]
impl Answer {
    /// The photo's name, where it has one.
    #[getter]
    fn photo(&self) -> Option<&str> {
        self.inner.photo.as_deref()
    }

    /// Where the photo itself says it was taken: reported, never used.
    #[getter]
    fn gps<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.inner.gps.map(|at| place(py, at)).transpose()
    }

    /// The best place: `answer.best.lat`, `answer.best.lon`.
    #[getter]
    fn best<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        place(py, self.inner.best)
    }

    /// The best place in words: the nearest town.
    #[getter]
    fn place(&self) -> &str {
        &self.inner.place
    }

    /// The country of the best place, in English; None at sea.
    #[getter]
    fn country(&self) -> Option<&str> {
        self.inner.country.as_deref()
    }

    /// Two letters of ISO 3166 for the country.
    #[getter]
    fn country_code(&self) -> Option<&str> {
        self.inner.country_code.as_deref()
    }

    /// Half of all photos with answers like this one were taken within this distance of the best place.
    #[getter]
    fn radius_50_km(&self) -> f64 {
        self.inner.radius_50_km
    }

    /// The same for nine in ten.
    #[getter]
    fn radius_90_km(&self) -> f64 {
        self.inner.radius_90_km
    }

    /// Area of the smallest region that holds the place with probability ½.
    #[getter]
    fn area_50_km2(&self) -> f64 {
        self.inner.area_50_km2
    }

    /// The same with probability 0.9.
    #[getter]
    fn area_90_km2(&self) -> f64 {
        self.inner.area_90_km2
    }

    /// The radius of the window that the density was seen through.
    #[getter]
    fn window_km(&self) -> f64 {
        self.inner.window_km
    }

    /// Places it may be, the most probable first; the first is the best place.
    #[getter]
    fn hypotheses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let each = self.inner.hypotheses.iter().map(|found| Hypothesis {
            at: found.at,
            probability: found.probability,
            place: found.place.clone(),
        });
        PyList::new(py, each.map(|found| Py::new(py, found)).collect::<PyResult<Vec<_>>>()?)
    }

    /// The probability that the best place is right to within 750 km.
    #[getter]
    fn locatability(&self) -> f64 {
        self.inner.locatability
    }

    /// Whether that is enough for an answer to mean something.
    #[getter]
    fn can_tell(&self) -> bool {
        self.inner.can_tell
    }

    /// The probability that the photo is of the kind that the model was trained for.
    #[getter]
    fn familiarity(&self) -> f64 {
        self.inner.familiarity
    }

    /// What the photo adds to knowing nothing about it, in nats.
    #[getter]
    fn information_nats(&self) -> f64 {
        self.inner.information_nats
    }

    /// What a gallery had to do with it, where one was asked.
    #[getter]
    fn gallery<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let json = self.inner.to_json();
        json.get("gallery").map(|word| from_json(py, &word.to_string())).transpose()
    }

    /// The density per steradian on the pixels of HEALPix, in nested order: times `4 * pi / len(density)` it sums to 1.
    #[getter]
    fn density<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let answer = self.inner.clone();
        let values = compute(py, move || {
            let pixels = answer.density.globe().pixels();
            pixel_density(pixels, |points| answer.density.log_density(points))
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// HEALPix's resolution of `density`: it has `12 * nside ** 2` pixels.
    #[getter]
    fn nside(&self) -> usize {
        1 << self.inner.density.globe().pixels().depth()
    }

    /// Log density per steradian at places, in degrees.
    fn log_density<'py>(
        &self,
        py: Python<'py>,
        lat: PyArrayLike1<'py, f64, AllowTypeChange>,
        lon: PyArrayLike1<'py, f64, AllowTypeChange>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let places = degrees(&lat, &lon)?;
        let answer = self.inner.clone();
        let values = compute(py, move || {
            let points: Vec<_> = places.into_iter().map(LatLon::to_unit).collect();
            answer.density.log_density(&points)
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// The probability within a distance of a place.
    fn mass_within_km(&self, py: Python<'_>, lat: f64, lon: f64, radius_km: f64) -> PyResult<f64> {
        use crate::errors::OrRaise;
        let centre = LatLon::new(lat, lon).or_setting()?;
        let answer = self.inner.clone();
        compute(py, move || answer.density.mass_within_km(centre, radius_km))
    }

    /// The answer as JSON: the line that `locdiff locate --json` prints.
    fn to_json(&self) -> String {
        self.inner.to_json().to_string()
    }

    /// The same as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.to_json())
    }

    /// Regions of 50 and 90 % and the hypotheses as a GeoJSON FeatureCollection.
    fn to_geojson<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.draw(py, |map| Ok(map.geojson()))?;
        from_json(py, &text)
    }

    /// The same for Google Earth.
    fn to_kml(&self, py: Python<'_>) -> PyResult<String> {
        self.draw(py, |map| Ok(map.kml()))
    }

    /// A page with a map to look at, which needs no network.
    fn to_html(&self, py: Python<'_>) -> PyResult<String> {
        self.draw(py, |map| Ok(map.html()))
    }

    /// A map as a picture: the bytes of a PNG file.
    fn to_png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.draw(py, |map| map.png())?))
    }

    /// The map in a notebook.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let page = locdiff_base::escape_markup(&self.to_html(py)?);
        Ok(format!(
            "<iframe srcdoc=\"{page}\" sandbox=\"allow-scripts\" style=\"width:100%;height:480px;border:0\"></iframe>"
        ))
    }

    fn __repr__(&self) -> String {
        let (best, place) = (self.inner.best, &self.inner.place);
        let half = locdiff::parts::kilometres(self.inner.radius_50_km);
        format!("<Answer {best}, {place}, 50 % within {half} km>")
    }
}

/// A place it may be.
#[pyclass(frozen, module = "locdiff")]
pub(crate) struct Hypothesis {
    at: LatLon,
    /// The probability within the window about it, without what a more probable place holds already.
    #[pyo3(get)]
    probability: f64,
    /// The place in words: the nearest town.
    #[pyo3(get)]
    place: String,
}

#[pymethods]
impl Hypothesis {
    /// Latitude in degrees.
    #[getter]
    fn lat(&self) -> f64 {
        self.at.lat_deg()
    }

    /// Longitude in degrees.
    #[getter]
    fn lon(&self) -> f64 {
        self.at.lon_deg()
    }

    fn __repr__(&self) -> String {
        format!("<Hypothesis {}, {}, {:.0} %>", self.at, self.place, 100.0 * self.probability)
    }
}
