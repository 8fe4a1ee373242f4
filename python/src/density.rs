//! The density that a coefficient vector means.

use crate::places::{Numbers, array, degrees, place};
use crate::{errors::OrRaise, errors::SettingError, pool::compute};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, Pixels, UnitVec};
use locdiff_shdd::{CodeDensity, Codec, Coefficients};
use numpy::{PyArray1, PyArray2};
use pyo3::{prelude::*, types::PyList};
use rand::SeedableRng;
use std::sync::Arc;

/// Probability density on Earth of a coefficient vector: `exp(e·Y)` over its integral.
#[pyclass(frozen, module = "locdiff")]
pub(crate) struct Density {
    codec: Arc<Codec>,
    coefficients: Coefficients,
}

impl Density {
    pub(crate) fn new(codec: Arc<Codec>, coefficients: Coefficients) -> Self {
        Self { codec, coefficients }
    }

    fn with<T: Send>(&self, py: Python<'_>, read: impl FnOnce(&CodeDensity<'_>) -> T + Send) -> PyResult<T> {
        let made = compute(py, || self.codec.density(&self.coefficients).map(|density| read(&density)))?;
        made.or_setting()
    }
}

#[pymethods]
impl Density {
    /// Return the log density per steradian at locations in degrees.
    fn log_density<'py>(
        &self,
        py: Python<'py>,
        lat: Numbers<'py>,
        lon: Numbers<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let points: Vec<UnitVec> = degrees(&lat, &lon)?.into_iter().map(LatLon::to_unit).collect();
        Ok(PyArray1::from_vec(py, self.with(py, |density| density.log_density(&points))?))
    }

    /// Return the density per steradian on HEALPix pixels, in nested order; nside is a power of two up to 1024.
    fn healpix<'py>(&self, py: Python<'py>, nside: u32) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if !nside.is_power_of_two() || nside > 1024 {
            let message = format!("nside = {nside} cannot be used: a power of two up to 1024");
            return Err(SettingError::new_err(message));
        }
        let pixels = Pixels::new(nside.trailing_zeros() as u8).or_setting()?;
        let values = self.with(py, |density| pixel_density(&pixels, |points| density.log_density(points)))?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Return the differential entropy in nats, per steradian: log 4π ≈ 2.531 for the uniform density.
    fn entropy(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |density| density.entropy())
    }

    /// Return area (km²) and radius (km) of the smallest region that holds a probability.
    fn region(&self, py: Python<'_>, probability: f64) -> PyResult<(f64, f64)> {
        let region = self.with(py, |density| density.credible_region(probability))?.or_setting()?;
        Ok((region.area_km2, region.radius_km))
    }

    /// Return the probability within a distance of a location, in km.
    fn mass_within_km(&self, py: Python<'_>, lat: f64, lon: f64, radius_km: f64) -> PyResult<f64> {
        let centre = LatLon::new(lat, lon).or_setting()?.to_unit();
        self.with(py, |density| density.cap_mass(centre, radius_km / EARTH_RADIUS_KM))?.or_setting()
    }

    /// Return local maxima, the most probable first: pairs of location and probability.
    #[pyo3(signature = (most=5))]
    fn modes<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyList>> {
        let modes = self.with(py, |density| density.modes(most))?;
        let pairs = modes.iter().map(|found| Ok((place(py, found.mode.place())?, found.mass)));
        PyList::new(py, pairs.collect::<PyResult<Vec<_>>>()?)
    }

    /// Draw locations, an array [N, 2] in degrees.
    #[pyo3(signature = (count, seed=0))]
    fn sample<'py>(&self, py: Python<'py>, count: usize, seed: u64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let places: Vec<LatLon> = self.with(py, |density| {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
            density.sample(count, &mut rng).into_iter().map(UnitVec::to_latlon).collect()
        })?;
        array(py, &places)
    }
}

/// Density per steradian at the centres of pixels.
fn pixel_density(pixels: &Pixels, log_density: impl FnOnce(&[UnitVec]) -> Vec<f64>) -> Vec<f64> {
    log_density(pixels.points()).into_iter().map(f64::exp).collect()
}
