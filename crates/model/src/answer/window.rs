//! The most probable places of a density: maxima of the density convolved with a Gaussian window, found by mean shift.
//! A place's probability is what lies within the window's radius; it is taken away before the next place is searched.

use crate::answer::cell_grid::CellMasses;
use crate::answer::circles::Circles;
use crate::answer::density_bins::largest;
use crate::answer::lumps::{Lump, add};
use crate::answer::support::{Support, reach_rad, share_within};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, Pixel, UnitVec, exp_all};

/// Mean shift stops after so many steps, or where it moves less than this (some sixty metres).
const STEPS: usize = 60;
const STILL_RAD: f64 = 1e-5;
/// Steps with every pixel that follow those with coarser ones.
const POLISH: usize = 4;
/// Places that mean shift starts from.
const SEEDS: usize = 16;
/// Beyond the first few, places lighter than this share of the heaviest are no starting places.
const LIGHT_SEED: f64 = 0.01;
const FEW_SEEDS: usize = 6;
/// Pixels are lumped together up to this share of the Gaussian's deviation, and for the seeds up to this one.
const LUMP: f64 = 0.6;
const SEED_LUMP: f64 = 1.5;
/// Lumps lighter than this share of the heaviest do not move anything.
const LIGHT: f64 = 1e-4;
const LIGHTEST: f64 = 1e-5;
/// Lumps up to this many deviations away are gathered, and again after a move of so many.
const AROUND: f64 = 8.0;
const WANDERED: f64 = 2.0;
/// Those that the window may reach are chosen again after a move of so many.
const STRAYED: f64 = 0.6;
/// So many possible pixels next to an impossible mode are compared.
const CANDIDATES: usize = 400;
/// So many deviations from a mode, mean shift ends there.
const JOINED: f64 = 0.1;
/// More pixels than this are lumped for the polish, too.
const MOST_POLISHED: usize = 60_000;
/// The Gaussian counts nothing where it is below e to the power of this.
const FAR: f64 = -18.0;
/// An exponential that adds nothing, and that [`exp_all`] still takes in vectors.
const NOTHING: f64 = -500.0;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    radius_rad: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WindowMass {
    pub(crate) place: UnitVec,
    pub(crate) probability: f64,
}

/// A density given by the masses of pixels, and their lumps at a depth if these are at hand.
#[derive(Clone, Copy)]
pub(crate) struct Masses<'a> {
    pub(crate) support: &'a Support,
    pub(crate) of_pixels: CellMasses<'a>,
    pub(crate) lumps: Option<(u8, &'a [(u64, Lump)])>,
}

/// Lumps in nested order.
struct Lumps {
    all: Vec<Lump>,
    circles: Circles,
}

impl Lumps {
    /// Those of some that are heavy enough to move anything.
    fn heavy(all: Vec<Lump>) -> Self {
        let top = all.iter().map(|lump| lump.mass).fold(0.0, f64::max);
        let all: Vec<Lump> = all.into_iter().filter(|lump| lump.mass >= LIGHT * top).collect();
        Self { circles: Circles::new(all.len(), |k| all[k].at), all }
    }

    /// Those within a distance.
    fn around(&self, here: UnitVec, reach_rad: f64) -> Vec<Lump> {
        let near = self.circles.near(here.to_array(), reach_rad);
        gather(near.flat_map(|run| &self.all[run]), here, reach_rad)
    }
}

/// A maximum, and what the window holds there.
type Mode = (UnitVec, f64);

impl Window {
    pub(crate) fn new(radius_km: f64) -> Self {
        Self { radius_rad: radius_km / EARTH_RADIUS_KM }
    }

    /// The deviation of the Gaussian whose mean squared distance is the disc's.
    fn deviation_rad(self) -> f64 {
        self.radius_rad / 2.0
    }

    /// The area in km² of all pixels of a depth that may touch its disc.
    pub(crate) fn reach_km2(self, depth: u8) -> f64 {
        // What touches the disc to half a percent: the reach of a pixel is that of a disc of its area.
        let radius_rad = (self.radius_rad + 2.0 * Pixel::width_rad(depth)).min(std::f64::consts::PI);
        std::f64::consts::TAU * (1.0 - radius_rad.cos()) * EARTH_RADIUS_KM * EARTH_RADIUS_KM
    }

    /// The places of a density given by the masses of pixels, at most `most`, the most probable first. Only places that
    /// `is_possible` are answered. The others follow a `first` place that is settled.
    pub(crate) fn places(
        self,
        given: Masses<'_>,
        (first, most): (Option<UnitVec>, usize),
        is_possible: &dyn Fn(UnitVec) -> bool,
    ) -> Vec<WindowMass> {
        let (support, sharpness) = (given.support, self.deviation_rad().powi(-2));
        let (depth, narrow) = sums(given, LUMP * self.deviation_rad());
        let seeds = self.seeds(depth, &narrow).into_iter();
        let lumps = Lumps::heavy(unit_length(narrow));
        let mut modes: Vec<Mode> = Vec::new();
        for seed in seeds {
            modes.extend(climb(&lumps, sharpness, seed, STEPS, &modes));
        }
        modes.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut kept: Vec<Mode> = Vec::new();
        for mode in modes {
            if kept.iter().all(|other| other.0.angle_rad(mode.0) > self.deviation_rad()) {
                kept.push(mode);
            }
        }
        kept.truncate(most.max(1) + 3);
        let is_rough = support.is_even() && support.points().len() <= MOST_POLISHED;
        let whole = if is_rough { Lumps::heavy(unit_length(sums(given, 0.0).1)) } else { lumps };
        for mode in &mut kept {
            *mode = climb(&whole, sharpness, mode.0, POLISH, &[]).unwrap_or(*mode);
            if !is_possible(mode.0) {
                *mode = nearest_possible(&whole, sharpness, *mode, is_possible);
            }
        }
        self.rank((support, given.of_pixels), (first, most), kept)
    }

    /// Starting places: the heaviest of lumps about as wide as the window, none within a deviation of another.
    fn seeds(self, depth: u8, narrow: &[(u64, Lump)]) -> Vec<UnitVec> {
        let width_rad = SEED_LUMP * self.deviation_rad();
        let shift = 2 * (depth - (0..depth).find(|depth| Pixel::width_rad(*depth) <= width_rad).unwrap_or(depth));
        let mut wide: Vec<(u64, Lump)> = Vec::new();
        narrow.iter().for_each(|(parent, lump)| add(&mut wide, parent >> shift, *lump));
        let mut lumps = unit_length(wide);
        lumps.sort_by(|a, b| b.mass.total_cmp(&a.mass));
        let least = LIGHT_SEED * lumps.first().map_or(0.0, |lump| lump.mass);
        let mut seeds: Vec<UnitVec> = Vec::new();
        for lump in lumps {
            let Some(at) = lump.point() else { continue };
            if seeds.len() == SEEDS || seeds.len() >= FEW_SEEDS && lump.mass < least {
                break;
            }
            if seeds.iter().all(|seed| seed.angle_rad(at) > self.deviation_rad()) {
                seeds.push(at);
            }
        }
        seeds
    }

    /// The modes in the order of what their discs hold, each without what those before it hold.
    fn rank(
        self,
        (support, masses): (&Support, CellMasses<'_>),
        (first, most): (Option<UnitVec>, usize),
        mut modes: Vec<Mode>,
    ) -> Vec<WindowMass> {
        let (mut taken, mut found): (Vec<Disc<'_>>, Vec<WindowMass>) = (Vec::new(), Vec::new());
        let disc = |place| Disc::new(support, place, self.radius_rad);
        if let Some(place) = first {
            let probability = disc(place).mass(|pixel| masses.at(pixel));
            found.push(WindowMass { place, probability });
            taken.push(disc(place));
        }
        let mut held: Vec<Option<f64>> = vec![None; modes.len()];
        while !modes.is_empty() && found.len() < most {
            for ((place, _), held) in modes.iter().zip(&mut held) {
                held.get_or_insert_with(|| disc(*place).mass_beside(masses, &taken));
            }
            // Where the discs hold the same (all of a small region, say), the higher mode.
            let order = |k: usize| (held[k].map_or(0.0, |held| (held * 1e6).round()), modes[k].1);
            let best = (0..modes.len()).max_by(|&a, &b| {
                let (a, b) = (order(a), order(b));
                a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
            });
            let Some(best) = best else { break };
            let (place, _) = modes.remove(best);
            let probability = held.remove(best).unwrap_or(0.0);
            if probability <= 0.0 && !found.is_empty() {
                break;
            }
            found.push(WindowMass { place, probability });
            taken.push(disc(place));
            for ((other, _), held) in modes.iter().zip(&mut held) {
                if other.angle_rad(place) < 2.1 * self.radius_rad + support.reach_rad() {
                    *held = None;
                }
            }
        }
        found
    }
}

/// Of the pixels near a mode that is impossible itself (between two islands, say), the one where the window holds most.
fn nearest_possible(lumps: &Lumps, sharpness: f64, mode: Mode, is_possible: &dyn Fn(UnitVec) -> bool) -> Mode {
    let points = lumps.all.iter().filter_map(Lump::point);
    let mut near: Vec<(f64, UnitVec)> = points.map(|point| (point.angle_rad(mode.0), point)).collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    let possible: Vec<_> = near.into_iter().filter(|(_, point)| is_possible(*point)).take(CANDIDATES).collect();
    let farthest = possible.last().map_or(0.0, |(angle, _)| *angle);
    let (around, mut weights) = (lumps.around(mode.0, reach_of(sharpness) + farthest), Vec::new());
    let best = possible.into_iter().map(|(_, point)| (point, value(&around, sharpness, point, &mut weights).1));
    best.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(mode)
}

/// Pixels lumped together up to a width: the depth of lumps, their numbers there, and their moments.
fn sums(Masses { support, of_pixels: masses, lumps }: Masses<'_>, width_rad: f64) -> (u8, Vec<(u64, Lump)>) {
    let depth = (0..support.depth()).find(|depth| Pixel::width_rad(*depth) <= width_rad).unwrap_or(support.depth());
    if let Some((own, lumps)) = lumps.filter(|(own, _)| *own >= depth) {
        let mut wide = Vec::with_capacity(lumps.len());
        lumps.iter().for_each(|(number, lump)| add(&mut wide, number >> (2 * (own - depth)), *lump));
        return (depth, wide);
    }
    let (points, is_even, mut start) = (support.points(), support.is_even(), 0);
    // Of many pixels, those that are too light to move anything are left out.
    let least = if points.len() > MOST_POLISHED { least(masses.values) } else { 0.0 };
    let lump = |&(parent, end): &(u64, usize)| {
        let mut sum = Lump { at: [0.0; 3], mass: 0.0 };
        let own = std::mem::replace(&mut start, end)..end;
        for (pixel, point) in own.clone().zip(&points[own]) {
            let mass = masses.at(pixel);
            let mut mass = if mass > least { mass } else { 0.0 };
            if !is_even {
                // Of a pixel that is wider than a lump, no more than a lump's share lies in one place.
                mass *= 0.25_f64.powi(i32::from(depth.saturating_sub(support.depth_of(pixel))));
            }
            sum.add(Lump { at: point.to_array().map(|x| mass * x), mass });
        }
        (sum.mass > 0.0).then_some((parent, sum))
    };
    (depth, support.runs(depth).iter().filter_map(lump).collect())
}

/// Of many pixels, lighter ones do not move anything.
pub(crate) fn least(masses: &[f64]) -> f64 {
    LIGHTEST * largest(masses)
}

/// Lumps at their centres of mass.
fn unit_length(sums: Vec<(u64, Lump)>) -> Vec<Lump> {
    let centre = |(_, Lump { at, mass }): (u64, Lump)| {
        let length = at.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        Lump { at: at.map(|x| x / length), mass }
    };
    sums.into_iter().map(centre).collect()
}

/// Where the window's centre of mass lies, not of unit length, and what the window holds. `weights` is room to work in.
fn value(lumps: &[Lump], sharpness: f64, here: UnitVec, weights: &mut Vec<f64>) -> ([f64; 3], f64) {
    let [x, y, z] = here.to_array();
    let exponent = |Lump { at, .. }: &Lump| {
        let exponent = sharpness * (at[0] * x + at[1] * y + at[2] * z - 1.0);
        if exponent > FAR { exponent } else { NOTHING }
    };
    weights.clear();
    weights.extend(lumps.iter().map(exponent));
    exp_all(weights);
    let (mut sum, mut held) = ([0.0; 3], 0.0);
    for (Lump { at, mass }, weight) in lumps.iter().zip(weights) {
        let weight = mass * *weight;
        held += weight;
        sum.iter_mut().zip(at).for_each(|(sum, x)| *sum += weight * x);
    }
    (sum, held)
}

/// How far the Gaussian reaches.
fn reach_of(sharpness: f64) -> f64 {
    (1.0 + FAR / sharpness).max(-1.0).acos() + 1e-9
}

/// The lumps within a distance.
fn gather<'a>(lumps: impl Iterator<Item = &'a Lump>, here: UnitVec, reach_rad: f64) -> Vec<Lump> {
    let ([x, y, z], nearest) = (here.to_array(), reach_rad.min(std::f64::consts::PI).cos());
    lumps.copied().filter(|l| l.at[0] * x + l.at[1] * y + l.at[2] * z >= nearest).collect()
}

/// Mean shift: to the centre of mass of the window, again and again. Only lumps around count, gathered after a move, and of
/// these only those that the window may reach. `None` if it comes near one of the modes that are known.
fn climb(lumps: &Lumps, sharpness: f64, from: UnitVec, steps: usize, known: &[Mode]) -> Option<Mode> {
    let deviation_rad = sharpness.powf(-0.5);
    let reached_rad = reach_of(sharpness) + STRAYED * deviation_rad;
    let joined = (JOINED * deviation_rad).cos();
    let (mut here, mut held, mut centres, mut weights) = (from, 0.0, [from; 2], Vec::new());
    let mut around = lumps.around(from, AROUND * deviation_rad);
    let mut reached = gather(around.iter(), from, reached_rad);
    for _ in 0..steps {
        if known.iter().any(|mode| mode.0.dot(here) > joined) {
            return None;
        }
        let is_out = here.angle_rad(centres[0]) > WANDERED * deviation_rad;
        if is_out {
            centres[0] = here;
            around = lumps.around(here, AROUND * deviation_rad);
        }
        if is_out || here.angle_rad(centres[1]) > STRAYED * deviation_rad {
            centres[1] = here;
            reached = gather(around.iter(), here, reached_rad);
        }
        let (sum, now) = value(&reached, sharpness, here, &mut weights);
        held = now;
        let Ok(next) = UnitVec::new(sum[0], sum[1], sum[2]) else { break };
        let moved = next.angle_rad(here);
        here = next;
        if moved < STILL_RAD {
            break;
        }
    }
    Some((here, held))
}

/// A disc on pixels.
struct Disc<'a> {
    support: &'a Support,
    centre: UnitVec,
    radius_rad: f64,
    /// For pixels of each depth: their reach, and the scalar products that are surely inside and surely outside.
    bounds: Vec<(f64, f64, f64)>,
}

impl<'a> Disc<'a> {
    fn new(support: &'a Support, centre: UnitVec, radius_rad: f64) -> Self {
        let bounds = |depth: u8| {
            let reach_rad = reach_rad(depth);
            let inner = (radius_rad - reach_rad).max(0.0).cos();
            (reach_rad, inner, (radius_rad + reach_rad).min(std::f64::consts::PI).cos())
        };
        let bounds = (support.widest_depth()..=support.depth()).map(bounds).collect();
        Self { support, centre, radius_rad, bounds }
    }

    /// How much of a pixel lies inside, if it touches the disc.
    fn share(&self, pixel: usize) -> Option<f64> {
        let point = self.support.points()[pixel];
        let dot = point.dot(self.centre);
        let depth =
            if let [_] = self.bounds[..] { 0 } else { self.support.depth_of(pixel) - self.support.widest_depth() };
        let (reach_rad, inner, outer) = self.bounds[usize::from(depth)];
        let is_whole = dot > inner && self.radius_rad > reach_rad;
        let share =
            || if is_whole { 1.0 } else { share_within(self.centre.angle_rad(point), reach_rad, self.radius_rad) };
        (dot >= outer).then(share)
    }

    /// What pixels of some masses have inside.
    fn mass(&self, mass: impl Fn(usize) -> f64) -> f64 {
        let near = self.support.ranges_near(self.centre, self.radius_rad + self.support.reach_rad());
        let parts = near.into_iter().flatten().filter_map(|pixel| Some(self.share(pixel)? * mass(pixel)));
        parts.sum()
    }

    /// What is inside and was not taken by other discs of its size before.
    fn mass_beside(&self, masses: CellMasses<'_>, taken: &[Self]) -> f64 {
        let reach_rad = 2.0 * (self.radius_rad + self.support.reach_rad()) + 1e-6;
        let near: Vec<&Self> = taken.iter().filter(|disc| disc.centre.angle_rad(self.centre) < reach_rad).collect();
        let left = |mass: f64, disc: &&Self, pixel| mass * (1.0 - disc.share(pixel).unwrap_or(0.0));
        self.mass(|pixel| near.iter().fold(masses.at(pixel), |mass, disc| left(mass, disc, pixel)))
    }
}

pub(crate) fn mass_within(support: &Support, masses: CellMasses<'_>, centre: UnitVec, radius_rad: f64) -> f64 {
    Disc::new(support, centre, radius_rad).mass(|pixel| masses.at(pixel))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Globe, cover::cover};
    use locdiff_map::places::Region;
    use locdiff_shdd::sphere::LatLon;
    use std::sync::Arc;

    fn at(lat: f64, lon: f64) -> UnitVec {
        LatLon::new(lat, lon).unwrap().to_unit()
    }

    /// A narrow high hill, and a broad one that holds more: the window decides which comes first.
    #[test]
    fn the_window_decides_which_hill_is_first() {
        let support = Support::Globe(Arc::new(Globe::new(23).unwrap()));
        let hills = [(at(40.0, 10.0), 0.4, 0.03), (at(-20.0, 130.0), 0.6, 0.15)];
        let mass = |p: &UnitVec| {
            let hill = |(c, w, s): &(UnitVec, f64, f64)| {
                w * (-0.5 * (p.angle_rad(*c) / s).powi(2)).exp() / (std::f64::consts::TAU * s * s)
            };
            hills.iter().map(hill).sum::<f64>() * support.area_sr()
        };
        let masses: Vec<f64> = support.points().iter().map(mass).collect();
        let (anywhere, given) =
            (|_: UnitVec| true, Masses { support: &support, of_pixels: masses[..].into(), lumps: None });
        let narrow = Window::new(300.0).places(given, (None, 5), &anywhere);
        assert!(narrow[0].place.angle_rad(hills[0].0) < 0.005, "{narrow:?}");
        let broad = Window::new(2500.0).places(given, (None, 5), &anywhere);
        assert!(broad[0].place.angle_rad(hills[1].0) < 0.02, "{broad:?}");
        assert!(broad[1].place.angle_rad(hills[0].0) < 0.02 && (broad[1].probability - 0.4).abs() < 0.01);
        // A Gaussian hill holds 1 − exp(−r²/2s²) within r.
        let r = 300.0 / EARTH_RADIUS_KM;
        let exact = 0.4 * (1.0 - (-0.5 * (r / 0.03_f64).powi(2)).exp());
        assert!((narrow[0].probability - exact).abs() < 0.01, "{} {exact}", narrow[0].probability);
        for found in [narrow, broad] {
            assert!(found.windows(2).all(|pair| pair[0].probability >= pair[1].probability - 1e-9), "{found:?}");
            assert!(found.iter().map(|f| f.probability).sum::<f64>() <= 1.0 + 1e-9);
        }
    }

    /// The places of a flat density inside a region.
    fn places_in(region: &Region) -> Vec<WindowMass> {
        let inside = |p: UnitVec| region.contains(p.to_latlon());
        let support = Support::fine(cover(std::slice::from_ref(region), Vec::new(), 6, inside));
        let masses = vec![1.0 / support.points().len() as f64; support.points().len()];
        Window::new(1000.0).places(
            Masses { support: &support, of_pixels: masses[..].into(), lumps: None },
            (None, 5),
            &inside,
        )
    }

    /// A flat density inside a box: the place is the box's middle, not a corner.
    #[test]
    fn the_middle_of_a_flat_region() {
        let found = places_in(&Region::parse("22.2,113.8,22.5,114.4").unwrap());
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].place.angle_rad(at(22.35, 114.1)) < 3e-4, "{:?}", found[0].place.to_latlon());
        assert!((found[0].probability - 1.0).abs() < 1e-6);
    }

    /// Two islands with nothing between them: the place is on one of them.
    #[test]
    fn an_impossible_middle_is_not_answered() {
        let square = |west: f64| {
            let east = west + 0.5;
            format!("[[[{west},10],[{east},10],[{east},10.5],[{west},10.5],[{west},10]]]")
        };
        let text = format!(r#"{{"type":"MultiPolygon","coordinates":[{},{}]}}"#, square(10.0), square(12.0));
        let region = Region::from_geojson(&text, "two islands").unwrap();
        let place = places_in(&region)[0].place.to_latlon();
        assert!(region.contains(place), "{place:?}");
    }
}
