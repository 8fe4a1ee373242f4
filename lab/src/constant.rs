//! Always the same place: what a method must be ahead of to be called an answer.

use crate::reading::{NARROWEST_KM, READ_DEGREE, nll_with_floor};
use crate::{Baseline, FitData, PhotoDensity, Result, search};
use locdiff_model::{answer::Globe, answer::Kernels, eval::best_constant};
use locdiff_shdd::sphere::{LatLon, UnitVec};

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
