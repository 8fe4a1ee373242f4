//! Fitting a calibration to photos whose places are known.

mod factors;
mod observation;
mod reading;

pub use observation::Observation;

use crate::calibration::{Calibration, FitReport, Strangers};
use crate::{AnswerError, Globe, LEVELS, Probe};
use factors::choose_factors;
use locdiff_shdd::Coefficients;
use reading::{Outcome, WINDOWS_KM, choose_window, radii, read_window, read_windows, threshold};
use std::sync::Arc;

/// [`fit`] wants at least this many photos: fewer say too little.
pub const FEWEST_TO_CALIBRATE: usize = 50;
/// Draws of noise for the density without a photo: so many that their own noise does not show.
pub const BACKGROUND_DRAWS: usize = 1024;

/// The calibration under which the densities of `observations` say what holds: of all factors and floors whose mean
/// −log density is near the best, those whose regions deviate least from what they say, in the collection where they deviate
/// most; then the window whose places are right most often, and the radii about them that hold what they say. Where `strangers`
/// are given, photos of another kind than the model was trained for, they are learned to be told, and get factors of their own.
///
/// # Errors
/// Too few photos, or numbers of another degree.
pub fn fit(
    globe: &Arc<Globe>,
    background: &Coefficients,
    observations: &[Observation],
    strangers: &[Observation],
    samples: usize,
    seed: u64,
) -> Result<Calibration, AnswerError> {
    for photos in
        [observations, strangers].into_iter().filter(|photos| !photos.is_empty()).chain([observations])
    {
        if photos.len() < FEWEST_TO_CALIBRATE {
            let remedy = format!("a calibration needs {FEWEST_TO_CALIBRATE} or more");
            return Err(locdiff_base::setting("photos with known places", photos.len(), remedy));
        }
    }
    let weights = group_weights(observations);
    let chosen = choose_factors(globe, background, observations, &weights)?;
    let mut calibration = Calibration { factors: chosen.factors, ..Calibration::none(background.clone()) };
    let equal = vec![1.0 / strangers.len().max(1) as f64; strangers.len()];
    if !strangers.is_empty() {
        let rows =
            |photos: &[Observation]| photos.iter().map(|seen| seen.embedding.clone()).collect::<Vec<_>>();
        calibration.strangers = Some(Strangers {
            probe: Probe::fit(&rows(observations), &rows(strangers))?,
            factors: choose_factors(globe, background, strangers, &equal)?.factors,
            radius_levels: LEVELS,
        });
    }
    let windows = read_windows(globe, &calibration, observations)?;
    let window = choose_window(&windows, &weights);
    calibration.window_km = WINDOWS_KM[window];
    let mut read: Vec<(Outcome, f64)> =
        windows.iter().zip(&weights).map(|(photo, weight)| (photo[window], *weight)).collect();
    let (radii, levels) = radii(&read);
    calibration.radius_levels = levels;
    if !strangers.is_empty() {
        let theirs = read_window(globe, &calibration, strangers, calibration.window_km)?;
        let theirs: Vec<(Outcome, f64)> = theirs.into_iter().zip(equal).collect();
        if let Some(kept) = &mut calibration.strangers {
            kept.radius_levels = reading::radii(&theirs).1;
        }
        // Half of all photos are strangers, as the probe takes it.
        read.extend(theirs);
    }
    calibration.can_tell_from = threshold(&read);
    calibration.fit = Some(FitReport {
        n: observations.len(),
        strangers: strangers.len(),
        samples,
        seed,
        nll_nats: chosen.nll_nats,
        background_nll_nats: chosen.background_nll_nats,
        regions: chosen.regions,
        radii,
    });
    Ok(calibration)
}

/// A weight for each photo such that every collection has the same sum, and all together 1.
fn group_weights(observations: &[Observation]) -> Vec<f64> {
    let mut sizes = std::collections::BTreeMap::new();
    for seen in observations {
        *sizes.entry(seen.group).or_insert(0.0) += 1.0;
    }
    observations.iter().map(|seen| 1.0 / (sizes[&seen.group] * sizes.len() as f64)).collect()
}

impl FitReport {
    /// The largest deviation of any region or radius from what it says.
    pub fn worst_deviation(&self) -> f64 {
        let off = |shares: &[f64]| shares.iter().zip(LEVELS).map(|(s, l)| (s - l).abs()).fold(0.0, f64::max);
        off(&self.regions).max(off(&self.radii))
    }
}
