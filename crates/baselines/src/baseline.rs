//! What every method can do.

use crate::{BaselineError, Examples};
use locdiff_answer::Kernels;
use locdiff_eval::Accuracy;
use locdiff_sphere::{LatLon, UnitVec};
use rayon::prelude::*;

/// What a method may see: it learns from `training`, and chooses among its settings on `validation` alone.
#[derive(Debug, Clone, Copy)]
pub struct FitData<'a> {
    /// To learn from.
    pub training: &'a Examples,
    /// To choose by.
    pub validation: &'a Examples,
}

/// Log density in nats per steradian of one photo's place, at any points.
pub type PhotoDensity<'a> = Box<dyn Fn(&[UnitVec]) -> Vec<f64> + Send + Sync + 'a>;

/// A method that learns places from embeddings.
pub trait Baseline {
    /// Learns, telling the share done from 0 to 1 now and then.
    /// Errors: data that do not fit, or a failure of the device.
    fn fit(&mut self, data: FitData<'_>, progress: &mut dyn FnMut(f64)) -> Result<(), BaselineError>;

    /// One place for every row of embeddings.
    /// Errors: rows of another size, or a method that was not fitted.
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>, BaselineError>;

    /// The density of every row, as the method gives it, before any calibration; `None` for a method without densities.
    /// Errors: as [`Baseline::predict`].
    fn densities(&self, _embeddings: &[f32]) -> Result<Option<Vec<PhotoDensity<'_>>>, BaselineError> {
        Ok(None)
    }

    /// The log density in nats per steradian that each row's density puts on that row's point.
    /// Errors: as [`Baseline::predict`].
    fn log_density(&self, embeddings: &[f32], points: &[UnitVec]) -> Result<Option<Vec<f64>>, BaselineError> {
        let densities = self.densities(embeddings)?;
        let at = |(density, point): (PhotoDensity<'_>, &UnitVec)| density(std::slice::from_ref(point))[0];
        Ok(densities.map(|densities| densities.into_iter().zip(points).map(at).collect()))
    }

    /// Numbers that were learned, or kept from the training data.
    fn parameters(&self) -> usize;

    /// What was chosen on the validation data, in words; empty where nothing was.
    fn chosen(&self) -> String {
        String::new()
    }
}

/// The one number that choices are made by: the mean of the shares within 25, 200, 750 and 2500 km.
pub(crate) fn score(answers: &[LatLon], truth: &[UnitVec]) -> f64 {
    Accuracy::new(answers.iter().copied().zip(truth.iter().map(|point| point.to_latlon()))).score()
}

/// For each row of values the place with the highest.
pub(crate) fn highest(values: &[f32], places: &[UnitVec]) -> Vec<LatLon> {
    let best = |row: &[f32]| (0..row.len()).max_by(|&i, &j| row[i].total_cmp(&row[j])).unwrap_or(0);
    values.par_chunks_exact(places.len()).map(|row| places[best(row)].to_latlon()).collect()
}

/// A sum of Gaussian kernels of one width about weighted places, as a density.
pub(crate) fn kernels(places: Vec<(UnitVec, f64)>, width_km: f64) -> PhotoDensity<'static> {
    let kernels = Kernels::new(places, width_km);
    Box::new(move |points| kernels.log_densities(points))
}
