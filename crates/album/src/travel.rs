//! Where people may be some time after a photo: a mixture of heat kernels whose widths grow with the time.

use crate::{blob::variance_of_km, photo::AlbumPhoto, settings::TravelSettings};
use std::collections::HashMap;

/// One way to move: its probability and its variance, rad² along each axis.
pub(crate) type Way = (f64, f64);

/// Standing where one stood, or a walk about: shares, and parts of the settings' length.
const STAYS: [(f64, f64); 2] = [(0.5, 0.3), (0.5, 1.0)];
/// Moves: a short one, the usual one, a long one.
const DRIVES: [(f64, f64); 3] = [(0.06, 0.4), (0.90, 1.0), (0.04, 2.5)];

/// The kernel after some time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Travel {
    pub(crate) ways: Vec<Way>,
    /// The probability of being anywhere.
    pub(crate) anywhere: f64,
}

impl Travel {
    /// After so many seconds, in an album with this time between photos.
    pub(crate) fn after(seconds: f64, pace_h: f64, settings: &TravelSettings) -> Self {
        let hours = (seconds.abs() / 3600.0).max(1e-4);
        // Whoever takes a photo every few hours takes it at another place each time.
        let stay_h = settings.stay_h * (settings.pace_h / pace_h).powf(settings.pace_power).clamp(0.2, 1.5);
        let moved = 1.0 - (-(hours / stay_h).powf(settings.stay_power)).exp();
        let moved = moved.min(settings.move_most);
        let flew = settings.fly_share * (1.0 - (-(hours / 6.0).powi(2)).exp());
        let about = (settings.about_km * hours.sqrt()).min(settings.about_most_km);
        let drive = (settings.drive_km * hours.powf(settings.drive_power)).min(settings.drive_most_km);
        let fly = (settings.fly_km * hours).clamp(drive, 4000.0);
        let here = 1.0 - settings.anywhere;
        let (stayed, drove) = (here * (1.0 - moved), here * moved * (1.0 - flew));
        let mut ways: Vec<Way> = Vec::with_capacity(STAYS.len() + DRIVES.len() + 1);
        ways.extend(STAYS.map(|(share, part)| (stayed * share, variance_of_km(0.05 + part * about))));
        ways.extend(DRIVES.map(|(share, part)| (drove * share, variance_of_km(0.1 + part * drive))));
        ways.push((here * moved * flew, variance_of_km(fly)));
        Self { ways, anywhere: settings.anywhere }
    }
}

/// The usual time between photos of one camera, in hours: half of the gaps are longer. Photos are in order of time; other
/// cameras do not count, so that no clock's error changes it.
pub(crate) fn pace_h(photos: &[&AlbumPhoto], times: &[f64]) -> f64 {
    let mut last: HashMap<Option<&str>, f64> = HashMap::new();
    let mut gaps: Vec<f64> = Vec::with_capacity(times.len());
    for (photo, time) in photos.iter().zip(times) {
        gaps.extend(last.insert(photo.camera.as_deref(), *time).map(|before| (time - before) / 3600.0));
    }
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / 2).copied().unwrap_or(0.5).max(0.01)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_sum_to_one_and_widths_grow() {
        let settings = TravelSettings::default();
        let mean = |seconds: f64| {
            let travel = Travel::after(seconds, 0.5, &settings);
            let sum: f64 = travel.ways.iter().map(|(share, _)| share).sum();
            assert!((sum + travel.anywhere - 1.0).abs() < 1e-12);
            travel.ways.iter().map(|(share, variance)| share * variance).sum::<f64>()
        };
        let steps = [1.0, 60.0, 600.0, 3600.0, 86_400.0].map(mean);
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    }
}
