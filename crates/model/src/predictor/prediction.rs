//! What a predictor is asked, how it samples, and from a photo's samples to one place.

use crate::{ModelError, Result, chance, diffusion::Sampler};
use locdiff_base::{ensure, named, setting};
use locdiff_io::data::Embedding;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec, spherical_mean};
use locdiff_shdd::{Codec, Coefficients, Decoder};

/// What the model says about a photo.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The place that the samples mean together.
    pub place: LatLon,
    /// The samples' own places, where they were decoded.
    pub samples: Vec<LatLon>,
    /// The mean of the samples' codes: the harmonic coefficients of the mean of their densities.
    pub code: Coefficients,
    /// The mean natural parameters at pure noise: `log p(place | photo)` up to a constant, before any sample commits
    /// itself. `None` for a loss whose network gives something else.
    pub evidence: Option<Coefficients>,
}

pub(super) struct Drawn {
    /// Clean codes, one after the other.
    pub(super) codes: Vec<f32>,
    pub(super) evidence: Option<Coefficients>,
}

fn mean_row(rows: &[f32], dim: usize) -> Vec<f64> {
    let count = (rows.len() / dim) as f64;
    let mut mean = vec![0.0; dim];
    for row in rows.chunks_exact(dim) {
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += f64::from(*value) / count);
    }
    mean
}

/// The mean of rows as coefficients; `photo` counts from 0 and is named in the error.
pub(super) fn mean_code(rows: &[f32], dim: usize, photo: usize) -> Result<Coefficients> {
    Coefficients::new(mean_row(rows, dim)).map_err(|_| ModelError::NotFinite { photo: photo + 1 })
}

pub(super) fn read(codec: &Codec, photos: Vec<Drawn>, samples: usize, reading: Reading) -> Result<Vec<Prediction>> {
    let dim = codec.degree().dimension();
    let decoder = Decoder::Exact { window_rad: Some(reading.window_km / EARTH_RADIUS_KM) };
    let places = |vectors: &[Coefficients]| -> Result<Vec<UnitVec>> {
        Ok(codec.decode_batch(vectors, &decoder)?.into_iter().map(|mode| mode.point).collect())
    };
    let pool = |photo: &Drawn| Coefficients::new(mean_row(&photo.codes, dim));
    let pooled = photos.iter().map(pool).collect::<Result<Vec<_>, _>>()?;
    let decoded = match reading.pooling {
        Pooling::Mean => samples,
        _ if reading.every_sample => samples,
        Pooling::Single => 1,
        Pooling::Pool => 0,
    };
    let own = photos.iter().flat_map(|photo| photo.codes.chunks_exact(dim).take(decoded));
    let code = |code: &[f32]| Coefficients::new(code.iter().map(|value| f64::from(*value)).collect());
    let own = places(&own.map(code).collect::<Result<Vec<_>, _>>()?)?;
    let together = if reading.pooling == Pooling::Pool { places(&pooled)? } else { Vec::new() };
    let prediction = |(i, (code, drawn)): (usize, (_, Drawn))| {
        let own = &own[i * decoded..(i + 1) * decoded];
        let place = match reading.pooling {
            Pooling::Pool => together[i],
            Pooling::Mean => spherical_mean(own).unwrap_or(own[0]),
            Pooling::Single => own[0],
        };
        let samples = own.iter().map(|point| point.to_latlon()).collect();
        Prediction { place: place.to_latlon(), samples, code, evidence: drawn.evidence }
    };
    Ok(pooled.into_iter().zip(photos).enumerate().map(prediction).collect())
}

/// The most codes that are sampled at a time: memory stays at one block.
pub(super) const BLOCK_ROWS: usize = 1024;

/// How to sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleOptions {
    /// Samples per photo.
    pub samples: usize,
    /// The sampler.
    pub sampler: Sampler,
    /// Its steps.
    pub steps: usize,
    /// Classifier-free guidance; 0 for none.
    pub guidance: f32,
    /// The seed of the noise.
    pub seed: u64,
}

impl Default for SampleOptions {
    fn default() -> Self {
        Self { samples: 16, sampler: Sampler::DpmSolverPlusPlus2M, steps: 20, guidance: 0.0, seed: 0 }
    }
}

impl SampleOptions {
    /// Whether the options can be used. Fails with the first one that cannot and what would be accepted.
    pub fn check(&self) -> Result<()> {
        if self.samples == 0 || self.samples > BLOCK_ROWS {
            return Err(setting("samples", self.samples, format!("1 to {BLOCK_ROWS}")));
        }
        ensure!(self.guidance.is_finite(), setting("guidance", self.guidance, "a finite number"));
        Ok(())
    }
}

named! {
    /// How the samples of a photo become one place.
    ///
    /// ```
    /// use locdiff_model::Pooling;
    /// assert_eq!(Pooling::default(), Pooling::Pool);
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Pooling: "pooling" {
        #[default]
        Pool = "pool", "the mean of the samples' codes, decoded once";
        Mean = "mean", "the paper's mean of the samples' locations";
        Single = "single", "the first sample";
    }
}

/// What is read off the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// How they become one place.
    pub pooling: Pooling,
    /// The radius of the window that codes are seen through: a place is where the field, convolved with it, is highest.
    pub window_km: f64,
    /// Whether every sample is decoded too.
    pub every_sample: bool,
}

impl Default for Reading {
    fn default() -> Self {
        Self { pooling: Pooling::default(), window_km: 250.0, every_sample: false }
    }
}

/// A photo to be located.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Embeddings of the photo's views: sample k is drawn for view k modulo their number (the paper's Algorithm 2).
    pub views: &'a [Embedding],
    /// Whose noise it draws: photos of one key draw the same.
    pub key: u64,
    /// Natural parameters that are added at every step: sample k has tilt k modulo their number. Samples are of the
    /// tilted density, `q ∝ p·exp(tilt·Y)`. None for the network's own; only models trained with nll take any.
    pub tilts: &'a [Coefficients],
}

impl<'a> Query<'a> {
    /// A photo by its views, with noise of its own: the key is a hash of the embeddings.
    pub fn of(views: &'a [Embedding]) -> Self {
        let numbers = views.iter().flat_map(Embedding::values).map(|value| u64::from(value.to_bits()));
        Self { views, key: chance::hash(&numbers.collect::<Vec<u64>>()), tilts: &[] }
    }

    /// Adds tilts.
    #[must_use]
    pub fn tilted(self, tilts: &'a [Coefficients]) -> Self {
        Self { tilts, ..self }
    }
}

impl<'a> From<&'a Embedding> for Query<'a> {
    fn from(embedding: &'a Embedding) -> Self {
        Self::of(std::slice::from_ref(embedding))
    }
}

/// One step of the backward process. The first is pure noise, before any step.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceStep {
    /// The time step, falling towards 0.
    pub t: usize,
    /// The samples' own codes after it, with the noise that is still in them.
    pub samples: Vec<Coefficients>,
}
