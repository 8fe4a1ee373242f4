//! The density of an answer: the model's, calibrated, times what the user knows.

use crate::answer::cell_grid::{CellGrid, CellMasses, GroupMasses, LUMP_DEPTH};
use crate::answer::density_bins::DensityRegion;
use crate::answer::map_factors::{FactorEffect, MapFactors};
use crate::answer::mixture::{FieldValues, Mixture, logs_of};
use crate::answer::smallest_region::smallest_regions;
use crate::answer::support::Support;
use crate::answer::window::{Masses, Window, WindowMass, least, mass_within};
use crate::answer::{Globe, Knowledge};
use locdiff_map::cells::Cells;
use locdiff_map::evidence::Evidence;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, Pixel, UnitVec};
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// The distance that locatability is about.
const COUNTRY_KM: f64 = 750.0;

/// A probability density on Earth: the exponential of a field and a uniform floor, times what is also known.
///
/// It is summed over the globe's pixels, or over finer ones where a small region is known. Its values there are worked out
/// when they are first needed; [`Density::compact`] lets go of them.
#[derive(Debug, Clone)]
pub struct Density {
    globe: Arc<Globe>,
    pub(super) mixture: Mixture,
    pub(super) knowledge: Option<Arc<Knowledge>>,
    pub(super) factors: Option<Arc<MapFactors>>,
    pub(super) evidence: Arc<[(Evidence, f64)]>,
    /// The points before they are cut about places that evidence names, and after.
    uncut: OnceLock<Support>,
    support: OnceLock<Support>,
    /// Log of the integral of the mixture times knowledge and evidence.
    pub(super) log_total: f64,
    at_points: OnceLock<Vec<f64>>,
    masses: OnceLock<Vec<f64>>,
    /// The mixture's log densities at the smooth points of the cell grid.
    at_smooth: OnceLock<Vec<f64>>,
    /// The masses of groups of cells, of a density that only map factors multiply.
    pub(super) groups: Option<Arc<GroupMasses>>,
}

/// A probable location of a density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Centre of the probability around it.
    pub place: LatLon,
    /// Probability within the window around it, without that of more probable locations.
    pub probability: f64,
}

impl From<WindowMass> for Peak {
    fn from(found: WindowMass) -> Self {
        Self { place: found.place.to_latlon(), probability: found.probability }
    }
}

impl Density {
    /// `at_pixels`, where they are at hand, are the mixture's log densities at the globe's pixels.
    pub(crate) fn new(
        globe: Arc<Globe>,
        mixture: Mixture,
        knowledge: Option<Arc<Knowledge>>,
        at_pixels: Option<Vec<f64>>,
    ) -> Self {
        let mut density = Self::unnormalised(globe, mixture, knowledge, None);
        let is_globe = matches!(density.support(), Support::Globe(_));
        let values = density.point_values(at_pixels.filter(|_| is_globe));
        density.normalise(values);
        density
    }

    /// A density with map factors; `smooth` are the mixture's densities at the smooth points of the cell grid. It is summed over
    /// the active cells. The factors are left out if what is known allows no such cell.
    pub(crate) fn with_factors(
        globe: &Arc<Globe>,
        mixture: Mixture,
        knowledge: Option<Arc<Knowledge>>,
        (factors, smooth): (MapFactors, &[f64]),
    ) -> Self {
        let is_possible = |grid: &CellGrid| {
            knowledge.as_ref().is_none_or(|known| known.on_support(&Support::Fine(grid.cells.clone())).has_whole_pixels)
        };
        let Some(grid) = globe.cells().filter(|grid| is_possible(grid)) else {
            return Self::new(globe.clone(), mixture, knowledge, None);
        };
        if knowledge.is_none() {
            // Masses are products of few exponentials: much faster than one for each cell.
            let by_joint: Vec<f64> = factors.by_joint().iter().map(|log| log.exp()).collect();
            let log_total = factors.log_total();
            let groups = grid.masses(smooth, &by_joint, log_total.exp() / Pixel::area_sr(Cells::DEPTH));
            let density = Self::unnormalised(globe.clone(), mixture, None, Some(Arc::new(factors)));
            let at_smooth = OnceLock::from(logs_of(smooth));
            return Self { log_total, at_smooth, groups: Some(Arc::new(groups)), ..density };
        }
        let at_cells = grid.log_densities(&logs_of(smooth), factors.by_joint()).collect();
        let mut density = Self::unnormalised(globe.clone(), mixture, knowledge, Some(Arc::new(factors)));
        let values = if density.is_on(grid) {
            density.with_knowledge(at_cells, &grid.cells.points)
        } else {
            density.point_values(None)
        };
        density.normalise(values);
        density
    }

    fn unnormalised(
        globe: Arc<Globe>,
        mixture: Mixture,
        knowledge: Option<Arc<Knowledge>>,
        factors: Option<Arc<MapFactors>>,
    ) -> Self {
        let (support, at_points, masses) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self {
            globe,
            mixture,
            knowledge,
            factors,
            evidence: Arc::new([]),
            uncut: OnceLock::new(),
            support,
            log_total: 0.0,
            at_points,
            masses,
            at_smooth: OnceLock::new(),
            groups: None,
        }
    }

    /// Multiplies by the likelihood of evidence, one piece after the other.
    #[must_use]
    pub fn with_evidence(self, evidence: &[Evidence]) -> Self {
        if evidence.is_empty() {
            return self;
        }
        let before = self.point_log_density().to_vec();
        let mut density = Self { evidence: evidence.iter().map(|own| (own.clone(), 0.0)).collect(), ..self.compact() };
        let (uncut, support) = (density.uncut().clone(), density.support().clone());
        let mut values = uncut.spread(&before, &support);
        let mut totals = Vec::with_capacity(evidence.len());
        for own in evidence {
            values.iter_mut().zip(support.log_likelihoods(own)).for_each(|(value, log)| *value += log);
            let total = support.log_integral(&values);
            values.iter_mut().for_each(|value| *value -= total);
            totals.push(total);
        }
        density.log_total += totals.iter().sum::<f64>();
        density.evidence = evidence.iter().cloned().zip(totals).collect();
        density.at_points = OnceLock::from(values);
        density
    }

    /// Iterates over the evidence that it was multiplied by.
    pub fn evidence(&self) -> impl Iterator<Item = &Evidence> {
        self.evidence.iter().map(|(own, _)| own)
    }

    /// The log likelihood of all evidence at a point.
    fn evidence_log(&self, point: UnitVec) -> f64 {
        self.evidence.iter().map(|(own, _)| own.likelihood(point).ln()).sum()
    }

    /// The map factors and the cells that they are about.
    pub(super) fn on_cells(&self) -> Option<(&MapFactors, &CellGrid)> {
        self.factors.as_deref().zip(self.globe.cells())
    }

    /// Returns the effect of each map factor and each piece of evidence on the log density at a location.
    pub fn factor_effects(&self, location: LatLon) -> Vec<FactorEffect> {
        let mut all = self.on_cells().map_or_else(Vec::new, |(factors, grid)| factors.effects(grid, location));
        all.extend(self.evidence_effects(location));
        all
    }

    /// Returns the effect of each piece of evidence on the log density at a location.
    pub fn evidence_effects(&self, location: LatLon) -> Vec<FactorEffect> {
        let nats = |own: &Evidence, total: f64| own.likelihood(location.to_unit()).ln() - total;
        self.evidence.iter().map(|(own, total)| FactorEffect::of_evidence(own, nats(own, *total))).collect()
    }

    fn normalise(&mut self, mut values: Vec<f64>) {
        self.log_total = self.support().log_integral(&values);
        values.iter_mut().for_each(|value| *value -= self.log_total);
        self.at_points = OnceLock::from(values);
    }

    pub(crate) fn support(&self) -> &Support {
        self.support.get_or_init(|| {
            let kernels = self.evidence.iter().flat_map(|(own, _)| &own.kernels);
            let uncut = self.uncut();
            if !uncut.is_even() {
                return uncut.clone();
            }
            uncut.cut_about(kernels.map(|kernel| (kernel.centre, kernel.deviation_km / EARTH_RADIUS_KM)))
        })
    }

    pub(super) fn uncut(&self) -> &Support {
        self.uncut.get_or_init(|| {
            let Some((_, grid)) = self.on_cells() else {
                return self.mixture.support(&self.globe, self.knowledge.as_ref());
            };
            let whole = Support::Fine(grid.cells.clone());
            self.knowledge.as_ref().map_or(whole.clone(), |known| known.on_support(&whole).support.clone())
        })
    }

    /// Log density at the support's points, short of [`Density::log_total`].
    fn point_values(&self, values: Option<Vec<f64>>) -> Vec<f64> {
        let own = || match self.on_cells().filter(|(_, grid)| self.is_on(grid)) {
            Some((factors, grid)) => grid.log_densities(self.at_smooth(grid), factors.by_joint()).collect(),
            None => self.with_factor_logs(self.mixture.log_densities(self.uncut()), self.uncut().points()),
        };
        let values = self.with_knowledge(values.unwrap_or_else(own), self.uncut().points());
        if self.evidence.is_empty() {
            return values;
        }
        let mut values = self.uncut().spread(&values, self.support());
        for (own, _) in self.evidence.iter() {
            values.iter_mut().zip(self.support().log_likelihoods(own)).for_each(|(value, log)| *value += log);
        }
        values
    }

    /// Whether it is summed over all cells of a grid, or parts of them.
    pub(super) fn is_on(&self, grid: &CellGrid) -> bool {
        self.uncut().points().len() == grid.cells.points.len()
    }

    /// Adds the map factors at points.
    fn with_factor_logs(&self, mut values: Vec<f64>, points: &[UnitVec]) -> Vec<f64> {
        if let Some((factors, grid)) = self.on_cells() {
            let pairs = values.par_iter_mut().zip(points);
            pairs.for_each(|(value, point)| *value += factors.log_factor(grid, point.to_latlon()));
        }
        values
    }

    /// Log densities at points times what is known, over the total.
    fn with_knowledge(&self, mut values: Vec<f64>, points: &[UnitVec]) -> Vec<f64> {
        if let Some(knowledge) = &self.knowledge {
            let known = match self.on_cells() {
                Some((_, grid)) => knowledge.on_support(&Support::Fine(grid.cells.clone())),
                None => knowledge.on(&self.globe),
            };
            if known.log_weights.len() == values.len() {
                values.iter_mut().zip(&known.log_weights).for_each(|(value, known)| *value += known);
            } else {
                let pairs = values.par_iter_mut().zip(points);
                pairs.for_each(|(value, point)| *value += knowledge.log_weight(*point));
            }
        }
        values.iter_mut().for_each(|value| *value -= self.log_total);
        values
    }

    /// The density without what is known, up to a constant factor.
    pub(super) fn without_knowledge(&self) -> Self {
        Self { knowledge: None, ..self.clone() }.compact()
    }

    /// Drops the values at the pixels: a few kilobytes instead of megabytes remain.
    #[must_use]
    pub fn compact(self) -> Self {
        let (at_points, masses, at_smooth) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { uncut: OnceLock::new(), support: OnceLock::new(), at_points, masses, at_smooth, groups: None, ..self }
    }

    /// Returns whether any location is possible.
    pub fn is_possible(&self) -> bool {
        self.log_total.is_finite()
    }

    /// Returns the log density per steradian at points.
    pub fn log_density(&self, points: &[UnitVec]) -> Vec<f64> {
        let known = |point: &UnitVec| self.knowledge.as_ref().map_or(0.0, |k| k.log_weight(*point));
        let logs = self.with_factor_logs(self.mixture.log_at(points), points);
        let all = |(log, point)| log + known(point) + self.evidence_log(*point) - self.log_total;
        logs.into_iter().zip(points).map(all).collect()
    }

    /// Returns the log density per steradian on parallels and meridians, row after row: what [`Density::log_density`] is there to
    /// rounding, many times as fast.
    pub fn log_density_on(&self, rows: &[LatLon], columns: &[LatLon]) -> Vec<f64> {
        let places = || rows.iter().flat_map(|row| columns.iter().map(|column| row.on_meridian_of(*column)));
        let Mixture { places: scored, gallery, .. } = &self.mixture;
        if scored.is_some() || gallery.is_some() || self.knowledge.is_some() || !self.evidence.is_empty() {
            return self.log_density(&places().map(LatLon::to_unit).collect::<Vec<_>>());
        }
        let values = self.mixture.parts.iter().map(|(field, _)| FieldValues::of(field.on_crossings(rows, columns)));
        let mut logs = self.mixture.densities_of(&[], values);
        logs.resize(rows.len() * columns.len(), self.mixture.floor);
        logs.par_iter_mut().for_each(|log| *log = log.ln() - self.log_total);
        if let Some((factors, grid)) = self.on_cells() {
            logs.iter_mut().zip(places()).for_each(|(log, place)| *log += factors.log_factor(grid, place));
        }
        logs
    }

    /// The points that it is summed over: centres of pixels, of one size unless a model's places are finer somewhere.
    pub fn points(&self) -> &[UnitVec] {
        self.support().points()
    }

    /// Returns the log density at [`Density::points`], per steradian.
    pub fn point_log_density(&self) -> &[f64] {
        self.at_points.get_or_init(|| self.point_values(None))
    }

    /// The depth of [`Density::on_healpix`]: the map's cells if it has map factors, else the globe's pixels.
    pub fn healpix_depth(&self) -> u8 {
        self.on_cells().map_or(self.globe.pixels().depth(), |_| Cells::DEPTH)
    }

    /// The depth and the density per steradian of all HEALPix pixels of that depth, in nested order.
    pub fn on_healpix(&self) -> (u8, Vec<f64>) {
        let depth = self.healpix_depth();
        if self.factors.is_none() {
            let at_centres = self.log_density(self.globe.pixels().points());
            return (depth, at_centres.into_iter().map(f64::exp).collect());
        }
        let mut densities = vec![0.0; 12 << (2 * depth)];
        let area = Pixel::area_sr(depth);
        for (pixel, mass) in self.masses().iter().enumerate() {
            densities[self.support().parent(pixel, depth) as usize] += mass / area;
        }
        (depth, densities)
    }

    /// Area of each point's pixel, of the widest where they differ.
    pub fn pixel_area_sr(&self) -> f64 {
        self.support().area_sr()
    }

    /// Returns the Kullback–Leibler divergence from another density, in nats (natural units of information).
    pub fn divergence_nats(&self, from: &Self) -> f64 {
        let on_cells = self.on_cells().filter(|(_, grid)| self.is_on(grid) && from.factors.is_none());
        match (self.support(), from.support(), on_cells) {
            (Support::Globe(a), Support::Globe(b), _) if Arc::ptr_eq(a, b) => {
                self.divergence_from(from.point_log_density().iter().copied())
            }
            (.., Some((factors, grid))) if from.knowledge.is_none() => {
                let elsewhere = from.at_smooth(grid);
                if let Some(groups) = &self.groups {
                    let logs = self.at_smooth(grid).iter().zip(elsewhere).map(|(own, from)| own - from);
                    let mean: f64 = groups.of_parent.iter().zip(logs).map(|(mass, log)| mass * log).sum();
                    return (mean + factors.mean_log() - self.log_total + from.log_total).max(0.0);
                }
                let elsewhere = grid.spread(elsewhere).map(|log| log - from.log_total);
                if self.support().is_even() {
                    return self.divergence_from(elsewhere);
                }
                let elsewhere = self.uncut().spread(&elsewhere.collect::<Vec<_>>(), self.support());
                self.divergence_from(elsewhere.into_iter())
            }
            _ => self.divergence_from(from.log_density(self.points()).into_iter()),
        }
    }

    /// The divergence from a density with these logarithms at its points.
    fn divergence_from(&self, elsewhere: impl Iterator<Item = f64>) -> f64 {
        let parts = self.masses().iter().zip(self.point_log_density().iter().zip(elsewhere));
        parts.filter(|(m, _)| **m > 0.0).map(|(m, (a, b))| m * (a - b)).sum::<f64>().max(0.0)
    }

    /// The log densities of a plain density at the smooth points of a grid.
    pub(crate) fn smooth_log_density(&self, grid: &CellGrid) -> Vec<f64> {
        self.at_smooth(grid).iter().map(|log| log - self.log_total).collect()
    }

    /// The mixture's log densities at the smooth points of a grid.
    fn at_smooth(&self, grid: &CellGrid) -> &[f64] {
        self.at_smooth.get_or_init(|| logs_of(&self.mixture.smooth_densities(grid)))
    }

    /// Returns the smallest region that holds probability `p`.
    pub fn region(&self, p: f64) -> DensityRegion {
        let [region] = self.regions([p]);
        region
    }

    /// Returns the smallest regions that hold several probabilities.
    pub fn regions<const N: usize>(&self, shares: [f64; N]) -> [DensityRegion; N] {
        match self.grouped() {
            Some((grid, groups)) => {
                let bins = groups.bins(grid, shares.into_iter().fold(0.0, f64::max));
                bins.regions((&groups.of_cell, grid.cells_of_groups()), Pixel::area_sr(Cells::DEPTH), shares)
            }
            None => smallest_regions(self.support(), (self.point_log_density(), self.masses()), shares),
        }
    }

    /// Returns the probability of everything denser than a point: that of the smallest region that touches it.
    pub fn mass_denser_than(&self, point: UnitVec) -> f64 {
        let level = self.log_density(&[point])[0];
        self.masses().iter().zip(self.point_log_density()).filter(|(_, v)| **v > level).map(|(m, _)| m).sum()
    }

    /// Returns the area of everything denser than a point, in km², to half a pixel.
    pub fn area_denser_than_km2(&self, point: UnitVec) -> f64 {
        let level = self.log_density(&[point])[0];
        let (support, values) = (self.support(), self.point_log_density());
        let denser = (0..values.len()).filter(|pixel| values[*pixel] > level);
        let count: f64 = denser.map(|pixel| support.relative_area(pixel)).sum();
        let half = 0.5 * Pixel::area_sr(support.depth()) / support.area_sr();
        (count + half) * support.area_sr() * EARTH_RADIUS_KM * EARTH_RADIUS_KM
    }

    /// Returns the probability within a distance of a location, in km.
    pub fn mass_within_km(&self, center: LatLon, radius_km: f64) -> f64 {
        mass_within(self.support(), self.point_masses(), center.to_unit(), radius_km / EARTH_RADIUS_KM)
    }

    /// Returns the probability of the gallery's part within a distance of a location, or `None` without a gallery.
    pub fn gallery_mass_within_km(&self, center: LatLon, radius_km: f64) -> Option<f64> {
        let found = self.with_factor_logs(self.mixture.gallery_log_densities(self.points())?, self.points());
        let mut found = self.with_knowledge(found, self.points());
        found.iter_mut().zip(self.points()).for_each(|(value, at)| *value += self.evidence_log(*at));
        let masses = self.support().masses(&found);
        Some(mass_within(self.support(), masses[..].into(), center.to_unit(), radius_km / EARTH_RADIUS_KM))
    }

    /// Returns the probability that a location is right within 750 km (about a country), from 0 to 1.
    pub fn locatability(&self, place: LatLon) -> f64 {
        self.mass_within_km(place, COUNTRY_KM).clamp(0.0, 1.0)
    }

    /// Returns at most `most` locations, the most probable first: maxima of the probability in a window, each with that probability.
    pub fn peaks(&self, window_km: f64, most: usize) -> Vec<Peak> {
        self.peaks_after(None, window_km, most)
    }

    /// Whether some window of this radius may hold so much: no if the smallest region that holds it is larger.
    pub(crate) fn may_hold(&self, window_km: f64, share: f64) -> bool {
        let reach_km2 = Window::new(window_km).reach_km2(self.support().widest_depth());
        self.grouped().is_none_or(|(grid, groups)| {
            groups.bins(grid, share).pixels_before(share) * self.pixel_area_sr() * EARTH_RADIUS_KM * EARTH_RADIUS_KM
                <= reach_km2
        })
    }

    /// The most probable places after a first one that is settled already; see [`Density::peaks`].
    pub fn peaks_after(&self, first: Option<LatLon>, window_km: f64, most: usize) -> Vec<Peak> {
        let is_possible = |at: UnitVec| {
            let is_known = || self.knowledge.as_ref().is_none_or(|k| k.log_weight(at) > f64::NEG_INFINITY);
            self.factors.as_ref().is_none_or(|_| Cells::bundled().is_ashore(at.to_latlon())) && is_known()
        };
        let settled = first.map(LatLon::to_unit);
        let lumps = self
            .grouped()
            .map(|(grid, own)| (LUMP_DEPTH, &own.lumps.get_or_init(|| grid.lumps(own, least(&own.of_cell)))[..]));
        let given = Masses { support: self.support(), of_pixels: self.point_masses(), lumps };
        let found = Window::new(window_km).places(given, (settled, most), &is_possible);
        let mut peaks: Vec<Peak> = found.into_iter().map(Peak::from).collect();
        if let (Some(peak), Some(place)) = (peaks.first_mut(), first) {
            peak.place = place; // to the last digit
        }
        peaks
    }

    /// Returns the globe of its pixels.
    pub fn globe(&self) -> &Arc<Globe> {
        &self.globe
    }

    pub(crate) fn masses(&self) -> &[f64] {
        self.masses.get_or_init(|| match self.grouped() {
            Some((grid, groups)) => {
                let masses = grid.of_cells(groups);
                (0..self.points().len()).map(|cell| masses.at(cell)).collect()
            }
            None => self.support().masses(self.point_log_density()),
        })
    }

    /// The masses at [`Density::points`], without a list of them if they are those of groups.
    pub(crate) fn point_masses(&self) -> CellMasses<'_> {
        self.grouped().map_or_else(|| self.masses().into(), |(grid, groups)| grid.of_cells(groups))
    }

    /// The map's cells and the masses of groups of them, of a density that only map factors multiply.
    pub(crate) fn grouped(&self) -> Option<(&CellGrid, &GroupMasses)> {
        self.groups.as_deref().zip(self.on_cells()).map(|(groups, (_, grid))| (grid, groups))
    }
}

impl Globe {
    /// The places of a density given by the masses of the pixels, the most probable first: see [`Density::peaks`].
    pub fn peaks(self: &Arc<Self>, masses: &[f64], window_km: f64, most: usize) -> Vec<Peak> {
        let support = Support::Globe(self.clone());
        let given = Masses { support: &support, of_pixels: masses.into(), lumps: None };
        let found = Window::new(window_km).places(given, (None, most), &|_| true);
        found.into_iter().map(Peak::from).collect()
    }
}
