//! What stages will take, from rates that were measured.

use crate::recipe::stage::{Stage, Work};
use serde::{Deserialize, Serialize};

/// Rates of a machine, with where they were measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rates {
    /// The machine, in words.
    pub(crate) machine: String,
    /// How the rates were measured.
    pub(crate) measured: String,
    /// Photos a second by CLIP ViT-L/14; `None` where that was not measured.
    clip_photos: Option<f64>,
    /// Photos a second by the bundled encoder.
    bundled_photos: Option<f64>,
    /// Steps a second of the paper's preset with our loss, by degree.
    train_steps: Vec<(u64, f64)>,
    /// Photos a second of `calibrate`, by degree.
    calibrate_photos: Vec<(u64, f64)>,
    /// Photos a second of `evaluate`, by degree.
    answer_photos: Vec<(u64, f64)>,
}

/// What is known of models' sizes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    /// Bytes of a model of the paper's preset, by degree.
    model_bytes: Vec<(u64, f64)>,
    cpu: Rates,
    h200: Rates,
}

fn measured() -> Measured {
    serde_json::from_str(include_str!("rates.json")).expect("a test reads it")
}

impl Rates {
    /// Of this project's machine with two cores.
    pub(crate) fn cpu() -> Self {
        measured().cpu
    }

    /// Of one H200.
    pub(crate) fn h200() -> Self {
        measured().h200
    }

    /// How long a stage takes; `None` where no rate was measured.
    pub(crate) fn seconds(&self, stage: &Stage) -> Option<f64> {
        match stage.work {
            Work::Embed { photos, is_clip: true } => Some(photos as f64 / self.clip_photos?),
            Work::Embed { photos, is_clip: false } => Some(photos as f64 / self.bundled_photos?),
            Work::Train { steps, degree } => Some(steps as f64 / scaled(&self.train_steps, degree, -2)?),
            Work::Calibrate { photos, degree } => Some(photos as f64 / scaled(&self.calibrate_photos, degree, -2)?),
            Work::Answer { photos, degree } => Some(photos as f64 / scaled(&self.answer_photos, degree, -2)?),
            Work::Little => Some(0.0),
        }
    }
}

/// The number of the nearest degree, scaled by a power of L + 1: 2 is that of a code's length.
fn scaled(numbers: &[(u64, f64)], degree: u64, power: i32) -> Option<f64> {
    let (nearest, number) = numbers.iter().min_by_key(|(other, _)| other.abs_diff(degree))?;
    let ratio = (degree + 1) as f64 / (nearest + 1) as f64;
    Some(number * ratio.powi(power))
}

/// Bytes of a model.
pub(crate) fn model_bytes(degree: u64) -> u64 {
    scaled(&measured().model_bytes, degree, 2).map_or(0, |bytes| bytes as u64)
}

/// Bytes of a run: the model, the best one, and three checkpoints with the optimiser's two moments and the averages.
pub(crate) fn run_bytes(degree: u64) -> u64 {
    (2 + 3 * 4) * model_bytes(degree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_scaled() {
        for rates in [Rates::cpu(), Rates::h200()] {
            assert!(!rates.machine.is_empty() && !rates.measured.is_empty());
            assert!(rates.clip_photos.or(rates.bundled_photos).is_some_and(|rate| rate > 0.0));
        }
        assert_eq!(scaled(&[(23, 100.0), (47, 10.0)], 47, -2), Some(10.0));
        assert_eq!(scaled(&[(23, 100.0), (47, 10.0)], 11, -2), Some(400.0));
        assert!(model_bytes(47) > 1 << 20);
    }
}
