//! Densities of von Mises and Fisher: one for each photo, and mixtures.

mod mixture;
mod single;

pub(crate) use mixture::VmfMixture;
pub(crate) use single::VonMisesFisher;

use std::f64::consts::PI;

/// `log C(κ)` of the density `C(κ)·exp(κ μ·x)` on the sphere, `C(κ) = κ/(4π sinh κ)`, without overflow.
pub(crate) fn log_normaliser(kappa: f64) -> f64 {
    if kappa < 1e-3 {
        return -(4.0 * PI).ln() - kappa * kappa / 6.0;
    }
    kappa.ln() - (2.0 * PI).ln() - kappa - (-(-2.0 * kappa).exp()).ln_1p()
}

/// The length of the mean, `coth κ − 1/κ`: minus the derivative of [`log_normaliser`].
pub(crate) fn mean_length(kappa: f64) -> f64 {
    if kappa < 1e-3 { kappa / 3.0 } else { 1.0 / kappa.tanh() - 1.0 / kappa }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::{Grid, UnitVec};

    #[test]
    fn densities_have_mass_one_and_their_mean() {
        let grid = Grid::fibonacci(50_000).unwrap();
        for kappa in [0.0, 5e-4, 0.5, 10.0, 300.0] {
            let (mut mass, mut mean) = (0.0, 0.0);
            for (point, weight) in grid.points().iter().zip(grid.weights()) {
                let cosine = point.dot(UnitVec::NORTH);
                let density = (log_normaliser(kappa) + kappa * cosine).exp();
                mass += density * weight;
                mean += density * weight * cosine;
            }
            assert!((mass - 1.0).abs() < 1e-4, "{kappa}: {mass}");
            assert!((mean - mean_length(kappa)).abs() < 1e-4, "{kappa}: {mean}");
        }
        assert!(log_normaliser(1e6).is_finite());
    }
}
