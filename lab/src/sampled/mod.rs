//! What the methods that sample places share: the network's size, validations during training, and one answer from a
//! photo's samples.

use crate::baseline::{Task, kernels, score};
use crate::reading::{CommonReading, edge, nll_with_floor};
use crate::{Baseline, Effort, Examples, PhotoDensity, Points, Result, examples::standardised, search};
use crate::{learner::choose, locdiff::LocDiff};
use locdiff_model::{Standardisation, answer::Globe, chance};
use locdiff_nn::{Params, layers::CsUnetConfig};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, Pixels, UnitVec, spherical_mean};
use rayon::prelude::*;

/// How a method samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SamplerSettings {
    pub(crate) steps: usize,
    /// Classifier-free guidance; 0 for none.
    pub(crate) guidance: f64,
}

/// Everything that sampling needs but the weights.
pub(crate) trait PlaceSampler {
    /// Guidance that validation may choose from.
    const GUIDANCE: &'static [f64];
    /// Whether it takes steps, so that their number is chosen too.
    const HAS_STEPS: bool = true;

    /// `count` places for every row of standardised embeddings.
    fn sample(&self, params: &Params, inputs: &[f32], count: usize, settings: SamplerSettings) -> Result<Vec<UnitVec>>;

    /// The log density of each row of standardised embeddings at its place, by the sampler's differential equation; `None` where
    /// there is none.
    fn log_densities(&self, _: &Params, _inputs: &[f32], _at: &[UnitVec], _guidance: f64) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    fn own_parameters(&self) -> usize {
        0
    }

    fn in_words(&self) -> String {
        String::new()
    }

    /// As [`Baseline::drifts_km`].
    fn drifts_km(&self, _variance: f64, _count: usize, _seed: u64) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }
}

/// Rows in blocks of about `most` samples, each row repeated once per sample.
pub(crate) fn repeated_blocks(
    inputs: &[f32],
    columns: usize,
    samples: usize,
    most: usize,
) -> impl Iterator<Item = Vec<f32>> {
    let rows = (most / samples).max(1);
    inputs
        .chunks(rows * columns)
        .map(move |block| block.chunks_exact(columns).flat_map(|row| row.repeat(samples)).collect())
}

/// LocDiff's own network for vectors of `size` numbers instead of codes.
pub(crate) fn network(effort: &Effort, size: usize, columns: usize) -> CsUnetConfig {
    CsUnetConfig {
        hidden: Some(effort.width),
        width: (effort.width / 4).max(8),
        dropout: effort.dropout,
        ..CsUnetConfig::new(size, columns)
    }
}

/// What validations during training take: few photos, few samples, few steps.
pub(crate) struct QuickValidation {
    inputs: Vec<f32>,
    truth: Vec<UnitVec>,
    samples: usize,
}

impl QuickValidation {
    const PHOTOS: usize = 256;
    const STEPS: usize = 10;

    pub(crate) fn new(validation: &Examples, standardisation: &Standardisation, samples: usize) -> Self {
        let (some, truth) = validation.some(Self::PHOTOS);
        Self { inputs: standardised(standardisation, &some), truth, samples }
    }

    pub(crate) fn inputs(&self) -> &[f32] {
        &self.inputs
    }

    pub(crate) fn truth(&self) -> &[UnitVec] {
        &self.truth
    }

    pub(crate) fn score(&self, sampler: &impl PlaceSampler, params: &Params) -> Result<f64> {
        let settings = SamplerSettings { steps: Self::STEPS, guidance: 0.0 };
        let places = sampler.sample(params, &self.inputs, self.samples, settings)?;
        let pooling = SamplePooling::Densest { width_km: 500.0 };
        Ok(score(&pooling.answers(&places, self.samples), &self.truth))
    }
}

/// A sampler with its weights, and the settings and pooling that validation chose.
pub(crate) struct FittedSampler<S> {
    sampler: S,
    params: Params,
    standardisation: Standardisation,
    pooling: SamplePooling,
    samples: usize,
    settings: SamplerSettings,
    /// The width of the kernels about samples that make a density.
    width_km: f64,
    /// Weights and guidance of the greatest likelihood, of a sampler that has one.
    likeliest: Option<(Params, f64)>,
}

/// Widths that are tried.
const WIDTHS_KM: [f64; 9] = [75.0, 100.0, 150.0, 200.0, 300.0, 450.0, 700.0, 1000.0, 1500.0];
/// Half the budget's steps, all of them, twice as many.
const STEP_FACTORS: [f64; 3] = [0.5, 1.0, 2.0];

impl<S: PlaceSampler> FittedSampler<S> {
    /// Chooses steps and guidance, and how the samples become one answer: the same few settings for every method.
    pub(crate) fn choose(sampler: S, params: Params, standardisation: Standardisation, task: Task<'_>) -> Result<Self> {
        let (validation, effort) = (task.data.validation, task.effort);
        let samples = effort.samples;
        let factors: &[f64] = if S::HAS_STEPS { &STEP_FACTORS } else { &[1.0] };
        let tried = factors.iter().flat_map(|factor| {
            let steps = ((effort.sampler_steps as f64 * factor).round() as usize).max(2);
            S::GUIDANCE.iter().map(move |guidance| SamplerSettings { steps, guidance: *guidance })
        });
        let tried: Vec<SamplerSettings> = tried.collect();
        let pooling = SamplePooling::Single;
        let width_km = WIDTHS_KM[0];
        let mut fitted =
            Self { sampler, params, standardisation, pooling, samples, settings: tried[0], width_km, likeliest: None };
        let (settings, pooling) = choose(&tried, &mut |_| (), |settings, _| {
            fitted.settings = settings;
            let places = fitted.samples(validation.photos())?;
            let mut best = 0.0;
            let (pooling, ()) = choose(&POOLINGS, &mut |_| (), |pooling, _| {
                let score = score(&pooling.answers(&places, samples), validation.points());
                best = f64::max(best, score);
                Ok((score, ()))
            })?;
            Ok((best, pooling))
        })?;
        (fitted.settings, fitted.pooling) = (settings, pooling);
        // The likelihood's kernels are chosen by the likelihood.
        let places = fitted.samples(validation.photos())?;
        let nll = |width_km: &f64| {
            let own = places.chunks_exact(samples).zip(validation.points());
            let logs: Vec<f64> = own
                .map(|(own, truth)| {
                    let own = own.iter().map(|place| (*place, 1.0)).collect();
                    kernels(own, *width_km)(Points::Any(std::slice::from_ref(truth)))[0]
                })
                .collect();
            nll_with_floor(&logs)
        };
        let best = WIDTHS_KM.into_iter().min_by(|a, b| nll(a).total_cmp(&nll(b)));
        fitted.width_km = best.unwrap_or(width_km);
        Ok(fitted)
    }

    /// With the likelihood of the sampler's differential equation: the guidance is chosen by it.
    pub(crate) fn with_likelihood(mut self, params: Params, task: Task<'_>) -> Result<Self> {
        let (photos, truths) = (task.data.validation.photos(), task.data.validation.points());
        let inputs = standardised(&self.standardisation, photos);
        let guidance = |k: i32| 0.25 * f64::from(k);
        let [k] = search::best([(-1, 1)], [(-3, 12)], |[k]| {
            let logs = self.sampler.log_densities(&params, &inputs, truths, guidance(k))?;
            Ok(-nll_with_floor(&logs.unwrap_or_default()))
        })?;
        self.likeliest = Some((params, guidance(k)));
        Ok(self)
    }

    /// The photos' samples, those of each photo one after the other.
    pub(crate) fn samples(&self, embeddings: &[f32]) -> Result<Vec<UnitVec>> {
        let inputs = standardised(&self.standardisation, embeddings);
        self.sampler.sample(&self.params, &inputs, self.samples, self.settings)
    }
}

impl<S: PlaceSampler> Baseline for FittedSampler<S> {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        Ok(self.pooling.answers(&self.samples(embeddings)?, self.samples))
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let samples = self.samples(embeddings)?;
        let own = samples.chunks_exact(self.samples).map(|own| own.iter().map(|place| (*place, 1.0)).collect());
        Ok(own.map(|own| kernels(own, self.width_km)).collect())
    }

    fn at_truths(&self, embeddings: &[f32], truths: &[UnitVec]) -> Result<Option<Vec<f64>>> {
        let Some((params, guidance)) = &self.likeliest else { return Ok(None) };
        let inputs = standardised(&self.standardisation, embeddings);
        self.sampler.log_densities(params, &inputs, truths, *guidance)
    }

    fn is_of_draws(&self) -> bool {
        self.likeliest.is_none()
    }

    fn parameters(&self) -> usize {
        self.params.count() + self.sampler.own_parameters()
    }

    fn chosen(&self) -> String {
        let SamplerSettings { steps, guidance } = self.settings;
        let own = self.sampler.in_words();
        let how = if S::HAS_STEPS { format!("{steps} steps, guidance {guidance}, ") } else { String::new() };
        let density = match &self.likeliest {
            Some((_, guidance)) => format!("likelihood by the differential equation, guidance {guidance}"),
            None => format!("kernel {} km{}", self.width_km, edge(self.width_km, &WIDTHS_KM)),
        };
        format!("{own}{how}of {} samples {}, {density}", self.samples, self.pooling)
    }

    fn drifts_km(&self, variance: f64, count: usize, seed: u64) -> Result<Option<Vec<f64>>> {
        self.sampler.drifts_km(variance, count, seed)
    }
}

/// How samples become one answer; validation chooses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SamplePooling {
    Single,
    Mean,
    /// The sample with the smallest sum of distances to the others.
    Medoid,
    /// The sample where Gaussian kernels of this width about all samples add up highest.
    Densest {
        width_km: f64,
    },
}

/// All that validation may choose from.
pub(crate) const POOLINGS: [SamplePooling; 6] = [
    SamplePooling::Single,
    SamplePooling::Mean,
    SamplePooling::Medoid,
    SamplePooling::Densest { width_km: 200.0 },
    SamplePooling::Densest { width_km: 500.0 },
    SamplePooling::Densest { width_km: 1000.0 },
];

impl SamplePooling {
    /// One answer for each photo, whose `samples` places follow each other.
    pub(crate) fn answers(self, places: &[UnitVec], samples: usize) -> Vec<LatLon> {
        places.chunks_exact(samples).map(|own| self.apply(own).to_latlon()).collect()
    }

    pub(crate) fn apply(self, samples: &[UnitVec]) -> UnitVec {
        match self {
            Self::Single => samples[0],
            Self::Mean => spherical_mean(samples).unwrap_or(samples[0]),
            Self::Medoid => {
                let cost = |p: &UnitVec| samples.iter().map(|q| p.angle_rad(*q)).sum::<f64>();
                let costs: Vec<f64> = samples.iter().map(cost).collect();
                let best = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
                samples[best.unwrap_or(0)]
            }
            Self::Densest { width_km } => {
                let kappa = (EARTH_RADIUS_KM / width_km).powi(2);
                let at = |p: &UnitVec| samples.iter().map(|q| (kappa * (p.dot(*q) - 1.0)).exp()).sum::<f64>();
                let sums: Vec<f64> = samples.iter().map(at).collect();
                let best = (0..sums.len()).rev().max_by(|&a, &b| sums[a].total_cmp(&sums[b]));
                samples[best.unwrap_or(0)]
            }
        }
    }
}

impl std::fmt::Display for SamplePooling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Single => write!(f, "the first sample"),
            Self::Mean => write!(f, "the mean"),
            Self::Medoid => write!(f, "the medoid"),
            Self::Densest { width_km } => write!(f, "the densest within {width_km} km"),
        }
    }
}

/// Places drawn of the density that a reading makes of a single evaluation, `samples` for each row one after the other.
pub(crate) fn ideal_draws(
    model: &LocDiff,
    globe: &Globe,
    reading: &CommonReading,
    embeddings: &[f32],
    (samples, seed): (usize, u64),
) -> Result<Vec<UnitVec>> {
    let codes = model.evidence(embeddings, 0.0)?;
    let fields = codes.iter().map(|code| model.codec().field(code)).collect::<Result<Vec<_>, _>>()?;
    let pixels = globe.pixels();
    let values: Vec<Vec<f64>> = fields.iter().map(|field| pixels.values(field)).collect();
    Ok(draws(pixels, &values, reading, (samples, seed)))
}

pub(crate) fn draws(
    pixels: &Pixels,
    log_densities: &[Vec<f64>],
    reading: &CommonReading,
    (samples, seed): (usize, u64),
) -> Vec<UnitVec> {
    let draws = log_densities.par_iter().enumerate().flat_map_iter(|(photo, values)| {
        let mut below = reading.masses(values);
        for k in 1..below.len() {
            below[k] += below[k - 1];
        }
        let own = |number: usize| {
            let uniform = |what: u64| chance::uniform(&[seed, photo as u64, number as u64, what]);
            let pixel = below.partition_point(|sum| *sum <= uniform(0)).min(below.len() - 1);
            // Anywhere in a pixel, which is a square of about this half width.
            let half = 0.5 * pixels.area_sr().sqrt();
            let [x, y, z] = pixels.points()[pixel].to_array();
            let moved = [1, 2, 3].map(|axis| half * (2.0 * uniform(axis) - 1.0));
            UnitVec::new(x + moved[0], y + moved[1], z + moved[2]).unwrap_or(pixels.points()[pixel])
        };
        (0..samples).map(own).collect::<Vec<UnitVec>>()
    });
    draws.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_moves_the_mean_alone() {
        let at = |lat: f64, lon: f64| LatLon::new(lat, lon).unwrap().to_unit();
        let samples = [at(-40.0, 170.0), at(10.0, 20.0), at(10.2, 20.0), at(10.1, 20.1)];
        assert_eq!(SamplePooling::Single.apply(&samples), samples[0]);
        assert!(SamplePooling::Mean.apply(&samples).angle_rad(samples[3]) > 0.05);
        for pooling in [SamplePooling::Medoid, SamplePooling::Densest { width_km: 100.0 }] {
            assert!(pooling.apply(&samples).angle_rad(samples[3]) < 0.01, "{pooling}");
        }
    }
}
