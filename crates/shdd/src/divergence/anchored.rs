//! The paper's SHDD-KL: both densities normalised over the same anchor points.

use super::loss::Loss;
use crate::{Codec, Coefficients, ShddError, sphere::Grid};

/// `Σ q log(q/p)` over anchors, each weighted by its area.
pub(super) fn reverse(codec: &Codec, e: &Coefficients, code: &[f64], grid: &Grid) -> Result<Loss, ShddError> {
    let log_q = log_softmax(codec.plan.values(e.as_slice(), grid.points())?, grid.weights());
    let log_p = log_softmax(codec.plan.values(code, grid.points())?, grid.weights());
    let value = log_q.iter().zip(&log_p).map(|(q, p)| q.exp() * (q - p)).sum::<f64>();
    let weights: Vec<f64> = log_q.iter().zip(&log_p).map(|(q, p)| q.exp() * (q - p - value)).collect();
    Ok(Loss { value, gradient: codec.harmonics().weighted_sum(grid.points(), &weights)? })
}

/// Log of the anchors' probabilities under `weight·exp(value)`.
fn log_softmax(mut values: Vec<f64>, weights: &[f64]) -> Vec<f64> {
    values.iter_mut().zip(weights).for_each(|(v, w)| *v += w.ln());
    let top = values.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let log_sum = top + values.iter().map(|v| (v - top).exp()).sum::<f64>().ln();
    values.iter_mut().for_each(|value| *value -= log_sum);
    values
}
