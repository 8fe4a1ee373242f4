//! Noise schedules.

use crate::Result;
use locdiff_base::setting;

/// The share of signal `ᾱ_t` left at every time step t = 0 … T−1, in f64.
///
/// ```
/// use locdiff_model::diffusion::Schedule;
/// let schedule = Schedule::cosine(200)?;
/// assert!(schedule.alpha_bar(0) > 0.999 && schedule.alpha_bar(199) < 1e-4);
/// # Ok::<(), locdiff_model::ModelError>(())
/// ```
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
        let f = |t: f64| {
            let angle = (t / steps as f64 + 0.008) / 1.008 * std::f64::consts::FRAC_PI_2;
            angle.cos().powi(2)
        };
        Self::from_alpha_bar((0..steps).map(|t| (f(t as f64 + 1.0) / f(0.0)).clamp(MIN_ALPHA_BAR, 1.0)).collect())
    }

    /// The linear schedule of Ho et al.: β from 1e-4 to 0.02 over 1000 steps, scaled to keep the same end for others.
    /// Fails on a schedule of fewer than 21 steps (β would pass 1).
    pub fn linear(steps: usize) -> Result<Self> {
        if steps <= 20 {
            return Err(setting("steps", steps, "at least 21 for the linear schedule"));
        }
        let scale = 1000.0 / steps as f64;
        let (low, high) = (1e-4 * scale, 0.02 * scale);
        let beta = |t: usize| low + (high - low) * t as f64 / (steps - 1) as f64;
        let products = (0..steps).scan(1.0, |product, t| {
            *product *= 1.0 - beta(t);
            Some(*product)
        });
        Self::from_alpha_bar(products.collect())
    }

    /// A schedule of one's own: ᾱ for every step, falling, within (0, 1].
    /// Fails if there are no steps, or values that do not fall inside (0, 1].
    pub fn from_alpha_bar(alpha_bar: Vec<f64>) -> Result<Self> {
        if alpha_bar.is_empty() {
            return Err(setting("steps", 0, "at least 1"));
        }
        let mut last = 1.0;
        for (t, &value) in alpha_bar.iter().enumerate() {
            if !(value > 0.0 && value <= last) {
                return Err(setting("alpha_bar", format!("{value} at step {t}"), "falling values in (0, 1]"));
            }
            last = value;
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
        if count == 0 || count > self.steps() {
            return Err(setting("sampler steps", count, format!("1 to {}", self.steps())));
        }
        if count == 1 {
            return Ok(vec![last]);
        }
        let at = |k: usize| (last as f64 * (1.0 - k as f64 / (count - 1) as f64)).round() as usize;
        Ok((0..count).map(at).collect())
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
        assert!(Schedule::from_alpha_bar(vec![]).is_err());
        assert!(Schedule::from_alpha_bar(vec![0.5, 0.6]).is_err());
        assert!(Schedule::from_alpha_bar(vec![0.5, 0.0]).is_err());
        assert!(Schedule::from_alpha_bar(vec![f64::NAN]).is_err());
    }
}
