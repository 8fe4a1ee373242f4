//! What every method can do.

use crate::{BaselineError, Examples};
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

/// A method that learns places from embeddings.
pub trait Baseline {
    /// Learns, telling the share done from 0 to 1 now and then.
    ///
    /// # Errors
    /// Data that do not fit, or a failure of the device.
    fn fit(&mut self, data: FitData<'_>, progress: &mut dyn FnMut(f64)) -> Result<(), BaselineError>;

    /// One place for every row of embeddings.
    ///
    /// # Errors
    /// Rows of another size, or a method that was not fitted.
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>, BaselineError>;

    /// The log density in nats per steradian that each row's answer puts on that row's point; `None` for a method
    /// without a density.
    ///
    /// # Errors
    /// As [`Baseline::predict`].
    fn log_density(
        &self,
        _embeddings: &[f32],
        _points: &[UnitVec],
    ) -> Result<Option<Vec<f64>>, BaselineError> {
        Ok(None)
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
