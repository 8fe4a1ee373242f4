//! Losses on the coefficient vectors themselves, as in the paper's ablation.

use super::loss::Loss;
use crate::ShddError;

/// `1 − cos(e, y)`.
pub(super) fn cosine(e: &[f64], code: &[f64]) -> Result<Loss, ShddError> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let (ee, ey, yy) = (dot(e, e), dot(e, code), dot(code, code));
    if ee == 0.0 {
        return Err(ShddError::ZeroVector);
    }
    let cos = ey / (ee * yy).sqrt();
    let gradient = e.iter().zip(code).map(|(e, y)| cos * e / ee - y / (ee * yy).sqrt()).collect();
    Ok(Loss { value: 1.0 - cos, gradient })
}

/// Mean |e − y|.
pub(super) fn l1(e: &[f64], code: &[f64]) -> Loss {
    let n = e.len() as f64;
    let value = e.iter().zip(code).map(|(e, y)| (e - y).abs()).sum::<f64>() / n;
    let sign = |d: f64| if d == 0.0 { 0.0 } else { d.signum() };
    Loss { value, gradient: e.iter().zip(code).map(|(e, y)| sign(e - y) / n).collect() }
}

/// Mean (e − y)².
pub(super) fn l2(e: &[f64], code: &[f64]) -> Loss {
    let n = e.len() as f64;
    let value = e.iter().zip(code).map(|(e, y)| (e - y).powi(2)).sum::<f64>() / n;
    Loss { value, gradient: e.iter().zip(code).map(|(e, y)| 2.0 * (e - y) / n).collect() }
}
