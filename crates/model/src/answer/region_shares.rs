//! The probabilities of countries, states and continents: a density summed over the cells of the map.

use crate::answer::Density;
use crate::answer::cell_grid::CellMasses;
use locdiff_map::cells::Cells;
use locdiff_map::places::{Countries, Country, continent, continent_of_country};
use locdiff_shdd::sphere::{Pixel, UnitVec};
use serde::Serialize;
use std::collections::HashMap;
use std::f64::consts::FRAC_PI_4;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A cell, or a finer pixel, on a border that holds this much is divided between the countries.
const HEAVY: f64 = 2e-3;
/// Pixels wider than a cell that hold this much are divided by the density at their cells, lighter ones evenly.
const HEAVY_WIDE: f64 = 3e-3;
/// Pixels that hold less are left out.
const NOTHING: f64 = 1e-10;
/// Countries and states are listed until they hold this share of what all of them hold.
const LISTED: f64 = 0.95;
const MOST_COUNTRIES: usize = 20;
const MOST_STATES: usize = 10;
/// A country that holds more than this has its states listed.
const WORTH_STATES: f64 = 0.25;
/// Continents that hold less are left out.
const LEAST_CONTINENT: f64 = 0.005;

/// A country, a state or a continent, and its probability.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RegionShare {
    /// The code of ISO 3166 or ISO 3166-2. Empty for the few regions without one, `None` for continents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The English name.
    pub name: &'static str,
    /// For a state, the code of its country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country_code: Option<&'static str>,
    /// The probability that the photo was taken there.
    pub probability: f64,
}

impl RegionShare {
    /// The code, or the name of a region without one, with the probability.
    pub(crate) fn keyed(&self) -> (String, f64) {
        (self.code.filter(|code| !code.is_empty()).unwrap_or(self.name).to_owned(), self.probability)
    }
}

/// A state with its country. The first units are the countries as such, in their order.
#[derive(Debug, Clone, Copy)]
struct Unit {
    /// 255 for none.
    country: u8,
    state: u16,
    continent: Option<&'static str>,
}

/// The units of equal parts of a cell.
type Parts = Arc<[u16]>;

#[derive(Debug)]
struct Units {
    all: Vec<Unit>,
    of_cell: Vec<u16>,
    /// Runs of cells of one unit: the unit, and where its run ends.
    runs: Vec<(u16, usize)>,
    /// Cells that were divided.
    divided: Mutex<HashMap<usize, Parts>>,
}

fn pixel_of(cell: usize) -> Pixel {
    Pixel { depth: Cells::DEPTH, index: u64::from(Cells::bundled().indices()[cell]) }
}

/// The centres of a pixel's sixteen parts.
fn sixteenths(pixel: Pixel) -> impl Iterator<Item = UnitVec> + Clone {
    (0..16).map(move |part| Pixel { depth: pixel.depth + 2, index: 16 * pixel.index + part }.centre())
}

impl Units {
    fn bundled() -> &'static Self {
        static BUNDLED: OnceLock<Units> = OnceLock::new();
        BUNDLED.get_or_init(Self::new)
    }

    fn new() -> Self {
        let (cells, countries) = (Cells::bundled(), Countries::bundled().all());
        let of_country = |country: &Country| continent_of_country(country.code());
        let whole = |(country, own)| Unit { country, state: u16::MAX, continent: of_country(own) };
        let mut all: Vec<Unit> = (0..).zip(countries).map(whole).collect();
        let mut known: HashMap<(u8, u16), u16> =
            (0..).zip(&all).map(|(k, unit)| ((unit.country, u16::MAX), k)).collect();
        let keys = cells.country_numbers().iter().zip(cells.state_numbers()).enumerate();
        let of_cell = keys.map(|(cell, (&country, &state))| {
            *known.entry((country, state)).or_insert_with(|| {
                // The outlines count parts overseas to these two, and a few areas have no code.
                let is_plain = |own: &&Country| !matches!(own.code(), "FR" | "NL" | "");
                let own = cells.country(cell);
                let by_code = own.filter(is_plain).and_then(of_country);
                let found = own.and_then(|_| by_code.or_else(|| continent(pixel_of(cell).centre().to_latlon())));
                all.push(Unit { country, state, continent: found });
                all.len() as u16 - 1
            })
        });
        let of_cell: Vec<u16> = of_cell.collect();
        let runs = of_cell.chunk_by(|a, b| a == b).scan(0, |end, run| {
            *end += run.len();
            Some((run[0], *end))
        });
        Self { runs: runs.collect(), all, of_cell, divided: Mutex::default() }
    }

    fn country(&self, unit: u16) -> u8 {
        self.all[usize::from(unit)].country
    }

    /// The units that hold parts of a cell, by the outlines of countries.
    fn parts(&self, cell: usize) -> Parts {
        let known = || self.divided.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(parts) = known().get(&cell) {
            return parts.clone();
        }
        let around = self.around(cell);
        let at = |point| self.unit_at(point, &around);
        let parts: Parts =
            if around.len() == 1 { [around[0]].into() } else { sixteenths(pixel_of(cell)).map(at).collect() };
        known().insert(cell, parts.clone());
        parts
    }

    /// A cell's unit, and those of other countries next to it.
    fn around(&self, cell: usize) -> Vec<u16> {
        let (middle, reach) = (pixel_of(cell).centre(), Pixel::width_rad(Cells::DEPTH));
        let mut found = vec![self.of_cell[cell]];
        for turn in 0..8 {
            let (sin, cos) = (f64::from(turn) * FRAC_PI_4).sin_cos();
            let next = Cells::bundled().at(middle.step(reach * cos, reach * sin).to_latlon());
            let next = next.map(|next| self.of_cell[next]);
            found.extend(next.filter(|next| found.iter().all(|other| self.country(*other) != self.country(*next))));
        }
        found
    }

    /// The unit at a point: the one of these whose country has it, or that country as such; at sea the first.
    fn unit_at(&self, point: UnitVec, around: &[u16]) -> u16 {
        let countries = Countries::bundled();
        let here = countries.at(point.to_latlon()).and_then(|here| countries.all().iter().position(|one| one == here));
        let Some(here) = here else { return around[0] };
        around.iter().copied().find(|unit| usize::from(self.country(*unit)) == here).unwrap_or(here as u16)
    }
}

/// Probabilities being summed by country and state.
#[derive(Debug)]
pub struct RegionMasses {
    units: &'static Units,
    by_unit: Vec<f64>,
}

impl Default for RegionMasses {
    fn default() -> Self {
        let units = Units::bundled();
        Self { units, by_unit: vec![0.0; units.all.len()] }
    }
}

impl RegionMasses {
    /// Adds probability at a point. The sea near a shore belongs to the nearest country within 50 km; farther out it is lost.
    pub fn add(&mut self, point: UnitVec, mass: f64) {
        if let Some(cell) = Cells::bundled().at(point.to_latlon()) {
            self.add_points(cell, std::iter::once(point), mass);
        }
    }

    /// Adds probability that is spread evenly over points of a cell.
    fn add_points(&mut self, cell: usize, points: impl Iterator<Item = UnitVec> + Clone, mass: f64) {
        let units = self.units;
        if mass < HEAVY || units.parts(cell).len() == 1 {
            self.by_unit[usize::from(units.of_cell[cell])] += mass;
            return;
        }
        let (around, each) = (units.around(cell), mass / points.clone().count() as f64);
        points.for_each(|point| self.by_unit[usize::from(units.unit_at(point, &around))] += each);
    }

    /// Adds probability that is spread over a cell.
    fn add_cell(&mut self, cell: usize, mass: f64) {
        if mass < HEAVY {
            self.by_unit[usize::from(self.units.of_cell[cell])] += mass;
            return;
        }
        let parts = self.units.parts(cell);
        parts.iter().for_each(|unit| self.by_unit[usize::from(*unit)] += mass / parts.len() as f64);
    }

    /// Adds the probabilities of all cells.
    fn add_cells(&mut self, masses: CellMasses<'_>) {
        let mut start = 0;
        for (unit, end) in &self.units.runs {
            let own = std::mem::replace(&mut start, *end)..*end;
            let (mut sum, mut most) = (self.by_unit[usize::from(*unit)], 0.0);
            for mass in own.clone().map(|cell| masses.at(cell)) {
                most = if mass > most { mass } else { most };
                sum += if mass > NOTHING { mass } else { 0.0 };
            }
            if most < HEAVY {
                self.by_unit[usize::from(*unit)] = sum;
                continue;
            }
            own.filter(|cell| masses.at(*cell) > NOTHING).for_each(|cell| self.add_cell(cell, masses.at(cell)));
        }
    }

    fn units(&self) -> impl Iterator<Item = (&'static Unit, f64)> {
        self.units.all.iter().zip(self.by_unit.iter().copied())
    }

    fn by_country(&self) -> Vec<(&'static Country, f64)> {
        let mut sums = [0.0; 256];
        self.units().for_each(|(unit, mass)| sums[usize::from(unit.country)] += mass);
        Countries::bundled().all().iter().zip(sums).collect()
    }

    /// The most probable countries first: those that hold 95 % together, at most 20.
    pub fn countries(&self) -> Vec<RegionShare> {
        let named = self.by_country().into_iter().map(|(own, probability)| RegionShare {
            code: Some(own.code()),
            name: own.name(),
            country_code: None,
            probability,
        });
        leading(named, MOST_COUNTRIES)
    }

    /// The states and provinces of each country with more than a quarter of the probability: those that hold 95 % of it, at most 10.
    pub fn states(&self) -> Vec<RegionShare> {
        let mut found = Vec::new();
        for (country, (own, _)) in self.by_country().into_iter().enumerate().filter(|(_, (_, p))| *p > WORTH_STATES) {
            let states = self.units().filter(|(unit, _)| usize::from(unit.country) == country);
            let named = states.filter_map(|(unit, probability)| {
                let (name, code) = Cells::state_name(unit.state)?;
                Some(RegionShare { code: Some(code), name, country_code: Some(own.code()), probability })
            });
            found.extend(leading(named, MOST_STATES));
        }
        found.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        found
    }

    /// The most probable continents first, without those that hold less than half a percent.
    pub fn continents(&self) -> Vec<RegionShare> {
        let mut found: Vec<RegionShare> = Vec::new();
        for (unit, probability) in self.units() {
            let Some(name) = unit.continent else { continue };
            match found.iter_mut().find(|one| one.name == name) {
                Some(one) => one.probability += probability,
                None => found.push(RegionShare { name, probability, ..RegionShare::default() }),
            }
        }
        found.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        found.retain(|one| one.probability >= LEAST_CONTINENT);
        found
    }
}

/// The most probable ones that hold [`LISTED`] of what all hold, at most so many.
fn leading(all: impl Iterator<Item = RegionShare>, most: usize) -> Vec<RegionShare> {
    let mut all: Vec<RegionShare> = all.filter(|one| one.probability > 0.0).collect();
    all.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let mut lacking = LISTED * all.iter().map(|one| one.probability).sum::<f64>();
    let is_needed = |one: &RegionShare| {
        lacking -= one.probability;
        lacking + one.probability > 0.0
    };
    all.into_iter().take(most).take_while(is_needed).collect()
}

impl Density {
    /// The probabilities of countries, states and continents.
    pub fn region_masses(&self) -> RegionMasses {
        let (support, indices, mut sums) = (self.support(), Cells::bundled().indices(), RegionMasses::default());
        let is_whole_map =
            support.is_even() && support.depth() == Cells::DEPTH && support.points().len() == indices.len();
        if is_whole_map {
            sums.add_cells(self.point_masses());
            return sums;
        }
        let (mut next, mut heavy, mut held) = (0, Vec::new(), 0.0);
        for (pixel, &mass) in self.masses().iter().enumerate().filter(|(_, mass)| **mass > NOTHING) {
            let (depth, first) = (support.depth_of(pixel), support.parent(pixel, Cells::DEPTH) as u32);
            // Pixels are in nested order, as the cells are.
            if next > 0 && indices[next - 1] >= first || indices.get(next).is_some_and(|index| *index < first) {
                next = indices.partition_point(|index| *index < first);
            }
            if depth > Cells::DEPTH {
                if indices.get(next) == Some(&first) {
                    sums.add_points(next, sixteenths(Pixel { depth, index: support.index(pixel) }), mass);
                }
                continue;
            }
            let parts = 1 << (2 * (Cells::DEPTH - depth));
            if mass >= HEAVY_WIDE && parts > 1 {
                heavy.extend(first..first + parts);
                held += mass;
                continue;
            }
            while indices.get(next).is_some_and(|index| *index < first + parts) {
                sums.add_cell(next, mass / f64::from(parts));
                next += 1;
            }
        }
        let point = |index: &u32| Pixel { depth: Cells::DEPTH, index: u64::from(*index) }.centre();
        let densities = self.log_density(&heavy.iter().map(point).collect::<Vec<_>>()).into_iter().map(f64::exp);
        let scale = held / densities.clone().sum::<f64>().max(1e-300);
        for (index, density) in heavy.into_iter().zip(densities) {
            if let Some(cell) = Cells::bundled().find(u64::from(index)) {
                sums.add_cell(cell, scale * density);
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::map_factors::MapFactors;
    use crate::answer::mixture::Mixture;
    use crate::answer::surroundings::softmax_by_attribute;
    use crate::answer::{CandidatePlaces, Globe, Kernels, PlaceField, PlaceSettings, Surroundings};
    use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon};

    /// The pixels of a depth within a distance of a point.
    fn pixels(pixel: Pixel, depth: u8, about: UnitVec, radius_rad: f64, found: &mut Vec<UnitVec>) {
        let reach = if pixel.depth == depth { radius_rad } else { radius_rad + 2.0 * Pixel::width_rad(pixel.depth) };
        match pixel.centre().angle_rad(about) {
            angle if angle > reach => {}
            _ if pixel.depth == depth => found.push(pixel.centre()),
            _ => pixel.children().for_each(|child| pixels(child, depth, about, radius_rad, found)),
        }
    }

    /// A wide density, one as narrow as a gallery's, one like GeoCLIP's, and one with map factors on the cells, about towns where three or two
    /// countries meet: half a point against a sum over fine pixels whose countries are those of their centres.
    #[test]
    fn probabilities_of_countries_are_integrals() {
        let globe = Arc::new(Globe::new(23).unwrap());
        let logits: Vec<f32> = (0..Surroundings::classes()).map(|k| (k as f32).sin()).collect();
        let predicted = softmax_by_attribute(&logits);
        for (lat, lon, width_km, depth, is_of_places, has_factors) in [
            (47.56, 7.59, 500.0, 8, false, false),
            (47.56, 7.59, 100.0, 10, false, false),
            (48.57, 7.8, 20.0, 12, true, false),
            (47.56, 7.59, 500.0, 10, false, true),
            (48.57, 7.8, 150.0, 10, false, true),
        ] {
            let at = LatLon::new(lat, lon).unwrap();
            let settings = PlaceSettings { width_km, share: 1.0, ..PlaceSettings::unfitted(0.01) };
            let field = Arc::new(PlaceField::new(&CandidatePlaces::new([at]), &[0.5], &[], &settings));
            let kernels = Kernels::new(vec![(at.to_unit(), 1.0)], width_km);
            let places = is_of_places.then_some((field, 1.0));
            let gallery = (!is_of_places).then_some((kernels, 0.0));
            let mixture = Mixture { parts: Vec::new(), floor: 0.0, places, gallery };
            let density = if has_factors {
                let grid = globe.cells().unwrap();
                let smooth = mixture.smooth_densities(grid);
                let factors = MapFactors::new(&predicted, [0.5; 3], grid.histogram(&smooth));
                Density::with_factors(&globe, mixture, None, (factors, &smooth))
            } else {
                Density::new(globe.clone(), mixture, None, None)
            };
            let mut points = Vec::new();
            let reach = 4.5 * width_km / EARTH_RADIUS_KM;
            (0..12).for_each(|index| pixels(Pixel { depth: 0, index }, depth, at.to_unit(), reach, &mut points));
            let mut wanted: HashMap<&str, f64> = HashMap::new();
            for (point, log) in points.iter().zip(density.log_density(&points)) {
                let (place, cells) = (point.to_latlon(), Cells::bundled());
                let country = Countries::bundled().at(place).or_else(|| cells.country(cells.at(place)?));
                *wanted.entry(country.map_or("", Country::name)).or_default() += log.exp() * Pixel::area_sr(depth);
            }
            let total: f64 = wanted.values().sum();
            for own in density.region_masses().by_country() {
                let wanted = wanted.get(own.0.name()).map_or(0.0, |sum| sum / total);
                let said = format!("{width_km} km, factors {has_factors}, {}: {} for {wanted}", own.0.name(), own.1);
                assert!((own.1 - wanted).abs() < 0.005, "{said}");
            }
        }
    }
}
