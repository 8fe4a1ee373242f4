//! Whether a photo is of the kind that a model was trained for.

use crate::answer::Result;
use locdiff_base::setting;
use serde::{Deserialize, Serialize};

/// Steps of the descent, their length, and the ridge that keeps weights small.
const STEPS: usize = 400;
const RATE: f64 = 0.5;
const RIDGE: f64 = 1e-2;
/// Log odds beyond this are not believed.
const MOST: f64 = 8.0;

/// The log odds that a photo is out of domain (a holiday picture to a model of street views, say), linear in its embedding.
///
/// ```
/// use locdiff_model::answer::Probe;
/// let (street, holiday) = ([[0.1_f32, 1.0], [0.0, 1.2], [0.2, 0.9]], [[0.1_f32, -1.0], [0.0, -1.1], [0.2, -0.9]]);
/// let rows = |rows: &[[f32; 2]]| rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>();
/// let probe = Probe::fit(&rows(&street), &rows(&holiday))?;
/// assert!(probe.share(&[0.1, 1.1]) < 0.5 && probe.share(&[0.1, -1.1]) > 0.5);
/// # Ok::<(), locdiff_model::answer::AnswerError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// One weight for each number of the embedding.
    pub weights: Vec<f64>,
    /// The log odds of an embedding of zeros.
    pub bias: f64,
}

impl Probe {
    /// Learns to tell two equally probable sets of embeddings apart: logistic regression on standardised columns. Fails
    /// on an empty set, or rows of different sizes.
    pub fn fit(familiar: &[Vec<f32>], strange: &[Vec<f32>]) -> Result<Self> {
        let columns = familiar.first().map_or(0, Vec::len);
        let all: Vec<&Vec<f32>> = familiar.iter().chain(strange).collect();
        if columns == 0 || strange.is_empty() || all.iter().any(|row| row.len() != columns) {
            return Err(setting("embeddings", all.len(), "two sets of rows of one size"));
        }
        let n = all.len() as f64;
        let mean: Vec<f64> = (0..columns).map(|c| all.iter().map(|row| f64::from(row[c])).sum::<f64>() / n).collect();
        let squares = |c: usize| all.iter().map(|row| (f64::from(row[c]) - mean[c]).powi(2)).sum::<f64>();
        let deviation: Vec<f64> = (0..columns).map(|c| (squares(c) / n).sqrt().max(1e-6)).collect();
        let input = |row: &&Vec<f32>| (0..columns).map(|c| (f64::from(row[c]) - mean[c]) / deviation[c]).collect();
        let inputs: Vec<Vec<f64>> = all.iter().map(input).collect();
        // Both sets weigh the same.
        let weigh = [0.5 / familiar.len() as f64, 0.5 / strange.len() as f64];
        let (mut weights, mut bias) = (vec![0.0; columns], 0.0);
        let rate = RATE / (columns as f64 / 64.0).max(1.0);
        for _ in 0..STEPS {
            let (mut slope, mut slope_bias) = (vec![0.0; columns], 0.0);
            for (k, row) in inputs.iter().enumerate() {
                let kind = usize::from(k >= familiar.len());
                let logit = bias + weights.iter().zip(row).map(|(w, x)| w * x).sum::<f64>();
                let off = weigh[kind] * (share_of(logit) - kind as f64);
                slope_bias += off;
                slope.iter_mut().zip(row).for_each(|(slope, x)| *slope += off * x);
            }
            bias -= rate * slope_bias;
            weights.iter_mut().zip(&slope).for_each(|(w, slope)| *w -= rate * (slope + RIDGE * *w));
        }
        // From standardised columns back to the embedding's own.
        let weights: Vec<f64> = weights.iter().zip(&deviation).map(|(w, deviation)| w / deviation).collect();
        let bias = bias - weights.iter().zip(&mean).map(|(w, mean)| w * mean).sum::<f64>();
        Ok(Self { weights, bias })
    }

    /// The probability that a photo is out of domain; 0 for an embedding of another size.
    pub fn share(&self, embedding: &[f32]) -> f64 {
        if embedding.len() != self.weights.len() {
            return 0.0;
        }
        share_of(self.bias + self.weights.iter().zip(embedding).map(|(w, x)| w * f64::from(*x)).sum::<f64>())
    }
}

fn share_of(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit.clamp(-MOST, MOST)).exp())
}
