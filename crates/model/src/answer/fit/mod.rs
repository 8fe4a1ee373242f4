//! Fitting a calibration to photos whose places are known.

mod factors;
mod gallery;
mod heads;
mod map;
mod places;
mod reading;

pub use gallery::{MOST_NEIGHBOURS, choose_mix, fit_gallery};
pub use heads::{FEWEST_FOR_HEADS, fit_surroundings};
pub use places::{PlaceFit, fit_places};
pub use reading::Observation;

use crate::answer::calibration::{Calibration, FitReport, OutOfDomain};
use crate::answer::{Globe, LEVELS, Probe, Result, Surroundings};
use factors::choose_factors;
use locdiff_shdd::Coefficients;
use map::choose_with_map;
use reading::{group_weights, read_levels};
use std::sync::Arc;

/// [`fit`] wants at least this many photos: fewer say too little.
pub const FEWEST_TO_CALIBRATE: usize = 50;
/// Draws of noise for the density without a photo: so many that their own noise does not show.
pub const BACKGROUND_DRAWS: usize = 1024;

/// How a calibration is fitted.
#[derive(Debug, Clone, Default)]
pub struct FitOptions {
    /// Heads for map factors.
    pub heads: Option<Arc<Surroundings>>,
    /// The collection whose photos choose factors and window. `None` is all. Radii are fitted to all collections.
    pub chosen_by: Option<usize>,
    /// Samples per photo, for the report.
    pub samples: usize,
    /// Seed of the noise, for the report.
    pub seed: u64,
}

/// The calibration under which the densities of `observations` say what holds: of all factors and floors whose mean
/// −log density is near the best, those whose regions deviate least from what they say in the worst collection; then
/// the window whose places are right most often, and radii that hold what they say. If `out_of_domain` are given, photos
/// of another kind, a probe learns to detect them, and they get factors of their own. With heads, the density has map
/// factors, and their exponent is chosen, too.
/// Fails on too few photos, or numbers of another degree.
pub fn fit(
    globe: &Arc<Globe>,
    background: &Coefficients,
    observations: &[Observation],
    out_of_domain: &[Observation],
    how: FitOptions,
) -> Result<Calibration> {
    let FitOptions { heads, chosen_by, samples, seed } = how;
    let sets = [observations, out_of_domain].map(<[Observation]>::len);
    let counts = sets.into_iter().filter(|n| *n > 0).chain([sets[0]]);
    if let Some(few) = counts.into_iter().find(|n| *n < FEWEST_TO_CALIBRATE) {
        let remedy = format!("a calibration needs {FEWEST_TO_CALIBRATE} or more");
        return Err(locdiff_base::setting("photos with known locations", few, remedy));
    }
    let choosing = choosing(observations, chosen_by);
    if choosing.is_empty() {
        return Err(locdiff_base::setting("collection that chooses", "no photos", "name one of the collections"));
    }
    let weights = group_weights(&choosing);
    if heads.is_some() && globe.cells().is_none() {
        let remedy = "its pixels are finer than the map: fit it without map factors";
        return Err(locdiff_base::setting("degree", globe.codec().degree().get(), remedy));
    }
    let with_map = heads.as_ref().zip(globe.cells());
    let choose = |photos: &[Observation], weights: &[f64]| match with_map {
        Some((heads, grid)) => choose_with_map((globe, grid), background, heads, photos, weights),
        None => choose_factors(globe, background, photos, weights),
    };
    let chosen = choose(&choosing, &weights)?;
    let plain = Calibration::none(background.clone());
    let surroundings = with_map.map(|(heads, _)| heads.clone());
    let mut calibration = Calibration { factors: chosen.factors, surroundings, ..plain };
    let equal = vec![1.0 / out_of_domain.len().max(1) as f64; out_of_domain.len()];
    if !out_of_domain.is_empty() {
        let rows = |photos: &[Observation]| photos.iter().map(|seen| seen.embedding.clone()).collect::<Vec<_>>();
        let probe = Probe::fit(&rows(observations), &rows(out_of_domain))?;
        let chosen = choose(out_of_domain, &equal)?;
        let (factors, map_exponents) = (chosen.factors, with_map.map(|_| chosen.exponents));
        let other = OutOfDomain { probe, factors, map_exponents, radius_levels: LEVELS, window_km: None };
        calibration.out_of_domain = Some(other);
    }
    if with_map.is_some() {
        // Albums were fitted to the factors that all collections choose.
        let own = choose_factors(globe, background, observations, &group_weights(observations))?.factors;
        let other = (!out_of_domain.is_empty()).then(|| choose_factors(globe, background, out_of_domain, &equal));
        calibration.plain = Some([own, other.transpose()?.map_or(own, |chosen| chosen.factors)]);
    }
    let levels = read_levels(globe, &calibration, (observations, chosen_by), out_of_domain)?;
    (calibration.window_km, calibration.can_tell_from) = (levels.window_km, levels.can_tell_from);
    (calibration.radius_levels, calibration.narrow_window) = (levels.own, levels.narrow);
    if let (Some(kept), Some((theirs, window_km))) = (&mut calibration.out_of_domain, levels.out_of_domain) {
        kept.radius_levels = theirs;
        kept.window_km = (window_km != levels.window_km).then_some(window_km);
    }
    calibration.fit = Some(FitReport {
        n: observations.len(),
        out_of_domain: out_of_domain.len(),
        samples,
        seed,
        nll_nats: chosen.nll_nats,
        background_nll_nats: chosen.background_nll_nats,
        regions: chosen.regions,
        radii: levels.radii,
    });
    Ok(calibration)
}

/// The photos that choose.
fn choosing(observations: &[Observation], chosen_by: Option<usize>) -> Vec<Observation> {
    let chooses = |seen: &&Observation| chosen_by.is_none_or(|group| seen.group == group);
    observations.iter().filter(chooses).cloned().collect()
}

impl FitReport {
    /// The largest deviation of any region or radius from what it says.
    pub fn worst_deviation(&self) -> f64 {
        let off = |shares: &[f64]| shares.iter().zip(LEVELS).map(|(s, l)| (s - l).abs()).fold(0.0, f64::max);
        off(&self.regions).max(off(&self.radii))
    }
}
