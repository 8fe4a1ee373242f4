//! Whether what is said holds: shares of true places inside the regions and radii that answers give.

use serde::{Deserialize, Serialize};

/// The probabilities at which it is asked.
pub const LEVELS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// A reliability curve: of the places said to be inside with 10, 20 … 90 %, how many are.
///
/// ```
/// use locdiff::Reliability;
/// // Ten answers whose truths lie evenly: calibrated, but for the step of ten.
/// let even = Reliability::new((0..10).map(|k| f64::from(k) / 10.0 + 0.05));
/// assert!(even.worst() < 1e-9 && even.n == 10);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// Number of answers.
    pub n: usize,
    /// Shares found, one a level of [`LEVELS`].
    pub shares: [f64; 9],
}

impl Reliability {
    /// From the probability that each answer gives to everything more likely (or nearer) than the truth.
    pub fn new(held: impl IntoIterator<Item = f64>) -> Self {
        let held: Vec<f64> = held.into_iter().collect();
        let share =
            |level: f64| held.iter().filter(|h| **h <= level).count() as f64 / held.len().max(1) as f64;
        Self { n: held.len(), shares: LEVELS.map(share) }
    }

    /// The largest deviation from what was said.
    pub fn worst(&self) -> f64 {
        self.deviations().fold(0.0, f64::max)
    }

    /// The mean deviation.
    pub fn mean_deviation(&self) -> f64 {
        self.deviations().sum::<f64>() / LEVELS.len() as f64
    }

    /// The standard error of a share at level ½, the largest of all.
    pub fn standard_error(&self) -> f64 {
        0.5 / (self.n.max(1) as f64).sqrt()
    }

    fn deviations(&self) -> impl Iterator<Item = f64> {
        self.shares.into_iter().zip(LEVELS).map(|(share, level)| (share - level).abs())
    }
}
