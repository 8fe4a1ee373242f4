//! How to sample, and how to read the samples.

use crate::{Result, diffusion::Sampler};
use locdiff_base::{named, setting};

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
        if !self.guidance.is_finite() {
            return Err(setting("guidance", self.guidance, "a finite number"));
        }
        Ok(())
    }
}

named! {
    /// How the samples of a photo become one place.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Pooling: "pooling" {
        #[default]
        Pool = "pool", "the mean of the samples' codes, decoded once";
        Mean = "mean", "the paper's mean of the samples' places";
        Single = "single", "the first sample";
    }
}

/// The window where none is given.
const WINDOW_KM: f64 = 250.0;

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
        Self { pooling: Pooling::default(), window_km: WINDOW_KM, every_sample: false }
    }
}
