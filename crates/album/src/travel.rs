//! Where people may be some time after a photo: a mixture of heat kernels whose widths grow with the time.

use crate::blob::variance_of_km;
use crate::settings::TravelSettings;

/// One way to move: its probability and its variance, rad² along each axis.
pub(crate) type Way = (f64, f64);

/// The kernel after some time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Travel {
    pub(crate) ways: Vec<Way>,
    /// The probability of being anywhere.
    pub(crate) anywhere: f64,
}

impl Travel {
    /// After so many seconds.
    pub(crate) fn after(seconds: f64, settings: &TravelSettings) -> Self {
        let hours = (seconds.abs() / 3600.0).max(1e-4);
        let moved = 1.0 - (-(hours / settings.stay_h).powf(0.7)).exp();
        let flew = settings.fly_share * (1.0 - (-(hours / 6.0).powi(2)).exp());
        let about = (settings.about_km * hours.sqrt()).min(settings.about_most_km);
        let drive = (settings.drive_km * hours.powf(0.8)).min(settings.drive_most_km);
        let fly = (settings.fly_km * hours).clamp(drive, 4000.0);
        let here = 1.0 - settings.anywhere;
        let ways = vec![
            // Standing where one stood, or a walk about.
            (here * (1.0 - moved) * 0.5, variance_of_km(0.05 + 0.3 * about)),
            (here * (1.0 - moved) * 0.5, variance_of_km(0.05 + about)),
            // Moves are short more often than long.
            (here * moved * (1.0 - flew) * 0.35, variance_of_km(0.1 + 0.15 * drive)),
            (here * moved * (1.0 - flew) * 0.40, variance_of_km(0.1 + 0.5 * drive)),
            (here * moved * (1.0 - flew) * 0.25, variance_of_km(0.1 + 1.5 * drive)),
            (here * moved * flew, variance_of_km(fly)),
        ];
        Self { ways, anywhere: settings.anywhere }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_sum_to_one_and_widths_grow() {
        let settings = TravelSettings::default();
        let mean = |seconds: f64| {
            let travel = Travel::after(seconds, &settings);
            let sum: f64 = travel.ways.iter().map(|(share, _)| share).sum();
            assert!((sum + travel.anywhere - 1.0).abs() < 1e-12);
            travel.ways.iter().map(|(share, variance)| share * variance).sum::<f64>()
        };
        let steps = [1.0, 60.0, 600.0, 3600.0, 86_400.0].map(mean);
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    }
}
