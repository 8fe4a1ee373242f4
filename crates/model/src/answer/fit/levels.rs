//! Window, radii and threshold that a calibrated density gives.

use super::observation::{Observation, group_weights};
use super::reading::{Outcome, choose_window, radii, radii_by_sureness, read_windows, threshold, windows_km};
use crate::answer::{Calibration, Globe, Result, SureLevels};
use std::sync::Arc;

/// How answers are read off densities.
pub(super) struct Levels {
    pub(super) window_km: f64,
    pub(super) can_tell_from: f64,
    /// The levels of radii, for photos of the model's kind and for out of domain, where there are any.
    pub(super) own: [f64; 9],
    pub(super) out_of_domain: Option<[f64; 9]>,
    /// Shares of true places within the radii that the densities alone say hold 10, 20 … 90 %.
    pub(super) radii: Vec<f64>,
    /// The levels by how sure answers are, of photos of the model's kind.
    pub(super) by_radius: SureLevels,
}

/// The window whose places are right most often, the radii about them that hold what they say, and when to say "I can't tell".
pub(super) fn read_levels(
    globe: &Arc<Globe>,
    calibration: &Calibration,
    observations: &[Observation],
    out_of_domain: &[Observation],
) -> Result<Levels> {
    let weights = group_weights(observations);
    let windows = read_windows(globe, calibration, observations, &windows_km(calibration))?;
    let window = choose_window(calibration, &windows, &weights);
    let window_km = windows_km(calibration)[window];
    let mut read: Vec<(Outcome, f64)> =
        windows.iter().zip(&weights).map(|(photo, weight)| (photo[window], *weight)).collect();
    let (shares, own) = radii(&read);
    let by_radius = radii_by_sureness(&read);
    let mut levels = Levels { window_km, can_tell_from: 0.0, own, out_of_domain: None, radii: shares, by_radius };
    if !out_of_domain.is_empty() {
        let weight = 1.0 / out_of_domain.len() as f64;
        let theirs = read_windows(globe, calibration, out_of_domain, &[window_km])?;
        let theirs: Vec<(Outcome, f64)> = theirs.iter().map(|outcomes| (outcomes[0], weight)).collect();
        levels.out_of_domain = Some(radii(&theirs).1);
        // Half of all photos are out of domain, as the probe takes it.
        read.extend(theirs);
    }
    levels.can_tell_from = threshold(&read);
    Ok(levels)
}
