//! LocDiff and retrieval together: a mixture of their densities.

use crate::{
    Baseline, PhotoDensity, Points, baseline::Task, error::Result, knn::NearestNeighbours, locdiff::LocDiff,
    reading::CommonReading,
};
use locdiff_model::answer::{Globe, KernelSettings, Kernels, MOST_NEIGHBOURS, choose_mix};
use locdiff_shdd::sphere::LatLon;
use std::{f64::consts::PI, sync::Arc};

/// The temperature about which others are tried: embeddings' cosines differ by about this much between good and poor matches.
pub(crate) const TEMPERATURE: f64 = 0.05;

/// LocDiff+kNN as `locdiff calibrate` fits it: the model's density calibrated on validation, then mixed with kernels about the
/// nearest training photos, kernels and share by −log density there.
pub(crate) struct Blend {
    model: LocDiff,
    retrieval: NearestNeighbours,
    globe: Arc<Globe>,
    reading: CommonReading,
    kernels: KernelSettings,
    share: f64,
}

impl Blend {
    pub(crate) fn fit(task: Task<'_>, progress: &mut dyn FnMut(f64)) -> Result<Self> {
        let Task { device, effort, seed, data, .. } = task;
        let run = LocDiff::run_config(effort, seed);
        let model = LocDiff::fit(device, effort, run, data, &mut |share| progress(0.6 * share))?;
        let retrieval = NearestNeighbours::fit(device, data, &mut |share| progress(0.6 + 0.2 * share))?;
        let globe = Arc::new(Globe::new(model.codec().degree().get())?);
        let reading = CommonReading::choose(&globe, &model, data.validation)?;
        let logs = reading.read(&globe, &model, data.validation)?.log_densities;
        let nearest = retrieval.nearest(data.validation.photos(), MOST_NEIGHBOURS)?;
        let pairs = logs.iter().zip(&nearest).zip(data.validation.points());
        let photos: Vec<_> = pairs.map(|((log, near), truth)| (*log, near.as_slice(), *truth)).collect();
        let equal = vec![1.0 / photos.len().max(1) as f64; photos.len()];
        let (kernels, share, _) = choose_mix(globe.narrowest_kernel_km(), &photos, &equal, TEMPERATURE);
        progress(1.0);
        Ok(Self { model, retrieval, globe, reading, kernels, share })
    }
}

/// A density with its exponent and floor, normalised over the globe's pixels.
fn calibrated<'a>(globe: &Globe, density: PhotoDensity<'a>, reading: CommonReading) -> PhotoDensity<'a> {
    let area = globe.pixels().area_sr();
    let at_pixels = density(Points::Pixels(globe.pixels()));
    let top = at_pixels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = at_pixels.iter().map(|value| (reading.temper * (value - top)).exp()).sum::<f64>() * area;
    Box::new(move |points| {
        let at = |value: f64| {
            let tempered = (reading.temper * (value - top)).exp() / total;
            ((1.0 - reading.floor) * tempered + reading.floor / (4.0 * PI)).ln()
        };
        density(points).into_iter().map(at).collect()
    })
}

fn mixed(own: PhotoDensity<'_>, found: Kernels, share: f64) -> PhotoDensity<'_> {
    Box::new(move |points| {
        let pairs = own(points).into_iter().zip(points.all());
        pairs.map(|(own, at)| ((1.0 - share) * own.exp() + share * found.density(*at)).ln()).collect()
    })
}

impl Baseline for Blend {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        self.model.predict(embeddings)
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let nearest = self.retrieval.nearest(embeddings, self.kernels.neighbours)?;
        let mix = |(density, near): (_, Vec<_>)| {
            mixed(calibrated(&self.globe, density, self.reading), self.kernels.kernels(&near), self.share)
        };
        Ok(self.model.densities(embeddings)?.into_iter().zip(nearest).map(mix).collect())
    }

    fn parameters(&self) -> usize {
        self.model.parameters() + self.retrieval.parameters()
    }

    fn chosen(&self) -> String {
        let KernelSettings { neighbours, width_km, temperature } = self.kernels;
        let share = 100.0 * self.share;
        format!("{share:.0} % retrieval, k = {neighbours}, kernel {width_km} km, temperature {temperature}")
    }
}
