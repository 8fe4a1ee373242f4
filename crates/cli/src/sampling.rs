//! How a model is sampled, as commands say it: each flag defined once.

use crate::args::named;
use anyhow::{Result, ensure};
use clap::Args;
use locdiff::{ModelConfig, SampleOptions, Sampler};
use locdiff_base::Named;
use locdiff_data::{PointColumns, RowFile, read_points};
use locdiff_sphere::LatLon;
use std::path::{Path, PathBuf};

/// Samples, sampler, steps and guidance.
#[derive(Debug, Clone, Args)]
pub(crate) struct SamplingArgs {
    /// Samples per photo
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) samples: usize,
    /// The sampler
    #[arg(long, value_parser = named::<Sampler>(), default_value = Sampler::DpmSolverPlusPlus2M.name())]
    sampler: Sampler,
    /// Its steps
    #[arg(long, value_name = "N", default_value_t = 20)]
    steps: usize,
    /// Classifier-free guidance; 0 for none, for which radii are calibrated
    #[arg(long, value_name = "W", default_value_t = 0.0, allow_hyphen_values = true)]
    guidance: f32,
}

impl SamplingArgs {
    pub(crate) fn options(&self, seed: u64) -> SampleOptions {
        let Self { samples, sampler, steps, guidance } = *self;
        SampleOptions { samples, sampler, steps, guidance, seed }
    }
}

/// Embeddings in a file.
#[derive(Debug, Clone, Args)]
pub(crate) struct EmbeddingsArgs {
    /// Embeddings of the photos, one row per photo: .safetensors or .npy, f16 or f32
    #[arg(long, value_name = "FILE")]
    pub(crate) embeddings: PathBuf,
    /// Tensor of a safetensors file that holds several
    #[arg(long, value_name = "NAME")]
    pub(crate) tensor: Option<String>,
}

impl EmbeddingsArgs {
    pub(crate) fn open(&self) -> Result<RowFile> {
        Ok(RowFile::open(&self.embeddings, self.tensor.as_deref())?)
    }
}

/// Fails where embeddings are not the model's.
pub(crate) fn check_columns(file: &RowFile, config: &ModelConfig) -> Result<()> {
    ensure!(
        config.embedding_dim == file.columns(),
        "{} has embeddings of {} numbers, the model takes {}: use the encoder it was trained with",
        file.name(),
        file.columns(),
        config.embedding_dim
    );
    if let (Some(met), Some(trained)) = (file.encoder(), &config.encoder) {
        ensure!(
            met.is_same_encoder(trained),
            "{} was made by the encoder {met}, the model was trained with {trained}: use one encoder for both",
            file.name()
        );
    }
    Ok(())
}

/// The true locations of a file's rows.
pub(crate) fn read_truth(path: &Path, name: &str, rows: usize) -> Result<Vec<LatLon>> {
    let truth = read_points(path, None, &PointColumns::default())?;
    ensure!(
        truth.len() == rows,
        "{name} has {rows} rows, --truth has {}: row k of both must be the same photo",
        truth.len()
    );
    Ok(truth)
}
