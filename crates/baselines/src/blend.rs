//! LocDiff and retrieval together: a mixture of their densities.

use crate::{
    Baseline, BaselineError, CommonReading, Effort, FitData, LocDiff, NearestNeighbours, PhotoDensity,
};
use locdiff_answer::Globe;
use locdiff_nn::Device;
use locdiff_sphere::LatLon;
use std::f64::consts::PI;
use std::sync::Arc;

/// Shares of retrieval that are tried.
const SHARES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// LocDiff+kNN: both densities calibrated on validation, then mixed by the share that gives the least −log density there.
pub struct Blend {
    model: LocDiff,
    retrieval: NearestNeighbours,
    fitted: Option<Fitted>,
}

struct Fitted {
    globe: Arc<Globe>,
    model: CommonReading,
    retrieval: CommonReading,
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

fn mixed<'a>(a: PhotoDensity<'a>, b: PhotoDensity<'a>, share: f64) -> PhotoDensity<'a> {
    Box::new(move |points| {
        let pairs = a(points).into_iter().zip(b(points));
        pairs.map(|(a, b)| ((1.0 - share) * a.exp() + share * b.exp()).ln()).collect()
    })
}

impl Baseline for Blend {
    fn fit(&mut self, data: FitData<'_>, progress: &mut dyn FnMut(f64)) -> Result<(), BaselineError> {
        self.model.fit(data, &mut |share| progress(0.6 * share))?;
        self.retrieval.fit(data, &mut |share| progress(0.6 + 0.2 * share))?;
        let globe = Arc::new(Globe::new(self.model.codec()?.degree().get())?);
        let none = || BaselineError::NotFitted { method: "locdiff-knn" };
        let model = CommonReading::choose(&globe, &self.model, data.validation)?.ok_or_else(none)?;
        let retrieval = CommonReading::choose(&globe, &self.retrieval, data.validation)?.ok_or_else(none)?;
        let at_truth = |method: &dyn Baseline, reading: CommonReading| -> Result<Vec<f64>, BaselineError> {
            Ok(reading.read(&globe, method, data.validation)?.log_densities)
        };
        let (a, b) = (at_truth(&self.model, model)?, at_truth(&self.retrieval, retrieval)?);
        let nll = |share: f64| -> f64 {
            a.iter().zip(&b).map(|(a, b)| -((1.0 - share) * a.exp() + share * b.exp()).ln()).sum()
        };
        let share = SHARES.iter().copied().min_by(|x, y| nll(*x).total_cmp(&nll(*y))).unwrap_or(0.5);
        self.fitted = Some(Fitted { globe, model, retrieval, share });
        progress(1.0);
        Ok(())
    }

    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>, BaselineError> {
        self.model.predict(embeddings)
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Option<Vec<PhotoDensity<'_>>>, BaselineError> {
        let Fitted { globe, model, retrieval, share } = self.fitted()?;
        let (Some(a), Some(b)) = (self.model.densities(embeddings)?, self.retrieval.densities(embeddings)?)
        else {
            return Ok(None);
        };
        let mix = |(a, b)| mixed(calibrated(globe, a, *model), calibrated(globe, b, *retrieval), *share);
        Ok(Some(a.into_iter().zip(b).map(mix).collect()))
    }

    fn parameters(&self) -> usize {
        self.model.parameters() + self.retrieval.parameters()
    }

    fn chosen(&self) -> String {
        self.fitted
            .as_ref()
            .map_or(String::new(), |fitted| format!("{:.0} % retrieval", 100.0 * fitted.share))
    }
}
