//! One reading for every method: what validation may choose is the same for all.

use crate::exponentials::{exp_sum, exps};
use crate::{Baseline, Examples, PhotoDensity, Points, Result, baseline::score, search, window::place};
use locdiff_model::answer::Globe;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use rayon::prelude::*;
use std::{f64::consts::PI, fmt, sync::Arc};

/// Densities of every method are read on the pixels of this degree: 102 km wide.
pub(crate) const READ_DEGREE: usize = 23;
/// Exponents of the density that are tried, from 0.03 up, each so many times the last, and floors: wide enough that a choice at an
/// end says something of the method.
const FIRST_TEMPER: f64 = 0.03;
pub(crate) const TEMPER_RATIO: f64 = 1.1;
const TEMPERS: i32 = 52;
pub(crate) const FLOORS: [f64; 15] =
    [0.0, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6];
/// Windows that are tried where map factors are read.
pub(crate) const WINDOWS_KM: [f64; 5] = [300.0, 450.0, 600.0, 800.0, 1200.0];
/// Kernels that are narrower the pixels would not resolve.
pub(crate) const NARROWEST_KM: f64 = 75.0;
/// Nothing is less dense than this, in nats, before the floor.
pub(crate) const THINNEST: f64 = -80.0;

/// How a method's densities are calibrated, and how places are read off them: `q ∝ (1 − floor)·p^temper + floor`, and the place
/// where a window holds most of it, or the method's own answer where that is better on validation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CommonReading {
    pub(crate) temper: f64,
    /// The share that is spread evenly over the Earth.
    pub(crate) floor: f64,
    /// The window; `None` for the method's own answers.
    window_km: Option<f64>,
}

impl Default for CommonReading {
    fn default() -> Self {
        Self { temper: 1.0, floor: 0.0, window_km: None }
    }
}

/// What a reading says about photos.
#[derive(Debug, Clone, Default)]
pub(crate) struct Read {
    pub(crate) places: Vec<LatLon>,
    pub(crate) log_densities: Vec<f64>,
    /// Probability of everything denser than the truth.
    pub(crate) levels: Vec<f64>,
    pub(crate) areas_km2: Vec<f64>,
    /// Areas of the regions that hold half of the probability.
    pub(crate) half_areas_km2: Vec<f64>,
}

/// A photo's log density at the pixels and at the truth.
struct Seen {
    at_pixels: Vec<f32>,
    top: f32,
    at_truth: f64,
}

fn see(globe: &Globe, method: &dyn Baseline, photos: &Examples) -> Result<Vec<Seen>> {
    let at_pixels = method.at_all(photos.photos(), Points::Pixels(globe.pixels()))?;
    let densities = method.densities(photos.photos())?;
    let at = |density: &PhotoDensity<'_>, truth| density(Points::Any(std::slice::from_ref(truth)))[0].max(THINNEST);
    let at_truths: Vec<f64> = densities.par_iter().zip(photos.points()).map(|(own, truth)| at(own, truth)).collect();
    Ok(at_pixels.into_iter().zip(at_truths).map(|(at_pixels, at_truth)| Seen::new(at_pixels, at_truth)).collect())
}

impl Seen {
    fn new(at_pixels: Vec<f32>, at_truth: f64) -> Self {
        let top = at_pixels.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        Self { at_pixels, top, at_truth }
    }

    /// The density at the truth without a floor.
    fn at_truth(&self, temper: f64, area: f64) -> f64 {
        let total = exp_sum(&self.at_pixels, temper as f32, self.top);
        (temper * (self.at_truth - f64::from(self.top))).exp() / (total * area)
    }

    fn masses(&self, temper: f64) -> Vec<f32> {
        let mut masses = exps(&self.at_pixels, temper as f32, self.top);
        let total: f64 = masses.iter().map(|mass| f64::from(*mass)).sum();
        let factor = (1.0 / total) as f32;
        for mass in &mut masses {
            *mass *= factor;
        }
        masses
    }
}

impl CommonReading {
    /// Chosen on validation: exponent and floor by −log density, the window by the shares of places that are right.
    pub(crate) fn choose(globe: &Arc<Globe>, method: &dyn Baseline, validation: &Examples) -> Result<Self> {
        if method.is_calibrated() {
            return Ok(Self::default());
        }
        if let Some(logs) = method.at_truths(validation.photos(), validation.points())? {
            return Ok(Self { floor: best_floor(&logs).1, ..Self::default() });
        }
        let (seen, area) = (see(globe, method, validation)?, globe.pixels().area_sr());
        let (temper, floor) = choose_temper(&seen, area);
        if method.has_places() {
            return Ok(Self { temper, floor, window_km: None });
        }
        let own = score(&method.predict(validation.photos())?, validation.points());
        let masses: Vec<Vec<f32>> = seen.par_iter().map(|photo| photo.masses(temper)).collect();
        drop(seen);
        let [(_, (through, window_km))] = search::best_by([(0, 4)], [(-6, 6)], |[k]| {
            let window_km = (300.0 * 2.0_f64.powf(0.5 * f64::from(k))).round();
            let places: Vec<LatLon> = masses.par_iter().map(|own| place(globe.pixels(), own, window_km)).collect();
            let score = score(&places, validation.points());
            Ok([(score, (score, window_km))])
        })?;
        Ok(Self { temper, floor, window_km: (through > own).then_some(window_km) })
    }

    pub(crate) fn read(&self, globe: &Arc<Globe>, method: &dyn Baseline, photos: &Examples) -> Result<Read> {
        if let Some(logs) = method.at_truths(photos.photos(), photos.points())? {
            let log_densities: Vec<f64> = logs.iter().map(|log| with_floor(log.exp(), self.floor).ln()).collect();
            let nothing = || vec![f64::NAN; logs.len()];
            let [levels, areas_km2, half_areas_km2] = [nothing(), nothing(), nothing()];
            return Ok(Read {
                places: method.predict(photos.photos())?,
                log_densities,
                levels,
                areas_km2,
                half_areas_km2,
            });
        }
        let area = globe.pixels().area_sr();
        let seen = see(globe, method, photos)?;
        let pixel_km2 = area * EARTH_RADIUS_KM * EARTH_RADIUS_KM;
        let each: Vec<(Option<LatLon>, [f64; 4])> = seen
            .par_iter()
            .map(|photo| {
                let (masses, at_truth) = (photo.masses(self.temper), photo.at_truth(self.temper, area));
                let uniform = self.floor / masses.len() as f64;
                let (mut level, mut count) = (0.0, 0.5);
                for mass in masses.iter().map(|mass| f64::from(*mass)).filter(|mass| *mass > at_truth * area) {
                    level += (1.0 - self.floor) * mass + uniform;
                    count += 1.0;
                }
                let log_density = with_floor(at_truth, self.floor).max(f64::MIN_POSITIVE).ln();
                let place = self.window_km.map(|window_km| place(globe.pixels(), &masses, window_km));
                (place, [log_density, level, count * pixel_km2, half_pixels(masses, self.floor) * pixel_km2])
            })
            .collect();
        let places = match self.window_km {
            Some(_) => each.iter().filter_map(|(place, ..)| *place).collect(),
            None => method.predict(photos.photos())?,
        };
        let [log_densities, levels, areas_km2, half_areas_km2] =
            std::array::from_fn(|k| each.iter().map(|(_, numbers)| numbers[k]).collect());
        Ok(Read { places, log_densities, levels, areas_km2, half_areas_km2 })
    }

    /// The probability of every pixel, given the log densities there.
    pub(crate) fn masses(&self, log_densities: &[f64]) -> Vec<f64> {
        let at_pixels = log_densities.iter().map(|value| *value as f32).collect();
        let uniform = self.floor / log_densities.len() as f64;
        let masses = Seen::new(at_pixels, 0.0).masses(self.temper);
        masses.into_iter().map(|mass| (1.0 - self.floor) * f64::from(mass) + uniform).collect()
    }
}

/// The fewest pixels that hold half of the probability.
fn half_pixels(mut masses: Vec<f32>, floor: f64) -> f64 {
    masses.sort_unstable_by(|a, b| b.total_cmp(a));
    let (even, mut held) = (floor / masses.len() as f64, 0.0);
    let is_more_needed = |mass: &&f32| {
        held += (1.0 - floor) * f64::from(**mass) + even;
        held < 0.5
    };
    masses.iter().take_while(is_more_needed).count() as f64 + 1.0
}

/// The least mean −log density over the floors, and that floor.
fn best_floor(log_densities: &[f64]) -> (f64, f64) {
    let nll = |floor: f64| {
        let each = log_densities.iter().map(|log| with_floor(log.max(THINNEST).exp(), floor).ln());
        -each.sum::<f64>() / log_densities.len().max(1) as f64
    };
    FLOORS.map(|floor| (nll(floor), floor)).into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are floors")
}

/// The least mean −log density over the floors, of densities whose integral is 1: what kernels are chosen by.
pub(crate) fn nll_with_floor(log_densities: &[f64]) -> f64 {
    best_floor(log_densities).0
}

/// The mean log density at the truths with the best floor: what checkpoints and sizes of the table of likelihoods are chosen by.
pub(crate) fn likelihood(densities: &[PhotoDensity<'_>], truths: &[UnitVec]) -> f64 {
    let at = |(own, truth): (&PhotoDensity<'_>, &UnitVec)| own(Points::Any(std::slice::from_ref(truth)))[0];
    -nll_with_floor(&densities.par_iter().zip(truths).map(at).collect::<Vec<f64>>())
}

fn with_floor(density: f64, floor: f64) -> f64 {
    (1.0 - floor) * density + floor / (4.0 * PI)
}

/// " (the least tried)" or " (the most tried)" for a choice at an end of its range.
pub(crate) fn edge(chosen: f64, tried: &[f64]) -> &'static str {
    match tried {
        [first, ..] if chosen <= *first => " (the least tried)",
        [.., last] if chosen >= *last => " (the most tried)",
        _ => "",
    }
}

pub(crate) fn tempers() -> Vec<f64> {
    (0..TEMPERS).map(|k| FIRST_TEMPER * TEMPER_RATIO.powi(k)).collect()
}

/// The exponent and floor with the least −log density: every fourth exponent first, then those near the best.
fn choose_temper(seen: &[Seen], area: f64) -> (f64, f64) {
    let tempers = tempers();
    let mut best = (f64::INFINITY, 1.0, FLOORS[0]);
    let mut try_temper = |temper: f64| {
        let at: Vec<f64> = seen.par_iter().map(|photo| photo.at_truth(temper, area)).collect();
        for floor in FLOORS {
            let logs = at.iter().map(|density| with_floor(*density, floor).max(f64::MIN_POSITIVE).ln());
            let nll = -logs.sum::<f64>() / at.len() as f64;
            if nll < best.0 {
                best = (nll, temper, floor);
            }
        }
        best.1
    };
    let middle = tempers.iter().step_by(4).map(|temper| try_temper(*temper)).last().unwrap_or(1.0);
    for temper in tempers.iter().filter(|temper| (**temper / middle).ln().abs() < 3.5 * TEMPER_RATIO.ln()) {
        try_temper(*temper);
    }
    (best.1, best.2)
}

impl fmt::Display for CommonReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No floor is no end of a range: there is nothing below it.
        let floor = if self.floor > 0.0 { edge(self.floor, &FLOORS) } else { "" };
        let temper = edge(self.temper, &tempers());
        write!(f, "exponent {:.2}{temper}, floor {:.2} %{floor}, ", self.temper, 100.0 * self.floor)?;
        match self.window_km {
            Some(window_km) => write!(f, "window {window_km} km"),
            None => write!(f, "its own decoder"),
        }
    }
}
