//! LocDiff and retrieval together: a mixture of their densities.

use crate::reading::{CommonReading, THINNEST};
use crate::{Baseline, FitData, PhotoDensity, Points, Result, knn::NearestNeighbours, reading::exp_sum};
use locdiff_model::answer::Globe;
use locdiff_nn::Device;
use locdiff_shdd::sphere::{LatLon, UnitVec};
use rayon::prelude::*;
use std::{f64::consts::PI, sync::Arc};

/// A model's density, calibrated on validation, mixed with kernels of several widths about the training photos' places that look alike:
/// all shares at once are those of the greatest likelihood there.
pub(crate) struct Blend<M> {
    model: M,
    retrieval: NearestNeighbours,
    globe: Arc<Globe>,
    mix: Mix,
}

/// How both are mixed.
#[derive(Clone, Copy)]
struct Mix {
    reading: CommonReading,
    share: f64,
}

impl<M: Baseline> Blend<M> {
    pub(crate) fn fit(device: &Device, model: M, data: FitData<'_>, progress: &mut dyn FnMut(f64)) -> Result<Self> {
        let globe = Arc::new(Globe::new(crate::reading::READ_DEGREE)?);
        let reading = CommonReading::choose(&globe, &model, data.validation)?;
        let logs = reading.read(&globe, &model, data.validation)?.log_densities;
        let retrieval = NearestNeighbours::fit(device, data, Some(&logs), progress)?;
        let share = retrieval.share_beside();
        Ok(Self { model, retrieval, globe, mix: Mix { reading, share } })
    }

    /// The logarithm of each calibrated density's integral before its floor, with the exponent.
    fn integrals(&self, embeddings: &[f32]) -> Result<Vec<f64>> {
        let pixels = self.globe.pixels();
        let temper = self.mix.reading.temper;
        let integral = |row: &Vec<f32>| {
            let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum = exp_sum(row, temper as f32, top) * pixels.area_sr();
            temper * f64::from(top) + sum.ln()
        };
        Ok(self.model.at_all(embeddings, Points::Pixels(pixels))?.par_iter().map(integral).collect())
    }
}

impl Mix {
    fn density<'a>(self, own: PhotoDensity<'a>, integral: f64, found: PhotoDensity<'a>) -> PhotoDensity<'a> {
        Box::new(move |points| {
            let pairs = own(points).into_iter().zip(found(points));
            pairs.map(|(own, found)| self.log_density(own, integral, found)).collect()
        })
    }

    /// The mixture's log density, of the model's and of retrieval's.
    fn log_density(self, own: f64, integral: f64, found: f64) -> f64 {
        let CommonReading { temper, floor, .. } = self.reading;
        let own = (1.0 - floor) * (temper * own.max(THINNEST) - integral).exp() + floor / (4.0 * PI);
        (self.share * own + (1.0 - self.share) * found.exp()).ln()
    }
}

impl<M: Baseline> Baseline for Blend<M> {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        self.model.predict(embeddings)
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let models = self.model.densities(embeddings)?.into_iter().zip(self.integrals(embeddings)?);
        let both = models.zip(self.retrieval.densities(embeddings)?);
        Ok(both.map(|((own, integral), found)| self.mix.density(own, integral, found)).collect())
    }

    fn at_all(&self, embeddings: &[f32], points: Points<'_>) -> Result<Vec<Vec<f32>>> {
        let (own, found) = (self.model.at_all(embeddings, points)?, self.retrieval.at_all(embeddings, points)?);
        let rows = own.into_par_iter().zip(found).zip(self.integrals(embeddings)?);
        let mix = self.mix;
        let both = |((own, found), integral): ((Vec<f32>, Vec<f32>), f64)| {
            let pairs = own.into_iter().zip(found);
            pairs.map(|(own, found)| mix.log_density(f64::from(own), integral, f64::from(found)) as f32).collect()
        };
        Ok(rows.map(both).collect())
    }

    fn at_truths(&self, embeddings: &[f32], truths: &[UnitVec]) -> Result<Option<Vec<f64>>> {
        self.model.at_truths(embeddings, truths)
    }

    fn parameters(&self) -> usize {
        self.model.parameters() + self.retrieval.parameters()
    }

    fn chosen(&self) -> String {
        let (own, share) = (self.model.chosen(), 100.0 * self.mix.share);
        format!("{own}, {}, share {share:.0} %; beside {}", self.mix.reading, self.retrieval.chosen())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{baseline::Constant, toy};
    use locdiff_shdd::sphere::Grid;

    #[test]
    fn the_mixture_is_a_density_and_no_worse_than_either() {
        let (training, validation) = (toy::cities(300, 1), toy::cities(80, 2));
        let data = FitData { training: &training, validation: &validation };
        let device = Device::cpu();
        let blend = Blend::fit(&device, Constant::fit(data).unwrap(), data, &mut |_| ()).unwrap();
        let retrieval = NearestNeighbours::fit(&device, data, None, &mut |_| ()).unwrap();
        let photos = validation.photos();
        let mean = |method: &dyn Baseline| {
            let each = method.densities(photos).unwrap();
            let at =
                each.iter().zip(validation.points()).map(|(own, at)| own(Points::Any(std::slice::from_ref(at)))[0]);
            at.sum::<f64>() / validation.len() as f64
        };
        let [both, alone] = [mean(&blend), mean(&retrieval)];
        assert!(both > alone - 0.01, "{both} {alone}");
        let grid = Grid::fibonacci(60_000).unwrap();
        let logs = &blend.at_all(&photos[..6], Points::Any(grid.points())).unwrap()[0];
        let mass: f64 = logs.iter().zip(grid.weights()).map(|(log, weight)| f64::from(*log).exp() * weight).sum();
        assert!((mass - 1.0).abs() < 0.03, "{mass}");
    }
}
