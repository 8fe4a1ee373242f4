//! Answers of a trained model, to be judged.

use crate::commands::train::DeviceArg;
use crate::progress;
use anyhow::{Context, Result};
use clap::Args;
use locdiff_data::RowFile;
use locdiff_model::{CodeSampler, Model, Pooling, SampleOptions, answers};
use locdiff_nn::Device;
use locdiff_shdd::Codec;
use locdiff_sphere::LatLon;
use std::path::{Path, PathBuf};

/// Which model, on which photos, and how it samples.
#[derive(Debug, Args)]
#[command(next_help_heading = "A model instead of predictions")]
pub(super) struct ModelArgs {
    /// Folder of a model: a run's folder, or its best/
    #[arg(long, value_name = "FOLDER", requires = "embeddings")]
    pub(super) model: Option<PathBuf>,
    /// Embeddings of the photos, one a row in the order of the truths: .safetensors or .npy
    #[arg(long, value_name = "FILE", requires = "model")]
    embeddings: Option<PathBuf>,
    /// Tensor of a safetensors file that holds several
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    /// Samples a photo, pooled
    #[arg(long, value_name = "N", default_value_t = 16)]
    samples: usize,
    /// Steps of the sampler (DPM-Solver++)
    #[arg(long, value_name = "N", default_value_t = 20)]
    steps: usize,
    /// Classifier-free guidance; 0 for none
    #[arg(long, value_name = "W", default_value_t = 0.0, allow_hyphen_values = true)]
    guidance: f32,
    #[command(flatten)]
    device: DeviceArg,
}

impl ModelArgs {
    /// One place a photo.
    pub(super) fn places(&self, folder: &Path, seed: u64) -> Result<Vec<LatLon>> {
        let path = self.embeddings.as_ref().context("--model needs --embeddings")?;
        let file = RowFile::open(path, self.tensor.as_deref())?;
        let device = Device::open(self.device.device)?;
        let model = Model::load(&device, folder).context("--model")?;
        let columns = model.config().embedding_dim;
        anyhow::ensure!(
            columns == file.columns(),
            "{} has embeddings of {} numbers, the model takes {columns}: use the encoder it was trained with",
            file.name(),
            file.columns()
        );
        let options = SampleOptions {
            samples: self.samples,
            steps: self.steps,
            guidance: self.guidance,
            seed,
            ..SampleOptions::default()
        };
        let codec = Codec::new(model.config().degree()?);
        let mut locator = CodeSampler::new(&model, options)?;
        let bar = progress::bar("locating", Some(file.rows() as u64));
        let mut found = Vec::with_capacity(file.rows());
        let per_block = locator.images_per_block();
        for (block, start) in (0..file.rows()).step_by(per_block).enumerate() {
            let rows = start..(start + per_block).min(file.rows());
            let mut embeddings = vec![0.0; rows.len() * columns];
            for (out, row) in embeddings.chunks_exact_mut(columns).zip(rows) {
                file.read_row(row, out)?;
            }
            let codes = locator.sample_block(block as u64, &embeddings)?;
            let block = answers(&codec, &codes, self.samples, Pooling::Pool, false)?;
            found.extend(block.iter().map(|answer| answer.place));
            bar.set_position(found.len() as u64);
        }
        bar.finish_and_clear();
        Ok(found)
    }
}
