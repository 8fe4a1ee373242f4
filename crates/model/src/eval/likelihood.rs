//! How probable the truth was held to be.

use crate::eval::{Bootstrap, Estimate};
use serde::Serialize;
use std::f64::consts::LN_2;

/// The mean negative log-likelihood, in nats per steradian and as plonk tells it.
///
/// ```
/// use locdiff_model::eval::{Bootstrap, Likelihood};
/// let uniform = -(4.0 * std::f64::consts::PI).ln();
/// let likelihood = Likelihood::new(&[uniform; 10], &Bootstrap::default());
/// assert_eq!(format!("{:.3} {:.3}", likelihood.nats.value, likelihood.plonk), "2.531 1.217");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Likelihood {
    /// Number of photos with a density.
    pub n: usize,
    /// −mean log q in nats per steradian; 2.531 for the uniform density.
    pub nats: Estimate,
    /// plonk's figure, −mean log q / (3 ln 2); 1.217 for the uniform density.
    pub plonk: f64,
}

impl Likelihood {
    /// From log densities at the truths, per steradian. NaN is a photo without a density.
    pub fn new(log_densities: &[f64], bootstrap: &Bootstrap) -> Self {
        let known: Vec<usize> = (0..log_densities.len()).filter(|&photo| !log_densities[photo].is_nan()).collect();
        let minus: Vec<f64> = known.iter().map(|&photo| -log_densities[photo]).collect();
        let nats = bootstrap.select(&known).mean(&minus);
        Self { n: minus.len(), nats, plonk: nats.value / (3.0 * LN_2) }
    }
}
