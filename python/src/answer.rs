//! What is said about a photo, as Python sees it.

use crate::errors::{OrRaise, locate};
use crate::places::{Numbers, degrees, from_json, hypothesis, json_place, place};
use crate::{again::MadeOf, pool::compute};
use locdiff::{AnswerMap, EmbeddedPhoto, Embedding, FlatOptions, LatLon, LocateError};
use locdiff_io::data::Fingerprint;
use numpy::PyArray1;
use pyo3::types::{PyBytes, PyList};
use pyo3::{prelude::*, pybacked::PyBackedBytes};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// Where a photo was taken, as far as can be told.
///
/// It pickles: its fields as they are, its density as what it is made of, the photo's embedding and how the locator was opened.
#[pyclass(frozen, module = "locdiff")]
pub(crate) struct Answer {
    /// The line of `locate --json`.
    line: Value,
    made_of: MadeOf,
    /// With its density; made again where it was unpickled.
    whole: OnceLock<Arc<locdiff::Answer>>,
}

impl Answer {
    pub(crate) fn new(answer: locdiff::Answer, options: Arc<FlatOptions>, photo: EmbeddedPhoto) -> Self {
        let line = answer.to_json();
        let made = Self { line, made_of: MadeOf { options, photo }, whole: OnceLock::new() };
        made.whole.get_or_init(|| Arc::new(answer));
        made
    }

    /// The answer with its density.
    fn whole(&self, py: Python<'_>) -> PyResult<Arc<locdiff::Answer>> {
        if let Some(whole) = self.whole.get() {
            return Ok(whole.clone());
        }
        let best = json_place(&self.line["best"]).or_data()?;
        let made = compute(py, || self.made_of.answer(best))??;
        Ok(self.whole.get_or_init(|| Arc::new(made)).clone())
    }

    fn number(&self, name: &str) -> f64 {
        self.line[name].as_f64().unwrap_or(f64::NAN)
    }

    fn string(&self, name: &str) -> Option<&str> {
        self.line[name].as_str()
    }

    fn draw<T: Send>(
        &self,
        py: Python<'_>,
        pick: impl FnOnce(&AnswerMap<'_>) -> Result<T, LocateError> + Send,
    ) -> PyResult<T> {
        let answer = self.whole(py)?;
        let drawn = compute(py, move || pick(&AnswerMap::new(&answer)?))?;
        drawn.map_err(locate)
    }
}

/// The density of an answer that is a photo's own: all of these are.
fn density_of(answer: &locdiff::Answer) -> &locdiff::Density {
    answer.density().expect("a photo's own answer has a density")
}

/// The line, the options, the views of the photo and their encoder.
type Pickled<'py> = (String, String, Vec<Bound<'py, PyBytes>>, Option<String>);

/// An answer that was pickled.
#[pyfunction]
pub(crate) fn _unpickle_answer(
    line: &str,
    options: &str,
    views: Vec<PyBackedBytes>,
    encoder: Option<&str>,
) -> PyResult<Answer> {
    let line: Value = serde_json::from_str(line).or_data()?;
    let options: FlatOptions = serde_json::from_str(options).or_data()?;
    let encoder = encoder.map(|name| name.parse::<Fingerprint>().map(Arc::new)).transpose().or_data()?;
    let view = |bytes: &PyBackedBytes| {
        let (numbers, _) = bytes.as_chunks();
        Embedding::new(numbers.iter().map(|four| f32::from_le_bytes(*four)).collect(), encoder.clone())
    };
    let views: Vec<Embedding> = views.iter().map(view).collect::<Result<_, _>>().or_data()?;
    let gps = line.get("gps").filter(|at| !at.is_null()).map(json_place).transpose().or_data()?;
    let mut photo = EmbeddedPhoto::new(views).with_gps(gps);
    photo.name = line["photo"].as_str().map(str::to_owned);
    let made_of = MadeOf { options: Arc::new(options), photo };
    Ok(Answer { line, made_of, whole: OnceLock::new() })
}

#[pymethods]
impl Answer {
    /// The photo's name, where it has one.
    #[getter]
    fn photo(&self) -> Option<&str> {
        self.string("photo")
    }

    /// Where the photo itself says it was taken: reported, never used.
    #[getter]
    fn gps<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let at = self.line.get("gps").filter(|at| !at.is_null()).map(json_place).transpose().or_data()?;
        at.map(|at| place(py, at)).transpose()
    }

    /// The best place: `answer.best.lat`, `answer.best.lon`.
    #[getter]
    fn best<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        place(py, json_place(&self.line["best"]).or_data()?)
    }

    /// The smallest named region that holds at least half of the probability: "Bavaria, Germany", "Germany or Poland".
    #[getter]
    fn headline(&self) -> &str {
        self.string("headline").unwrap_or_default()
    }

    /// The most probable countries first, each with `code`, `name` and `probability`: those that hold 95 % together, at most 20.
    #[getter]
    fn countries<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.line["countries"].to_string())
    }

    /// The states of countries with more than a quarter of the probability, each with `code`, `name`, `country_code` and `probability`.
    #[getter]
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.line["states"].to_string())
    }

    /// The most probable continents first, each with `name` and `probability`.
    #[getter]
    fn continents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.line["continents"].to_string())
    }

    /// The best place in words: the nearest town.
    #[getter]
    fn place(&self) -> &str {
        self.string("place").unwrap_or_default()
    }

    /// The country of the best place, in English; None at sea.
    #[getter]
    fn country(&self) -> Option<&str> {
        self.string("country")
    }

    /// Two letters of ISO 3166 for the country.
    #[getter]
    fn country_code(&self) -> Option<&str> {
        self.string("country_code")
    }

    /// Half of all photos with answers like this one were taken within this distance of the best place.
    #[getter]
    fn radius_50_km(&self) -> f64 {
        self.number("radius_50_km")
    }

    /// The same for nine in ten.
    #[getter]
    fn radius_90_km(&self) -> f64 {
        self.number("radius_90_km")
    }

    /// Area of the smallest region that holds the place with probability ½.
    #[getter]
    fn area_50_km2(&self) -> f64 {
        self.number("area_50_km2")
    }

    /// The same with probability 0.9.
    #[getter]
    fn area_90_km2(&self) -> f64 {
        self.number("area_90_km2")
    }

    /// The radius of the window that the density was seen through.
    #[getter]
    fn window_km(&self) -> f64 {
        self.number("window_km")
    }

    /// Places it may be, the most probable first; the first is the best place.
    #[getter]
    fn hypotheses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let each = self.line["hypotheses"].as_array().into_iter().flatten();
        PyList::new(py, each.map(|found| hypothesis(py, found)).collect::<PyResult<Vec<_>>>()?)
    }

    /// The probability that the best place is right to within 750 km.
    #[getter]
    fn locatability(&self) -> f64 {
        self.number("locatability")
    }

    /// Whether that is enough for an answer to mean something.
    #[getter]
    fn can_tell(&self) -> bool {
        self.line["can_tell"].as_bool().unwrap_or_default()
    }

    /// The probability that the photo is of the kind that the model was trained for.
    #[getter]
    fn familiarity(&self) -> f64 {
        self.number("familiarity")
    }

    /// What the photo adds to knowing nothing about it, in nats.
    #[getter]
    fn information_nats(&self) -> f64 {
        self.number("information_nats")
    }

    /// The regions and the file of weights that the answer was restricted by, as they were given.
    #[getter]
    fn restricted_by(&self) -> Vec<&str> {
        self.line["restricted_by"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Lines of text that were used, with their boxes and effects; None if there are none.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.line.get("text").map(|lines| from_json(py, &lines.to_string())).transpose()
    }

    /// What each factor of the density did, with `why=True`; else None.
    #[getter]
    fn ledger<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.line.get("ledger").map(|rows| from_json(py, &rows.to_string())).transpose()
    }

    /// What a gallery had to do with it, where one was asked.
    #[getter]
    fn gallery<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.line.get("gallery").map(|word| from_json(py, &word.to_string())).transpose()
    }

    /// The density per steradian on the pixels of HEALPix, in nested order: times `4 * pi / len(density)` it sums to 1.
    #[getter]
    fn density<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let answer = self.whole(py)?;
        let values = compute(py, move || density_of(&answer).on_healpix().1)?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// HEALPix's resolution of `density`: it has `12 * nside ** 2` pixels.
    #[getter]
    fn nside(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(1 << density_of(&*self.whole(py)?).healpix_depth())
    }

    /// Log density per steradian at places, in degrees.
    fn log_density<'py>(
        &self,
        py: Python<'py>,
        lat: Numbers<'py>,
        lon: Numbers<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let places = degrees(&lat, &lon)?;
        let answer = self.whole(py)?;
        let values = compute(py, move || {
            let points: Vec<_> = places.into_iter().map(LatLon::to_unit).collect();
            density_of(&answer).log_density(&points)
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// The probability within a distance of a place.
    fn mass_within_km(&self, py: Python<'_>, lat: f64, lon: f64, radius_km: f64) -> PyResult<f64> {
        let centre = LatLon::new(lat, lon).or_setting()?;
        let answer = self.whole(py)?;
        compute(py, move || density_of(&answer).mass_within_km(centre, radius_km))
    }

    /// The answer as JSON: the line that `locdiff locate --json` prints.
    fn to_json(&self) -> String {
        self.line.to_string()
    }

    /// The same as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.to_json())
    }

    /// Regions of 50 and 90 % and the hypotheses as a GeoJSON FeatureCollection.
    fn to_geojson<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.draw(py, |map| Ok(map.geojson()))?)
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled<'py>)> {
        let unpickle = py.import("locdiff._locdiff")?.getattr("_unpickle_answer")?;
        let MadeOf { options, photo } = &self.made_of;
        let options = serde_json::to_string(&**options).or_data()?;
        let bytes = |view: &Embedding| -> Vec<u8> { view.values().iter().flat_map(|x| x.to_le_bytes()).collect() };
        let views = photo.views.iter().map(|view| PyBytes::new(py, &bytes(view))).collect();
        let encoder = photo.views.first().and_then(Embedding::encoder).map(ToString::to_string);
        Ok((unpickle, (self.to_json(), options, views, encoder)))
    }

    fn __repr__(&self) -> String {
        let best = json_place(&self.line["best"]).map_or(String::new(), |best| best.to_string());
        let half = locdiff_base::kilometres(self.radius_50_km());
        format!("<Answer {}, 50 % within {half} km of {best}>", self.string("headline").unwrap_or_default())
    }
}
