//! The least that makes a density of what a network says: one exponent, for validations during training.

use crate::answer::calibration::{FLOOR, WINDOW_KM};
use crate::answer::{Calibration, Globe, ModelOutput, Result, support::log_integral};
use locdiff_shdd::{Coefficients, sphere::LatLon};
use rayon::prelude::*;
use std::{f64::consts::PI, sync::Arc};

const TEMPERS: std::ops::Range<u32> = 2..25; // of 0.05

/// The exponent on coefficients under which known places are most probable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tempered {
    pub(crate) temper: f64,
    /// Mean −log density at the truths, nats per steradian.
    pub(crate) nll_nats: f64,
}

impl Tempered {
    /// The best exponent for coefficients of photos of known places. Fails on coefficients of another degree than the globe's.
    pub(crate) fn fit(globe: &Arc<Globe>, evidence: &[Coefficients], truths: &[LatLon]) -> Result<Self> {
        let globe = globe.coarser()?;
        let pixels = globe.pixels();
        let tempers: Vec<f64> = TEMPERS.map(|k| 0.05 * f64::from(k)).collect();
        let each = evidence.par_iter().zip(truths).map(|(evidence, truth)| {
            let field = globe.codec().field(evidence)?;
            let (values, here) = (pixels.values(&field), field.values(&[truth.to_unit()])[0]);
            let nll = |temper: &f64| {
                let tempered: Vec<f64> = values.iter().map(|value| temper * value).collect();
                let log = temper * here - log_integral(&tempered, pixels.area_sr());
                -((1.0 - FLOOR) * log.exp() + FLOOR / (4.0 * PI)).ln()
            };
            Ok(tempers.iter().map(nll).collect())
        });
        let each: Vec<Vec<f64>> = each.collect::<Result<_>>()?;
        let mean = |k: usize| each.iter().map(|photo| photo[k]).sum::<f64>() / each.len().max(1) as f64;
        let best = (0..tempers.len()).min_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap_or(0);
        Ok(Self { temper: tempers[best], nll_nats: mean(best) })
    }

    /// The places that the tempered densities mean, through a window about as wide as a country. Fails as [`Tempered::fit`].
    pub(crate) fn places(&self, globe: &Arc<Globe>, evidence: &[Coefficients]) -> Result<Vec<LatLon>> {
        let place = |e: &Coefficients| {
            let mut calibration = Calibration::none(e.clone());
            calibration.factors.evidence = self.temper;
            Ok(calibration.density(globe, ModelOutput::new(e), None)?.peaks(WINDOW_KM, 1)[0].place)
        };
        evidence.par_iter().map(place).collect()
    }
}
