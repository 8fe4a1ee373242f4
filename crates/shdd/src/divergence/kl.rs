//! KL divergences between q_e and a clean code's density p, and the negative log likelihood.

use super::loss::Loss;
use crate::{Codec, Coefficients, ShddError, sphere::UnitVec};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `−log q_e(x0) = log Z_q − e·y`; gradient `E_q[Y] − y`.
pub(super) fn nll(codec: &Codec, e: &Coefficients, code: &[f64]) -> Result<Loss, ShddError> {
    let density = codec.density(e)?;
    let mut gradient = density.mean_parameters().into_vec();
    gradient.iter_mut().zip(code).for_each(|(g, y)| *g -= y);
    Ok(Loss { value: density.log_z() - dot(e.as_slice(), code), gradient })
}

/// `KL(p ‖ q_e) = −H(p) − E_p[Y]·e + log Z_q` with `E_p[Y] = λ_l y`; gradient `E_q[Y] − λ_l y`.
pub(super) fn forward(codec: &Codec, e: &Coefficients, code: &[f64]) -> Result<Loss, ShddError> {
    let zonal = codec.zonal();
    let mean = zonal.mean_parameters(code);
    let Loss { value, gradient } = nll(codec, e, &mean)?;
    Ok(Loss { value: value + zonal.negative_entropy, gradient })
}

/// `KL(q_e ‖ p) = E_q[D] − log Z_q + log Z_p` with `D = (e − y)·Y`; gradient `Cov_q(D, Y)`.
pub(super) fn reverse(codec: &Codec, e: &Coefficients, code: &[f64]) -> Result<Loss, ShddError> {
    let density = codec.density(e)?;
    let (points, masses): (Vec<UnitVec>, Vec<f64>) =
        density.nodes().filter(|(_, _, mass)| *mass > 1e-18).map(|(point, _, mass)| (point, mass)).unzip();
    let difference: Vec<f64> = e.as_slice().iter().zip(code).map(|(a, b)| a - b).collect();
    let values = codec.plan.values(&difference, &points)?;
    let mean = dot(&masses, &values) / masses.iter().sum::<f64>();
    let weights: Vec<f64> = masses.iter().zip(&values).map(|(mass, value)| mass * (value - mean)).collect();
    let gradient = codec.harmonics().weighted_sum(&points, &weights)?;
    Ok(Loss { value: mean - density.log_z() + codec.zonal().log_z, gradient })
}
