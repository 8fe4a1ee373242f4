//! Noise schedules, and what a network predicts.

use crate::Result;
use locdiff_base::{ensure, named, setting};
use locdiff_nn::{Device, NnError, Tensor};
use serde::{Deserialize, Serialize};

/// The share of signal `ᾱ_t` left at every time step t = 0 … T−1, in f64.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    alpha_bar: Vec<f64>,
}

/// Below this much signal the last step's estimate would divide by almost nothing.
const MIN_ALPHA_BAR: f64 = 1e-5;

impl Schedule {
    /// The cosine schedule of Nichol and Dhariwal with s = 0.008: `ᾱ_t = f(t+1)/f(0)` with
    /// `f(t) = cos²((t/T + s)/(1 + s)·π/2)`. Fails on a schedule of no steps.
    pub fn cosine(steps: usize) -> Result<Self> {
        let f = |t: f64| ((t / steps as f64 + 0.008) / 1.008 * std::f64::consts::FRAC_PI_2).cos().powi(2);
        Self::from_alpha_bar((0..steps).map(|t| (f(t as f64 + 1.0) / f(0.0)).clamp(MIN_ALPHA_BAR, 1.0)).collect())
    }

    /// The linear schedule of Ho et al.: β from 1e-4 to 0.02 over 1000 steps, scaled to keep the same end for others.
    /// Fails on a schedule of fewer than 21 steps (β would pass 1).
    pub fn linear(steps: usize) -> Result<Self> {
        ensure!(steps > 20, setting("steps", steps, "at least 21 for the linear schedule"));
        let scale = 1000.0 / steps as f64;
        let (low, high) = (1e-4 * scale, 0.02 * scale);
        let beta = |t: usize| low + (high - low) * t as f64 / (steps - 1) as f64;
        let products = (0..steps).scan(1.0, |product, t| {
            *product *= 1.0 - beta(t);
            Some(*product)
        });
        Self::from_alpha_bar(products.collect())
    }

    /// A schedule of one's own: ᾱ for every step. Fails if there are no steps, or values that do not fall inside (0,
    /// 1].
    pub fn from_alpha_bar(alpha_bar: Vec<f64>) -> Result<Self> {
        ensure!(!alpha_bar.is_empty(), setting("steps", 0, "at least 1"));
        let before = |t: usize| if t == 0 { 1.0 } else { alpha_bar[t - 1] };
        let falls = |t: usize| alpha_bar[t] > 0.0 && alpha_bar[t] <= before(t);
        if let Some(t) = (0..alpha_bar.len()).find(|t| !falls(*t)) {
            return Err(setting("alpha_bar", format!("{} at step {t}", alpha_bar[t]), "falling values in (0, 1]"));
        }
        Ok(Self { alpha_bar })
    }

    /// Number of time steps T.
    pub fn steps(&self) -> usize {
        self.alpha_bar.len()
    }

    /// `ᾱ_t`.
    pub fn alpha_bar(&self, t: usize) -> f64 {
        self.alpha_bar[t]
    }

    /// `√ᾱ_t`, the factor on the signal.
    pub fn signal(&self, t: usize) -> f64 {
        self.alpha_bar[t].sqrt()
    }

    /// `√(1−ᾱ_t)`, the factor on the noise.
    pub fn noise(&self, t: usize) -> f64 {
        (1.0 - self.alpha_bar[t]).sqrt()
    }

    /// Half the log of the signal-to-noise ratio, `λ_t = log(√ᾱ_t / √(1−ᾱ_t))`.
    pub fn half_log_snr(&self, t: usize) -> f64 {
        0.5 * (self.alpha_bar[t] / (1.0 - self.alpha_bar[t])).ln()
    }

    /// `count` time steps from T−1 down to 0, evenly spread and rounded: all of them for `count = T`.
    /// Fails on a count of 0 or above T.
    pub fn subset(&self, count: usize) -> Result<Vec<usize>> {
        let last = self.steps() - 1;
        ensure!(count != 0 && count <= self.steps(), setting("sampler steps", count, format!("1 to {}", self.steps())));
        if count == 1 {
            return Ok(vec![last]);
        }
        let at = |k: usize| (last as f64 * (1.0 - k as f64 / (count - 1) as f64)).round() as usize;
        Ok((0..count).map(at).collect())
    }
}

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
    /// Tables for a schedule and a kind of prediction; `scale` multiplies `x_0` (√4π brings codes to unit RMS). The
    /// noisiest step stands `repeats` times more at the end, so that draws pick it more often. Fails on too little
    /// device memory.
    pub fn new(
        device: &Device,
        schedule: &Schedule,
        prediction: PredictionKind,
        scale: f64,
        repeats: usize,
    ) -> Result<Self, NnError> {
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
    fn cosine_has_its_published_values() {
        let schedule = Schedule::cosine(200).unwrap();
        // mpmath 1.3 with 40 digits, from formula 17 of Nichol and Dhariwal (2021).
        for (t, published) in [
            (0, 0.99974502736362797),
            (49, 0.84701216132690473),
            (99, 0.49384359044063771),
            (149, 0.14427210238573571),
            (198, 6.0717993085493313e-5),
        ] {
            assert!((schedule.alpha_bar(t) - published).abs() < 1e-15, "{t}: {}", schedule.alpha_bar(t));
        }
        assert!((schedule.alpha_bar(199) - MIN_ALPHA_BAR).abs() < 1e-18);
        assert!((schedule.signal(50).powi(2) + schedule.noise(50).powi(2) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn linear_at_1000_steps_ends_where_ddpm_does() {
        let schedule = Schedule::linear(1000).unwrap();
        assert!((schedule.alpha_bar(999) - 4.0358e-5).abs() < 1e-8, "{}", schedule.alpha_bar(999));
        assert!(Schedule::linear(10).is_err());
    }

    #[test]
    fn subsets_start_at_the_noisy_end_and_fall() {
        let schedule = Schedule::cosine(200).unwrap();
        assert_eq!(schedule.subset(200).unwrap(), (0..200).rev().collect::<Vec<_>>());
        let twenty = schedule.subset(20).unwrap();
        assert_eq!((twenty[0], twenty[19], twenty.len()), (199, 0, 20));
        assert!(twenty.windows(2).all(|pair| pair[0] > pair[1]));
        assert!(schedule.subset(0).is_err() && schedule.subset(201).is_err());
        assert_eq!(schedule.subset(1).unwrap(), [199]);
    }

    #[test]
    fn nonsense_is_refused() {
        for values in [vec![], vec![0.5, 0.6], vec![0.5, 0.0], vec![f64::NAN]] {
            assert!(Schedule::from_alpha_bar(values).is_err());
        }
    }

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
