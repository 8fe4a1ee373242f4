//! Densities before map factors, and what validation chooses for them: temper, floor, exponent and window.

use super::table::Judged;
use crate::reading::{FLOORS, TEMPER_RATIO, THINNEST, WINDOWS_KM, tempers};
use crate::{baseline::score, reading::exps};
use locdiff_model::answer::{CellDensity, ClassProbabilities, Globe};
use locdiff_shdd::sphere::{LatLon, UnitVec};
use rayon::prelude::*;

/// Exponents of the map factors that are tried; 0 leaves them out.
const EXPONENTS: [f64; 8] = [0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0];

/// A photo's log density before map factors, up to a constant.
pub(super) struct Seen {
    /// At the points of the cells.
    pub(super) at_points: Vec<f32>,
    pub(super) at_truth: f64,
    pub(super) truth: LatLon,
    /// The window that its place is read through, if that is settled.
    pub(super) window_km: Option<f64>,
    /// One less the probability that it is out of domain.
    pub(super) familiarity: f64,
}

impl Seen {
    pub(super) fn new(at_points: Vec<f32>, at_truth: f64, truth: UnitVec) -> Self {
        let (at_truth, truth) = (at_truth.max(THINNEST), truth.to_latlon());
        Self { at_points, at_truth, truth, window_km: None, familiarity: 1.0 }
    }
}

/// How a density gets its factors, and how places are read off it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    /// The exponent on the density before factors.
    temper: f64,
    /// The share that is then spread evenly over the cells' points.
    floor: f64,
    /// The exponents of the factors by attribute.
    exponents: [f64; 3],
    window_km: f64,
}

impl Setting {
    /// Temper, floor and exponent by −log density, one after the other and again, then the window by the shares of places
    /// that are right. Attributes take part that are `on` (1, not 0). A calibrated density keeps its temper and floor.
    pub(super) fn choose(
        globe: &Globe,
        (photos, classes): (&[Seen], &[ClassProbabilities]),
        on: [f64; 3],
        is_calibrated: bool,
    ) -> Self {
        let least = |tried: Vec<Self>| {
            let tried = tried.into_iter().map(|own| (own.mean_nll(globe, photos, classes), own));
            tried.min_by(|a, b| a.0.total_cmp(&b.0)).expect("settings are tried").1
        };
        let mut exponents = EXPONENTS.map(|exponent| on.map(|on| on * exponent)).to_vec();
        exponents.dedup();
        let (floor, first) = if is_calibrated { (0.0, 0.0) } else { (0.01, 0.5) };
        let mut best = Self { temper: 1.0, floor, exponents: on.map(|on| on * first), window_km: WINDOWS_KM[0] };
        for round in 0..2 {
            if !is_calibrated {
                let is_near = |temper: f64| (temper / best.temper).ln().abs() < 3.5 * TEMPER_RATIO.ln();
                let tried = tempers().into_iter().enumerate();
                let tried = tried.filter(|(k, temper)| if round == 0 { k % 3 == 0 } else { is_near(*temper) });
                best = least(tried.map(|(_, temper)| Self { temper, ..best }).collect());
                best = least(FLOORS.map(|floor| Self { floor, ..best }).to_vec());
            }
            best = least(exponents.iter().map(|exponents| Self { exponents: *exponents, ..best }).collect());
        }
        if photos.iter().any(|seen| seen.window_km.is_none()) {
            let places = photos.par_iter().zip(classes).map(|(seen, classes)| {
                let density = best.density(globe, seen, classes);
                WINDOWS_KM.map(|window_km| density.peaks(window_km, 1)[0].place)
            });
            let places: Vec<_> = places.collect();
            let truths: Vec<UnitVec> = photos.iter().map(|seen| seen.truth.to_unit()).collect();
            let right = |k: usize| score(&places.iter().map(|each| each[k]).collect::<Vec<_>>(), &truths);
            let most = (0..WINDOWS_KM.len()).max_by(|&a, &b| right(a).total_cmp(&right(b)));
            best.window_km = WINDOWS_KM[most.unwrap_or(0)];
        }
        best
    }

    /// The density before factors at the points, and its log at the truth.
    fn before(&self, seen: &Seen) -> (Vec<f64>, f64) {
        let top = seen.at_points.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let heights = exps(&seen.at_points, self.temper as f32, top).into_iter();
        let mut densities: Vec<f64> = heights.map(|height| f64::from(height).max(1e-30)).collect();
        let even = self.floor / (1.0 - self.floor) * densities.iter().sum::<f64>() / densities.len() as f64;
        densities.iter_mut().for_each(|density| *density += even);
        let here = (self.temper * (seen.at_truth - f64::from(top))).exp() + even;
        (densities, here.max(f64::MIN_POSITIVE).ln())
    }

    fn density(&self, globe: &Globe, seen: &Seen, classes: &ClassProbabilities) -> CellDensity {
        CellDensity::new((globe, &self.before(seen).0), (classes, self.exponents))
    }

    /// The log density with factors at the truth.
    fn log_density(&self, globe: &Globe, seen: &Seen, classes: &ClassProbabilities) -> f64 {
        let (densities, here) = self.before(seen);
        here + CellDensity::log_gain((globe, &densities), (classes, self.exponents), seen.truth)
    }

    fn mean_nll(&self, globe: &Globe, photos: &[Seen], classes: &[ClassProbabilities]) -> f64 {
        let logs = photos.par_iter().zip(classes).map(|(seen, classes)| self.log_density(globe, seen, classes));
        -logs.collect::<Vec<f64>>().iter().sum::<f64>() / photos.len() as f64
    }

    /// What the density says about the truth of each photo.
    pub(super) fn judge(&self, globe: &Globe, photos: &[Seen], classes: &[ClassProbabilities]) -> Vec<Judged> {
        let judge = |(seen, classes): (&Seen, &ClassProbabilities)| {
            let (density, log) = (self.density(globe, seen, classes), self.log_density(globe, seen, classes));
            let place = density.peaks(seen.window_km.unwrap_or(self.window_km), 1)[0].place;
            Judged::new((place, seen.truth), [log, density.mass_denser_than(log), density.region(0.5).area_km2])
        };
        photos.par_iter().zip(classes).map(judge).collect()
    }

    /// What was chosen, in words: of a calibrated density, which keeps its temper, the exponent alone.
    pub(super) fn words(&self) -> String {
        let Self { temper, floor, exponents, window_km } = self;
        let exponent = format!("exponent {}", exponents.iter().copied().fold(0.0, f64::max));
        let rest = format!(", temper {temper:.2}, floor {:.2} %, window {window_km} km", 100.0 * floor);
        if *temper == 1.0 { exponent } else { exponent + &rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_map::cells::Cells;
    use locdiff_model::{answer::Kernels, answer::Surroundings, chance};
    use locdiff_shdd::sphere::Pixel;

    /// With exponent 0 the density is the plain one over its mass on the cells; the chosen exponent is no worse.
    #[test]
    fn exponent_0_is_the_masked_density_and_the_chosen_one_is_no_worse() {
        let globe = Globe::new(23).unwrap();
        let (points, area) = (CellDensity::points(&globe), Pixel::area_sr(Cells::DEPTH));
        let centre = |index: &u32| Pixel { depth: Cells::DEPTH, index: u64::from(*index) }.centre();
        let cells: Vec<UnitVec> = Cells::bundled().indices().iter().map(centre).collect();
        let weights = (0..2 * Surroundings::classes()).map(|k| (k as f32).sin()).collect();
        let heads = Surroundings::new(1, weights).unwrap();
        let (mut photos, mut classes, mut masked) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..10_u32 {
            let truth = cells[chance::below(&[5, u64::from(k)], cells.len())];
            let kernels = Kernels::new(vec![(truth.step(0.05, 0.01 * f64::from(k)), 1.0)], 600.0);
            let mass = kernels.log_densities(&cells).iter().map(|log| log.exp() * area).sum::<f64>();
            let log = kernels.density(truth).ln();
            masked.push(log - mass.ln());
            let at_points = kernels.log_densities(points).into_iter().map(|value| value.max(THINNEST) as f32);
            photos.push(Seen::new(at_points.collect(), log, truth));
            classes.push(heads.class_probabilities(&[k as f32 - 5.0]).unwrap());
        }
        let none = Setting { temper: 1.0, floor: 0.0, exponents: [0.0; 3], window_km: 600.0 };
        for (judged, wanted) in none.judge(&globe, &photos, &classes).iter().zip(&masked) {
            assert!((judged.log_density - wanted).abs() < 0.003 && judged.error_km < 1500.0, "{judged:?} {wanted}");
        }
        let nll = |setting: &Setting| setting.mean_nll(&globe, &photos, &classes);
        let chosen = [[1.0; 3], [0.0, 1.0, 0.0]].map(|on| Setting::choose(&globe, (&photos, &classes), on, true));
        assert!(chosen.iter().all(|chosen| nll(chosen) <= nll(&none)) && chosen[1].exponents[0] == 0.0, "{chosen:?}");
    }
}
