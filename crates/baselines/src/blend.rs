//! LocDiff and retrieval together: a mixture of their densities.

use crate::{
    Baseline, BaselineError, CommonReading, Effort, FitData, LocDiff, NearestNeighbours, PhotoDensity,
};
use locdiff_answer::{Globe, KernelSettings, Kernels, MOST_NEIGHBOURS, choose_mix};
use locdiff_nn::Device;
use locdiff_sphere::LatLon;
use std::f64::consts::PI;
use std::sync::Arc;

/// The temperature about which others are tried: embeddings' cosines differ by about this much between good and poor matches.
const TEMPERATURE: f64 = 0.05;

/// LocDiff+kNN as `locdiff calibrate` fits it: the model's density calibrated on validation, then mixed with kernels about the
/// nearest training photos, kernels and share by −log density there.
pub struct Blend {
    model: LocDiff,
    retrieval: NearestNeighbours,
    fitted: Option<Fitted>,
}

struct Fitted {
    globe: Arc<Globe>,
    model: CommonReading,
    kernels: KernelSettings,
    share: f64,
}

impl Blend {
    /// To be fitted.
    pub fn new(device: &Device, effort: &Effort, seed: u64) -> Self {
        Self {
            model: LocDiff::new(device, effort, seed),
            retrieval: NearestNeighbours::new(device),
            fitted: None,
        }
    }

    fn fitted(&self) -> Result<&Fitted, BaselineError> {
        self.fitted.as_ref().ok_or(BaselineError::NotFitted { method: "locdiff-knn" })
    }
}

/// A density with its exponent and floor, normalised over the globe's pixels.
fn calibrated<'a>(globe: &Globe, density: PhotoDensity<'a>, reading: CommonReading) -> PhotoDensity<'a> {
    let area = globe.pixels().area_sr();
    let at_pixels = density(globe.pixels().points());
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
        let pairs = own(points).into_iter().zip(points);
        pairs.map(|(own, at)| ((1.0 - share) * own.exp() + share * found.density(*at)).ln()).collect()
    })
}

impl Baseline for Blend {
    fn fit(&mut self, data: FitData<'_>, progress: &mut dyn FnMut(f64)) -> Result<(), BaselineError> {
        self.model.fit(data, &mut |share| progress(0.6 * share))?;
        self.retrieval.fit(data, &mut |share| progress(0.6 + 0.2 * share))?;
        let globe = Arc::new(Globe::new(self.model.codec()?.degree().get())?);
        let none = || BaselineError::NotFitted { method: "locdiff-knn" };
        let model = CommonReading::choose(&globe, &self.model, data.validation)?.ok_or_else(none)?;
        let logs = model.read(&globe, &self.model, data.validation)?.log_densities;
        let nearest = self.retrieval.nearest(data.validation.photos(), MOST_NEIGHBOURS)?;
        let pairs = logs.iter().zip(&nearest).zip(data.validation.points());
        let photos: Vec<_> = pairs.map(|((log, near), truth)| (*log, near.as_slice(), *truth)).collect();
        let equal = vec![1.0 / photos.len().max(1) as f64; photos.len()];
        let (kernels, share, _) = choose_mix(&globe, &photos, &equal, TEMPERATURE);
        self.fitted = Some(Fitted { globe, model, kernels, share });
        progress(1.0);
        Ok(())
    }

    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>, BaselineError> {
        self.model.predict(embeddings)
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Option<Vec<PhotoDensity<'_>>>, BaselineError> {
        let Fitted { globe, model, kernels, share } = self.fitted()?;
        let Some(densities) = self.model.densities(embeddings)? else { return Ok(None) };
        let nearest = self.retrieval.nearest(embeddings, kernels.neighbours)?;
        let mix = |(density, near): (_, Vec<_>)| {
            mixed(calibrated(globe, density, *model), kernels.kernels(&near), *share)
        };
        Ok(Some(densities.into_iter().zip(nearest).map(mix).collect()))
    }

    fn parameters(&self) -> usize {
        self.model.parameters() + self.retrieval.parameters()
    }

    fn chosen(&self) -> String {
        self.fitted.as_ref().map_or(String::new(), |fitted| {
            let KernelSettings { neighbours, width_km, temperature } = fitted.kernels;
            let share = 100.0 * fitted.share;
            format!(
                "{share:.0} % retrieval, k = {neighbours}, kernel {width_km} km, temperature {temperature}"
            )
        })
    }
}
