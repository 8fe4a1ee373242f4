//! What every method can do, and the method that always answers the same place: what others must be ahead of to be called an answer.

use crate::reading::{NARROWEST_KM, READ_DEGREE, THINNEST, nll_with_floor};
use crate::{Effort, Examples, Result, search};
use locdiff_model::{answer::Globe, answer::Kernels, eval::Accuracy, eval::best_constant};
use locdiff_nn::Device;
use locdiff_shdd::sphere::{Field, LatLon, Pixels, UnitVec};
use rayon::prelude::*;

/// What a method may see: it learns from `training`, and chooses among its settings on `validation` alone.
#[derive(Debug, Clone, Copy)]
pub struct FitData<'a> {
    pub training: &'a Examples,
    pub validation: &'a Examples,
}

/// All that a method is fitted with.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) method: &'static str,
    pub(crate) device: &'a Device,
    pub(crate) effort: &'a Effort,
    pub(crate) seed: u64,
    pub(crate) data: FitData<'a>,
}

/// Where a density is asked for.
#[derive(Debug, Clone, Copy)]
pub enum Points<'a> {
    /// At any points.
    Any(&'a [UnitVec]),
    /// At the centres of all pixels, where fields have a faster way.
    Pixels(&'a Pixels),
}

impl<'a> Points<'a> {
    pub fn all(self) -> &'a [UnitVec] {
        match self {
            Self::Any(points) => points,
            Self::Pixels(pixels) => pixels.points(),
        }
    }

    pub(crate) fn values(self, field: &Field) -> Vec<f64> {
        match self {
            Self::Any(points) => field.values(points),
            Self::Pixels(pixels) => pixels.values(field),
        }
    }
}

/// Log density in nats per steradian of one photo's place, at any points.
pub type PhotoDensity<'a> = Box<dyn Fn(Points<'_>) -> Vec<f64> + Send + Sync + 'a>;

/// Makes a fitted method, telling the share done from 0 to 1 now and then.
pub type Fit<'a> = dyn Fn(FitData<'_>, &mut dyn FnMut(f64)) -> Result<Box<dyn Baseline>> + 'a;

/// A method that has learned places from embeddings. Embeddings are rows of the size that it was fitted with.
pub trait Baseline {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>>;

    /// The density of every row, as the method gives it, before any calibration.
    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>>;

    /// The log densities of every row at many points: as [`Baseline::densities`], where all rows at once are not faster.
    fn at_all(&self, embeddings: &[f32], points: Points<'_>) -> Result<Vec<Vec<f32>>> {
        let thin = |values: Vec<f64>| values.into_iter().map(|value| value.max(THINNEST) as f32).collect();
        Ok(self.densities(embeddings)?.par_iter().map(|density| thin(density(points))).collect())
    }

    /// The log density of every row at one point each, of a method for which more points take too long: its densities are read
    /// nowhere else.
    fn at_truths(&self, _embeddings: &[f32], _truths: &[UnitVec]) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// Numbers that were learned, or kept from the training data.
    fn parameters(&self) -> usize;

    /// What was chosen on the validation data, in words; empty where nothing was.
    fn chosen(&self) -> String {
        String::new()
    }

    /// Whether its densities and places are final: nothing is fitted to them here.
    fn is_calibrated(&self) -> bool {
        false
    }

    /// Whether its places are final: none is read off its densities.
    fn has_places(&self) -> bool {
        self.is_calibrated()
    }

    /// Whether its densities are kernels about a few draws: they measure the draws as well, so that no table has them.
    fn is_of_draws(&self) -> bool {
        false
    }

    /// For a location encoder: how far in km the decoded place of each of `count` even points is from the point itself, after
    /// normal noise of that variance on every number of its encoding. The paper's perturbation drift.
    fn drifts_km(&self, _variance: f64, _count: usize, _seed: u64) -> Result<Option<Vec<f64>>> {
        Ok(None)
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

/// The columns of the `most` highest values of a row, the highest first, of equals the earlier.
pub(crate) fn highest_columns(row: &[f32], most: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..row.len() as u32).collect();
    let falling = |a: &u32, b: &u32| row[*b as usize].total_cmp(&row[*a as usize]).then(a.cmp(b));
    if most < order.len() {
        order.select_nth_unstable_by(most, falling);
        order.truncate(most);
    }
    order.sort_unstable_by(falling);
    order
}

/// A sum of Gaussian kernels of one width about weighted places, as a density.
pub(crate) fn kernels(places: Vec<(UnitVec, f64)>, width_km: f64) -> PhotoDensity<'static> {
    let kernels = Kernels::new(places, width_km);
    Box::new(move |points| kernels.log_densities(points.all()))
}

/// The validation photos' place that has most of them around it, and the density of the training places: neither looks at the photo.
pub(crate) struct Constant {
    place: LatLon,
    width_km: f64,
    kernels: Kernels,
    columns: usize,
    /// The points at which every density is read, and the density there.
    grid: (Globe, Vec<f64>),
}

impl Constant {
    /// Chooses the place by the shares of validation photos near it, as `locdiff evaluate` does, and the kernels by −log density there.
    pub(crate) fn fit(data: FitData<'_>) -> Result<Self> {
        let places: Vec<LatLon> = data.validation.points().iter().map(|point| point.to_latlon()).collect();
        let place = best_constant(&places)
            .ok_or_else(|| locdiff_base::BadSetting::new("validation", "no photos", "at least one"))?;
        let kernels =
            |width_km: f64| Kernels::new(data.training.points().iter().map(|point| (*point, 1.0)).collect(), width_km);
        let numbered = |k: i32| (NARROWEST_KM * 2.0_f64.powf(0.5 * f64::from(k))).round();
        let [k] = search::best([(0, 4)], [(0, 12)], |[k]| {
            Ok(-nll_with_floor(&kernels(numbered(k)).log_densities(data.validation.points())))
        })?;
        let width_km = numbered(k);
        let (globe, kernels) = (Globe::new(READ_DEGREE)?, kernels(width_km));
        let at_grid = kernels.log_densities(globe.pixels().points());
        let columns = data.training.columns();
        Ok(Self { place, width_km, kernels, columns, grid: (globe, at_grid) })
    }

    fn log_densities(&self, points: &[UnitVec]) -> Vec<f64> {
        if points == self.grid.0.pixels().points() { self.grid.1.clone() } else { self.kernels.log_densities(points) }
    }
}

impl Baseline for Constant {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        Ok(vec![self.place; embeddings.len() / self.columns])
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let density = |_: usize| -> PhotoDensity<'_> { Box::new(|points| self.log_densities(points.all())) };
        Ok((0..embeddings.len() / self.columns).map(density).collect())
    }

    fn parameters(&self) -> usize {
        2
    }

    fn has_places(&self) -> bool {
        true
    }

    fn chosen(&self) -> String {
        format!("{}, kernels {} km", self.place, self.width_km)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    #[test]
    fn it_answers_the_same_and_its_density_is_that_of_the_places() {
        let (training, validation) = (toy::cities(300, 1), toy::cities(60, 2));
        let method = Constant::fit(FitData { training: &training, validation: &validation }).unwrap();
        let answers = method.predict(validation.photos()).unwrap();
        assert!(answers.len() == 60 && answers.iter().all(|answer| *answer == answers[0]));
        let globe = Globe::new(READ_DEGREE).unwrap();
        let logs = method.log_densities(globe.pixels().points());
        let mass: f64 = logs.iter().map(|log| log.exp() * globe.pixels().area_sr()).sum();
        assert!((mass - 1.0).abs() < 0.05, "{mass}");
    }
}
