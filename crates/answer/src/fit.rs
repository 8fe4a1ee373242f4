//! Fitting a calibration to photos whose places are known.

use crate::calibration::{Calibration, FLOOR, FitReport};
use crate::pixel_sums::{log_integral, pixel_reach_rad, share_within};
use crate::{AnswerError, Globe, LEVELS, ReliabilityCurve};
use locdiff_shdd::Coefficients;
use locdiff_sphere::{LatLon, UnitVec};
use rayon::prelude::*;
use std::sync::Arc;

/// Factors on the evidence that are tried, and on the background.
const EVIDENCE: std::ops::Range<u32> = 4..25; // of 0.05
const BACKGROUND: std::ops::Range<u32> = 0..8; // of 0.1
/// Densities this much worse than the best (nats per photo) are out, however well they are calibrated.
const NEAR_BEST_NATS: f64 = 0.03;
/// Below the threshold of "I can't tell", at most this share of answers is on the right continent…
const RIGHT_WHEN_SILENT: f64 = 1.0 / 3.0;
/// …which is this far.
const CONTINENT_KM: f64 = 2500.0;
/// A threshold rests on as many answers as this.
const FEWEST_SILENT: usize = 10;
/// [`fit`] wants at least this many photos: fewer say too little.
pub const FEWEST_TO_CALIBRATE: usize = 50;
/// Draws of noise for the density without a photo: so many that their own noise does not show.
pub const BACKGROUND_DRAWS: usize = 1024;

/// What the model said about a photo whose place is known.
#[derive(Debug, Clone)]
pub struct Observation {
    /// The natural parameters that the network gave at pure noise.
    pub evidence: Coefficients,
    /// The place that was answered.
    pub answer: LatLon,
    /// The true place.
    pub truth: LatLon,
}

/// Factors on evidence and background.
#[derive(Debug, Clone, Copy)]
struct Factors(f64, f64);

/// What a pair of factors gives.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    nll: f64,
    /// Probability of everything denser, and of everything nearer to the answer, than the truth.
    denser: f64,
    nearer: f64,
}

/// The calibration under which the densities of `observations` say what holds: of all pairs of factors whose mean
/// −log density is within 0.03 nats of the best, the one whose regions and radii deviate least from what they say.
///
/// # Errors
/// Too few photos, or numbers of another degree.
pub fn fit(
    globe: &Arc<Globe>,
    background: &Coefficients,
    observations: &[Observation],
    samples: usize,
    seed: u64,
) -> Result<Calibration, AnswerError> {
    if observations.len() < FEWEST_TO_CALIBRATE {
        let remedy = format!("a calibration needs {FEWEST_TO_CALIBRATE} or more");
        return Err(locdiff_base::setting("photos with known places", observations.len(), remedy));
    }
    let pixels = globe.pixels();
    let background_field = globe.codec().field(background)?;
    let behind = background_field.values(pixels.points());
    let try_all = |factors: &[Factors], whole: bool| -> Result<Vec<Vec<Outcome>>, AnswerError> {
        observations
            .par_iter()
            .map(|seen| {
                let field = globe.codec().field(&seen.evidence)?;
                let (truth, said) = (seen.truth.to_unit(), field.values(pixels.points()));
                let at = (field.values(&[truth])[0], background_field.values(&[truth])[0]);
                let nearer = if whole { shares_nearer(globe, seen) } else { Vec::new() };
                Ok(factors.iter().map(|f| outcome(globe, (&said, &behind), at, &nearer, *f)).collect())
            })
            .collect()
    };
    let all: Vec<Factors> = EVIDENCE
        .flat_map(|t| BACKGROUND.map(move |s| Factors(0.05 * f64::from(t), 0.1 * f64::from(s))))
        .collect();
    let mean_nll = |outcomes: &[Vec<Outcome>], k: usize| {
        outcomes.iter().map(|photo| photo[k].nll).sum::<f64>() / outcomes.len() as f64
    };
    let outcomes = try_all(&all, false)?;
    let nll: Vec<f64> = (0..all.len()).map(|k| mean_nll(&outcomes, k)).collect();
    let best = nll.iter().copied().fold(f64::INFINITY, f64::min);
    let good: Vec<Factors> =
        all.into_iter().zip(&nll).filter(|(_, nll)| **nll <= best + NEAR_BEST_NATS).map(|(f, _)| f).collect();
    let outcomes = try_all(&good, true)?;
    let curves = |k: usize| {
        let of = |pick: fn(&Outcome) -> f64| {
            let levels: Vec<f64> = outcomes.iter().map(|photo| pick(&photo[k])).collect();
            ReliabilityCurve::of_levels(&levels)
        };
        (of(|o| o.denser), of(|o| o.nearer))
    };
    let deviation = |k: usize| {
        let (regions, radii) = curves(k);
        regions.mean_absolute_error + radii.mean_absolute_error
    };
    let chosen = (0..good.len()).min_by(|&a, &b| deviation(a).total_cmp(&deviation(b))).unwrap_or(0);
    let (regions, radii) = curves(chosen);
    let truths: Vec<UnitVec> = observations.iter().map(|seen| seen.truth.to_unit()).collect();
    let background_nll_nats = background_nll(globe, &behind, &background_field.values(&truths));
    let report = FitReport {
        n: observations.len(),
        samples,
        seed,
        nll_nats: mean_nll(&outcomes, chosen),
        background_nll_nats,
        regions: regions.observed(),
        radii: radii.observed(),
    };
    let Factors(evidence, background_weight) = good[chosen];
    let mut calibration = Calibration {
        evidence,
        background_weight,
        radius_levels: quantiles(outcomes.iter().map(|photo| photo[chosen].nearer).collect()),
        fit: Some(report),
        ..Calibration::none(background.clone())
    };
    calibration.can_tell_from = threshold(globe, &calibration, observations)?;
    Ok(calibration)
}

/// The values that 10, 20 … 90 % of all do not exceed.
fn quantiles(mut values: Vec<f64>) -> [f64; 9] {
    values.sort_by(f64::total_cmp);
    LEVELS.map(|level| {
        // Between the two values at whose rank the share is reached.
        let at = level * values.len() as f64 - 0.5;
        let (low, part) = (at.floor().max(0.0) as usize, at - at.floor());
        let high = (low + 1).min(values.len() - 1);
        (values[low] + part * (values[high] - values[low])).clamp(0.0, 1.0)
    })
}

/// How much of each pixel is nearer to the answer than the truth is.
fn shares_nearer(globe: &Globe, seen: &Observation) -> Vec<f64> {
    let (pixels, center) = (globe.pixels(), seen.answer.to_unit());
    let (radius_rad, reach_rad) = (center.angle_rad(seen.truth.to_unit()), pixel_reach_rad(pixels));
    pixels.points().iter().map(|p| share_within(center.angle_rad(*p), reach_rad, radius_rad)).collect()
}

/// What factors give for a photo: `fields` are evidence and background at the pixels, `at` the same at the truth; without
/// [`shares_nearer`] the density alone.
fn outcome(
    globe: &Globe,
    fields: (&[f64], &[f64]),
    at: (f64, f64),
    shares_nearer: &[f64],
    Factors(t, s): Factors,
) -> Outcome {
    let area = globe.pixels().area_sr();
    let sum: Vec<f64> = fields.0.iter().zip(fields.1).map(|(a, b)| t * a + s * b).collect();
    let log_z = log_integral(&sum, area);
    let floor = FLOOR / (4.0 * std::f64::consts::PI);
    let here = t * at.0 + s * at.1 - log_z;
    let nll = -((1.0 - FLOOR) * here.exp() + floor).ln();
    let (mut denser, mut nearer) = (0.0, 0.0);
    for (value, share) in sum.iter().zip(shares_nearer) {
        let mass = ((1.0 - FLOOR) * (value - log_z).exp() + floor) * area;
        denser += if value - log_z > here { mass } else { 0.0 };
        nearer += share * mass;
    }
    Outcome { nll, denser, nearer }
}

/// Mean −log density of the background, given its field at the pixels and at the truths.
fn background_nll(globe: &Globe, behind: &[f64], at_truths: &[f64]) -> f64 {
    let log_z = log_integral(behind, globe.pixels().area_sr());
    let floor = FLOOR / (4.0 * std::f64::consts::PI);
    let log_density = at_truths.iter().map(|v| ((1.0 - FLOOR) * (v - log_z).exp() + floor).ln());
    -log_density.sum::<f64>() / at_truths.len() as f64
}

/// The locatability below which at most a third of the answers lies on the right continent.
fn threshold(
    globe: &Arc<Globe>,
    calibration: &Calibration,
    observations: &[Observation],
) -> Result<f64, AnswerError> {
    let mut found: Vec<(f64, bool)> = observations
        .par_iter()
        .map(|seen| {
            let density = calibration.density(globe, &seen.evidence, None)?;
            let right = locdiff_sphere::haversine_km(seen.answer, seen.truth) < CONTINENT_KM;
            Ok((density.locatability(seen.answer), right))
        })
        .collect::<Result<_, AnswerError>>()?;
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut right, mut last) = (0, 0.0);
    for (k, (score, is_right)) in found.iter().enumerate() {
        right += usize::from(*is_right);
        if k + 1 >= FEWEST_SILENT && right as f64 <= RIGHT_WHEN_SILENT * (k + 1) as f64 {
            last = *score;
        }
    }
    Ok(last)
}

impl FitReport {
    /// The largest deviation of any region or radius from what it says.
    pub fn worst_deviation(&self) -> f64 {
        let off = |shares: &[f64]| shares.iter().zip(LEVELS).map(|(s, l)| (s - l).abs()).fold(0.0, f64::max);
        off(&self.regions).max(off(&self.radii))
    }
}
