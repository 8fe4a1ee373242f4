//! Answers for photos, as Python objects.

use crate::places::{Numbers, degrees, from_json, hypothesis, json_place, place};
use crate::{again::MadeOf, errors::OrRaise, errors::locate, pool::compute};
use locdiff::{AnswerMap, EmbeddedPhoto, Embedding, FlatOptions, LatLon, LocateError};
use locdiff_io::data::Fingerprint;
use numpy::PyArray1;
use pyo3::types::{PyBytes, PyList};
use pyo3::{prelude::*, pybacked::PyBackedBytes};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// Answer for a photo: locations with probabilities and radii. It can be pickled: the density is then computed again from the
/// photo's embedding, and needs the model's folder.
#[pyclass(frozen, module = "locdiff")]
pub(crate) struct Answer {
    /// The line of `locate --json`.
    line: Value,
    made_of: MadeOf,
    /// The answer with its density, which is computed again after unpickling.
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

/// Returns the density of an answer. Answers for photos always have one.
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
    /// Name of the photo, if it has one.
    #[getter]
    fn photo(&self) -> Option<&str> {
        self.string("photo")
    }

    /// Location in the photo's metadata: reported, never used.
    #[getter]
    fn gps<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let at = self.line.get("gps").filter(|at| !at.is_null()).map(json_place).transpose().or_data()?;
        at.map(|at| place(py, at)).transpose()
    }

    /// Best location in degrees: `answer.best.lat`, `answer.best.lon`.
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

    /// Best location in words: the nearest town.
    #[getter]
    fn place(&self) -> &str {
        self.string("place").unwrap_or_default()
    }

    /// Country of the best location, in English; None at sea.
    #[getter]
    fn country(&self) -> Option<&str> {
        self.string("country")
    }

    /// ISO 3166 code of the country, two letters.
    #[getter]
    fn country_code(&self) -> Option<&str> {
        self.string("country_code")
    }

    /// Distance in km within which half of all photos with such answers were taken.
    #[getter]
    fn radius_50_km(&self) -> f64 {
        self.number("radius_50_km")
    }

    /// Distance in km within which nine in ten photos with such answers were taken.
    #[getter]
    fn radius_90_km(&self) -> f64 {
        self.number("radius_90_km")
    }

    /// Area in km² of the smallest region that holds half of the probability.
    #[getter]
    fn area_50_km2(&self) -> f64 {
        self.number("area_50_km2")
    }

    /// Area in km² of the smallest region that holds 90 % of the probability.
    #[getter]
    fn area_90_km2(&self) -> f64 {
        self.number("area_90_km2")
    }

    /// Radius in km of the circle that the best location holds most probability in.
    #[getter]
    fn window_km(&self) -> f64 {
        self.number("window_km")
    }

    /// Possible locations, the most probable first; the first is the best location.
    #[getter]
    fn hypotheses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let each = self.line["hypotheses"].as_array().into_iter().flatten();
        PyList::new(py, each.map(|found| hypothesis(py, found)).collect::<PyResult<Vec<_>>>()?)
    }

    /// Probability that the best location is right within 750 km.
    #[getter]
    fn locatability(&self) -> f64 {
        self.number("locatability")
    }

    /// Whether `locatability` reaches the calibration's threshold.
    #[getter]
    fn can_tell(&self) -> bool {
        self.line["can_tell"].as_bool().unwrap_or_default()
    }

    /// Probability that the photo is of the kind that the model was trained on.
    #[getter]
    fn familiarity(&self) -> f64 {
        self.number("familiarity")
    }

    /// Information of the photo in nats (natural units of information).
    #[getter]
    fn information_nats(&self) -> f64 {
        self.number("information_nats")
    }

    /// Regions and prior that restrict the answer, as given.
    #[getter]
    fn restricted_by(&self) -> Vec<&str> {
        self.line["restricted_by"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Lines of text that were used, with their boxes and effects; None if there are none.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.line.get("text").map(|lines| from_json(py, &lines.to_string())).transpose()
    }

    /// Effect of each factor of the density, with `why=True`; otherwise None.
    #[getter]
    fn ledger<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.line.get("ledger").map(|rows| from_json(py, &rows.to_string())).transpose()
    }

    /// Contribution of a gallery, if one is used.
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

    /// Return the log density per steradian at locations in degrees: `answer.log_density(48.86, 2.35)`.
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

    /// Return the probability within a distance in km: `answer.mass_within_km(48.86, 2.35, 100)`.
    fn mass_within_km(&self, py: Python<'_>, lat: f64, lon: f64, radius_km: f64) -> PyResult<f64> {
        let centre = LatLon::new(lat, lon).or_setting()?;
        let answer = self.whole(py)?;
        compute(py, move || density_of(&answer).mass_within_km(centre, radius_km))
    }

    /// Return the answer as JSON: the line that `locdiff locate --json` prints.
    fn to_json(&self) -> String {
        self.line.to_string()
    }

    /// Return the answer as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.to_json())
    }

    /// Return the 50 and 90 % regions and the hypotheses as a GeoJSON FeatureCollection.
    fn to_geojson<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.draw(py, |map| Ok(map.geojson()))?)
    }

    /// Return the regions and the hypotheses as KML, for Google Earth.
    fn to_kml(&self, py: Python<'_>) -> PyResult<String> {
        self.draw(py, |map| Ok(map.kml()))
    }

    /// Return an HTML page with a map that needs no network: `Path("map.html").write_text(answer.to_html())`.
    fn to_html(&self, py: Python<'_>) -> PyResult<String> {
        self.draw(py, |map| Ok(map.html()))
    }

    /// Return a map as the bytes of a PNG file: `Path("map.png").write_bytes(answer.to_png())`.
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
