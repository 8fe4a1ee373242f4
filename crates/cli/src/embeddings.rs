//! Embeddings and truths, as commands name them: each flag defined once.

use crate::say;
use anyhow::{Result, ensure};
use clap::Args;
use locdiff_io::data::{PointColumns, RowFile, read_points};
use locdiff_model::train::trained_share;
use locdiff_shdd::sphere::LatLon;
use std::path::{Path, PathBuf};

/// Embeddings in a file.
#[derive(Debug, Clone, Args)]
pub(crate) struct EmbeddingsArgs {
    /// Read embeddings of the photos, one row per photo: .safetensors or .npy, f16 or f32
    #[arg(long, value_name = "FILE")]
    pub(crate) embeddings: PathBuf,
    /// Read this tensor, if a safetensors file holds several
    #[arg(long, value_name = "NAME")]
    pub(crate) tensor: Option<String>,
}

impl EmbeddingsArgs {
    pub(crate) fn open(&self) -> Result<RowFile> {
        Ok(RowFile::open(&self.embeddings, self.tensor.as_deref())?)
    }
}

/// The true locations of a file's rows.
pub(crate) fn read_truth(path: &Path, name: &str, rows: usize) -> Result<Vec<LatLon>> {
    let truth = read_points(path, None, &PointColumns::default())?;
    same_rows((name, rows), ("--truth", truth.len()))?;
    Ok(truth)
}

/// Warns if a model was trained on rows that it is judged or calibrated by: what they say is too good.
pub(crate) fn warn_of_trained(model: &Path, file: &RowFile) -> Result<()> {
    if let Some(share) = trained_share(model, file)?.filter(|share| *share > 0.0) {
        let (name, model, percent) = (file.name(), model.display(), (100.0 * share).ceil());
        say::warning(&format!(
            "{name}: {model} was trained on {percent} % of these rows, so the result is too good: use rows that it was not trained on"
        ));
    }
    Ok(())
}

/// Fails where two files, each with the number of its rows, are not of the same photos.
pub(crate) fn same_rows((name, rows): (&str, usize), (other, others): (&str, usize)) -> Result<()> {
    ensure!(rows == others, "{name} has {rows} rows, {other} has {others}: row k of both must be the same photo");
    Ok(())
}
