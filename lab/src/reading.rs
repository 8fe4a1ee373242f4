//! One reading for every method: what validation may choose is the same for all.

use crate::{Baseline, Examples, PhotoDensity, Points, Result, baseline::score, search};
use locdiff_model::answer::Globe;
use locdiff_nn::math;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, Pixel, Pixels, UnitVec};
use pulp::{Simd, WithSimd};
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

/// So many are added in f32 before they are added in f64.
const PART: usize = 64;

struct ExpSum<'a> {
    values: &'a [f32],
    temper: f32,
    top: f32,
}

impl WithSimd for ExpSum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Self { values, temper, top } = self;
        let (parts, rest) = values.as_chunks::<PART>();
        let mut sums = [0.0_f32; PART];
        let mut total = 0.0;
        for block in parts.chunks(16) {
            sums.fill(0.0);
            for part in block {
                for (sum, value) in sums.iter_mut().zip(part) {
                    *sum += math::exp(temper * (value - top));
                }
            }
            total += sums.iter().map(|sum| f64::from(*sum)).sum::<f64>();
        }
        total + rest.iter().map(|value| f64::from(math::exp(temper * (value - top)))).sum::<f64>()
    }
}

/// `Σ exp(temper·(value − top))`, to six digits.
pub(crate) fn exp_sum(values: &[f32], temper: f32, top: f32) -> f64 {
    pulp::Arch::new().dispatch(ExpSum { values, temper, top })
}

/// `exp(temper·(value − top))` of each.
pub(crate) fn exps(values: &[f32], temper: f32, top: f32) -> Vec<f32> {
    struct ExpInto<'a>(&'a [f32], f32, f32, &'a mut [f32]);

    impl WithSimd for ExpInto<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Self(values, temper, top, out) = self;
            for (out, value) in out.iter_mut().zip(values) {
                *out = math::exp(temper * (value - top));
            }
        }
    }
    let mut out = vec![0.0; values.len()];
    pulp::Arch::new().dispatch(ExpInto(values, temper, top, &mut out));
    out
}

/// Lumps that are compared, and those that are climbed from.
const SEEDS: usize = 12;
const CLIMBS: usize = 3;
/// Lumps are at most this share of the window's deviation wide, and those that seeds are taken from this one.
const LUMP: f64 = 0.6;
const SEED_LUMP: f64 = 1.5;
/// Lumps lighter than this share of the heaviest, and those farther than so many deviations, move nothing.
const LIGHT: f32 = 1e-4;
const AROUND: f64 = 5.0;
const STEPS: usize = 40;
const STILL: f32 = 1e-10;

#[derive(Clone, Copy)]
struct Lump {
    at: [f32; 3],
    mass: f32,
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn unit(v: [f32; 3]) -> [f32; 3] {
    let length = dot(v, v).sqrt().max(f32::MIN_POSITIVE);
    v.map(|x| x / length)
}

/// Pixels lumped together up to a width; they are in nested order, so that those of one parent follow one another.
fn lumps(pixels: &Pixels, masses: &[f32], width_rad: f64) -> Vec<Lump> {
    let deepest = pixels.depth();
    let depth = (0..deepest).find(|depth| Pixel::width_rad(*depth) <= width_rad).unwrap_or(deepest);
    let children = 1 << (2 * (deepest - depth));
    let parents = masses.chunks(children).zip(pixels.points().chunks(children));
    let lump = |(masses, points): (&[f32], &[UnitVec])| {
        let (mut at, mut mass) = ([0.0; 3], 0.0);
        for (own, point) in masses.iter().zip(points) {
            mass += own;
            at.iter_mut().zip(point.to_array()).for_each(|(sum, x)| *sum += own * x as f32);
        }
        Lump { at: unit(at), mass }
    };
    let all: Vec<Lump> = parents.map(lump).collect();
    let least = LIGHT * all.iter().map(|lump| lump.mass).fold(0.0, f32::max);
    all.into_iter().filter(|lump| lump.mass >= least && lump.mass > 0.0).collect()
}

/// What the window holds about a place, and the centre of it.
fn held(near: &[Lump], sharpness: f32, here: [f32; 3]) -> (f32, [f32; 3]) {
    let (mut sum, mut centre) = (0.0, [0.0; 3]);
    for Lump { at, mass } in near {
        // 1 − cos by the difference, which keeps its digits where the two are near.
        let d = [at[0] - here[0], at[1] - here[1], at[2] - here[2]];
        let weight = mass * (-0.5 * sharpness * dot(d, d)).exp();
        sum += weight;
        centre.iter_mut().zip(at).for_each(|(sum, x)| *sum += weight * x);
    }
    (sum, unit(centre))
}

/// The place about which a Gaussian window of half the radius' deviation holds most.
pub(crate) fn place(pixels: &Pixels, masses: &[f32], window_km: f64) -> LatLon {
    let deviation = 0.5 * window_km / EARTH_RADIUS_KM;
    let sharpness = deviation.powi(-2) as f32;
    let all = lumps(pixels, masses, LUMP * deviation);
    let mut coarse = lumps(pixels, masses, SEED_LUMP * deviation);
    coarse.sort_by(|a, b| b.mass.total_cmp(&a.mass));
    let (apart, around) = (deviation.cos() as f32, (AROUND * deviation).min(3.0).cos() as f32);
    let mut seeds: Vec<[f32; 3]> = Vec::new();
    for lump in coarse {
        if seeds.len() < SEEDS && seeds.iter().all(|seed| dot(*seed, lump.at) < apart) {
            seeds.push(lump.at);
        }
    }
    let near = |here: [f32; 3]| all.iter().copied().filter(|lump| dot(lump.at, here) > around).collect::<Vec<Lump>>();
    let begin = |seed: [f32; 3]| {
        let near = near(seed);
        let (_, at) = held(&near, sharpness, seed);
        (held(&near, sharpness, at).0, at, near)
    };
    let mut begun: Vec<(f32, [f32; 3], Vec<Lump>)> = seeds.into_iter().map(begin).collect();
    begun.sort_by(|a, b| b.0.total_cmp(&a.0));
    let climbed = begun.into_iter().take(CLIMBS).map(|(_, mut here, near)| {
        let mut value = 0.0;
        for _ in 0..STEPS {
            let (now, next) = held(&near, sharpness, here);
            let d = [next[0] - here[0], next[1] - here[1], next[2] - here[2]];
            (value, here) = (now, next);
            if dot(d, d) < STILL {
                break;
            }
        }
        (value, here)
    });
    let best = climbed.max_by(|a, b| a.0.total_cmp(&b.0)).map_or([0.0, 0.0, 1.0], |(_, here)| here);
    let [x, y, z] = best.map(f64::from);
    UnitVec::new(x, y, z).unwrap_or(UnitVec::NORTH).to_latlon()
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_model::answer::Kernels;

    #[test]
    fn sums_are_those_of_f64() {
        let values: Vec<f32> = (0..5000).map(|k| -(k as f32 * 0.013) % 40.0).collect();
        let wanted: f64 = values.iter().map(|value| (0.7 * (f64::from(*value) + 1.0)).exp()).sum();
        assert!((exp_sum(&values, 0.7, -1.0) / wanted - 1.0).abs() < 1e-6);
        let each: f64 = exps(&values, 0.7, -1.0).iter().map(|value| f64::from(*value)).sum();
        assert!((each / wanted - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_window_decides_between_a_sharp_and_a_broad_peak() {
        let globe = Globe::new(23).unwrap();
        let at = |lat: f64, lon: f64| LatLon::new(lat, lon).unwrap().to_unit();
        let (paris, lima) = (at(48.86, 2.35), at(-12.05, -77.04));
        let density =
            |place: UnitVec, km: f64| Kernels::new(vec![(place, 1.0)], km).log_densities(globe.pixels().points());
        let (sharp, broad) = (density(paris, 150.0), density(lima, 900.0));
        let masses: Vec<f32> = sharp.iter().zip(&broad).map(|(a, b)| (0.3 * a.exp() + 0.7 * b.exp()) as f32).collect();
        for (window_km, wanted, within_km) in [(300.0, paris, 60.0), (2500.0, lima, 120.0)] {
            let found = place(globe.pixels(), &masses, window_km).to_unit();
            assert!(found.angle_rad(wanted) * EARTH_RADIUS_KM < within_km, "{window_km}");
            let masses: Vec<f64> = masses.iter().map(|mass| f64::from(*mass)).collect();
            let total: f64 = masses.iter().sum();
            let masses: Vec<f64> = masses.iter().map(|mass| mass / total).collect();
            let slow = std::sync::Arc::new(Globe::new(23).unwrap()).peaks(&masses, window_km, 1)[0].place;
            assert!(found.angle_rad(slow.to_unit()) * EARTH_RADIUS_KM < 60.0, "{window_km}");
        }
    }
}
