//! What a network's output means.

use crate::diffusion::Schedule;
use locdiff_base::named;
use locdiff_nn::{Device, Result, Tensor};
use serde::{Deserialize, Serialize};

named! {
    /// What the network predicts. All three are linear in each other given `x_t`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum PredictionKind: "prediction" {
        /// The clean code `x_0` (`LocDiff`'s choice).
        #[default]
        X0 = "x0", "the clean code";
        Noise = "noise", "the noise";
        /// `v = √ᾱ·z − √(1−ᾱ)·x_0` (Salimans and Ho).
        V = "v", "√ᾱ·noise − √(1−ᾱ)·code";
    }
}

impl PredictionKind {
    /// The factors (of `x_t`, of the output) that give `x_0`.
    ///
    /// ```
    /// use locdiff_model::diffusion::PredictionKind;
    /// let (x_t, z, alpha_bar) = (0.8 * 3.0 + 0.6 * 0.5, 0.5, 0.64_f64);
    /// let (from_x, from_output) = PredictionKind::Noise.to_x0(alpha_bar);
    /// assert!((from_x * x_t + from_output * z - 3.0_f64).abs() < 1e-12);
    /// ```
    pub fn to_x0(self, alpha_bar: f64) -> (f64, f64) {
        let (signal, noise) = (alpha_bar.sqrt(), (1.0 - alpha_bar).sqrt());
        match self {
            Self::X0 => (0.0, 1.0),
            Self::Noise => (1.0 / signal, -noise / signal),
            Self::V => (signal, -noise),
        }
    }

    /// The factors (of `x_0`, of z) that give the network's target in training.
    pub fn target(self, alpha_bar: f64) -> (f64, f64) {
        let (signal, noise) = (alpha_bar.sqrt(), (1.0 - alpha_bar).sqrt());
        match self {
            Self::X0 => (1.0, 0.0),
            Self::Noise => (0.0, 1.0),
            Self::V => (-noise, signal),
        }
    }
}

/// The tables training needs, on the device, for [`locdiff_nn::ops::mix_rows`]: row t holds the factors of `x_0` and z.
pub struct TrainingTables {
    /// The time step of each row.
    pub times: Tensor,
    /// `x_t = row·(x_0, z)`.
    pub noisy: Tensor,
    /// `target = row·(x_0, z)`.
    pub target: Tensor,
}

impl TrainingTables {
    /// Tables for a schedule and a kind of prediction; `scale` multiplies `x_0` (√4π brings codes to unit RMS). The noisiest
    /// step stands `repeats` times more at the end, so that a uniform draw of rows picks it so much more often.
    /// Fails if device memory is too small.
    pub fn new(
        device: &Device,
        schedule: &Schedule,
        prediction: PredictionKind,
        scale: f64,
        repeats: usize,
    ) -> Result<Self> {
        let last = schedule.steps() - 1;
        let times: Vec<usize> = (0..schedule.steps()).chain(std::iter::repeat_n(last, repeats)).collect();
        let table = |row: &dyn Fn(f64) -> (f64, f64)| {
            let rows = times.iter().map(|t| row(schedule.alpha_bar(*t)));
            let values: Vec<f32> = rows.flat_map(|(x0, z)| [(scale * x0) as f32, z as f32]).collect();
            Tensor::from_slice(device, times.len(), 2, &values)
        };
        let steps: Vec<f32> = times.iter().map(|t| *t as f32).collect();
        Ok(Self {
            times: Tensor::from_slice(device, steps.len(), 1, &steps)?,
            noisy: table(&|alpha_bar| (alpha_bar.sqrt(), (1.0 - alpha_bar).sqrt()))?,
            target: table(&|alpha_bar| prediction.target(alpha_bar))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_leads_back_to_x0() {
        for prediction in [PredictionKind::X0, PredictionKind::Noise, PredictionKind::V] {
            for alpha_bar in [1e-5, 0.1, 0.5, 0.9, 0.9999] {
                let (x0, z) = (1.7, -0.4);
                let x_t = f64::sqrt(alpha_bar) * x0 + f64::sqrt(1.0 - alpha_bar) * z;
                let (a, b) = prediction.target(alpha_bar);
                let (from_x, from_output) = prediction.to_x0(alpha_bar);
                let back = from_x * x_t + from_output * (a * x0 + b * z);
                assert!((back - x0).abs() < 1e-9, "{prediction:?} {alpha_bar}: {back}");
            }
        }
        assert_eq!(locdiff_base::Named::from_name("v"), Ok(PredictionKind::V));
    }
}
