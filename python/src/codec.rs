//! SHDD codes of places, on numpy's arrays.

use crate::places::{Numbers, array, degrees};
use crate::{density::Density, errors::OrRaise, errors::SettingError, pool::compute};
use locdiff_shdd::{Coefficients, Decoder, sphere::Degree, sphere::EARTH_RADIUS_KM, sphere::LatLon, sphere::UnitVec};
use numpy::{AllowTypeChange, Element, PyArray2, PyArrayLike1, PyArrayLikeDyn, PyArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// Codec of locations: spherical harmonics up to a degree.
#[pyclass(frozen, module = "locdiff")]
pub(crate) struct Codec {
    inner: Arc<locdiff_shdd::Codec>,
}

impl Codec {
    fn encode_as<'py, T: Element + locdiff_shdd::sphere::Scalar + Send>(
        &self,
        py: Python<'py>,
        places: &[LatLon],
    ) -> PyResult<Bound<'py, PyAny>> {
        let codes = PyArray2::<T>::zeros(py, [places.len(), self.inner.degree().dimension()], false);
        let mut open = codes.readwrite();
        let out = open.as_slice_mut().expect("a new array lies in one piece");
        let encode = || {
            let points: Vec<UnitVec> = places.par_iter().map(|place| place.to_unit()).collect();
            self.inner.encode_batch(&points, out)
        };
        compute(py, encode)?.or_setting()?;
        drop(open);
        Ok(codes.into_any())
    }
}

#[pymethods]
impl Codec {
    /// Create a codec of degree L: codes have (L + 1)² numbers.
    #[new]
    fn new(degree: usize) -> PyResult<Self> {
        Ok(Self { inner: Arc::new(locdiff_shdd::Codec::new(Degree::new(degree).or_setting()?)) })
    }

    /// The degree L.
    #[getter]
    fn degree(&self) -> usize {
        self.inner.degree().get()
    }

    /// Numbers of a code: (L + 1)².
    #[getter]
    fn dimension(&self) -> usize {
        self.inner.degree().dimension()
    }

    fn __getnewargs__(&self) -> (usize,) {
        (self.degree(),)
    }

    /// Encode locations in degrees, one row each: `Codec(23).encode([48.86], [2.35])`. Codes are float32, or with `dtype="float64"`
    /// float64.
    #[pyo3(signature = (lat, lon, dtype="float32"))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        lat: Numbers<'py>,
        lon: Numbers<'py>,
        dtype: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let places = degrees(&lat, &lon)?;
        match dtype {
            "float32" => self.encode_as::<f32>(py, &places),
            "float64" => self.encode_as::<f64>(py, &places),
            _ => Err(SettingError::new_err(format!("dtype = {dtype} cannot be used: choose float32 or float64"))),
        }
    }

    /// Decode codes to locations, an array [N, 2] in degrees: the maximum of each density, or with `window_km` the location with most
    /// probability in that radius.
    #[pyo3(signature = (codes, window_km=None))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        codes: PyArrayLikeDyn<'py, f64, AllowTypeChange>,
        window_km: Option<f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let view = codes.as_array();
        let dimension = self.inner.degree().dimension();
        if view.shape().last() != Some(&dimension) {
            let message =
                format!("an array of shape {:?} holds no codes: its rows must have {dimension} numbers", view.shape());
            return Err(SettingError::new_err(message));
        }
        let flat: Vec<f64> = view.iter().copied().collect();
        let vectors = flat.chunks_exact(dimension).map(|row| Coefficients::new(row.to_vec()));
        let vectors = vectors.collect::<Result<Vec<_>, _>>().or_setting()?;
        let decoder = Decoder::Exact { window_rad: window_km.map(|km| km / EARTH_RADIUS_KM) };
        let modes = compute(py, || self.inner.decode_batch(&vectors, &decoder))?.or_setting()?;
        array(py, &modes.iter().map(|mode| mode.place()).collect::<Vec<_>>())
    }

    /// Return the density of one code.
    fn density(&self, code: PyArrayLike1<'_, f64, AllowTypeChange>) -> PyResult<Density> {
        let values: Vec<f64> = code.as_array().iter().copied().collect();
        let dimension = self.inner.degree().dimension();
        if values.len() != dimension {
            let message =
                format!("a code of {} numbers is not of degree {}: give {dimension}", values.len(), self.degree());
            return Err(SettingError::new_err(message));
        }
        Ok(Density::new(self.inner.clone(), Coefficients::new(values).or_setting()?))
    }

    fn __repr__(&self) -> String {
        format!("Codec({})", self.degree())
    }
}
