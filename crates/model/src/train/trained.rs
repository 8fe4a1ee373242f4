//! Which rows a model was trained on: hashes beside it, so that nobody judges or calibrates it by them unawares.

use crate::{chance, train::Result, train::dataset::Dataset, train::dataset::Rows};
use locdiff_base::{AtomicFile, read_bounded};
use locdiff_io::data::RowFile;
use std::{collections::HashSet, path::Path};

/// The file in a run's folder: hashes of 64 bits, little-endian, in order.
const FILE: &str = "trained_rows.u64";
/// Of more rows, those with the smallest hashes are kept: a fair sample of them.
const MOST: usize = 1 << 16;

fn hash(embedding: &[f32]) -> u64 {
    embedding.iter().fold(0, |hash, value| chance::hash(&[hash, u64::from(value.to_bits())]))
}

/// Writes the hashes of rows that are trained on.
pub(super) fn note(training: Rows<'_>, out: &Path) -> Result<()> {
    let data: &Dataset = training.data;
    let mut row = vec![0.0; data.columns()];
    let mut hashes = Vec::with_capacity(training.rows.len());
    for &index in training.rows {
        data.read(index as usize, 0, &mut row)?;
        hashes.push(hash(&row));
    }
    hashes.sort_unstable();
    hashes.dedup();
    hashes.truncate(MOST);
    let bytes: Vec<u8> = hashes.into_iter().flat_map(u64::to_le_bytes).collect();
    Ok(AtomicFile::write_whole(&out.join(FILE), &bytes)?)
}

/// The share of a file's rows that the model of a run's folder, or of its `best/`, was trained on; estimated for large runs.
/// `None` if the folder does not say, as those of earlier releases. Fails if the embeddings cannot be read.
pub fn trained_share(model: &Path, file: &RowFile) -> Result<Option<f64>> {
    let read = |folder: &Path| read_bounded(&folder.join(FILE), 8 * MOST as u64).ok();
    let Some(bytes) = read(model).or_else(|| read(&model.join(".."))) else { return Ok(None) };
    let known: HashSet<u64> = bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    // All rows with hashes up to the largest that was kept are known.
    let last = if known.len() < MOST { u64::MAX } else { known.iter().copied().max().unwrap_or(0) };
    let mut row = vec![0.0; file.columns()];
    let (mut seen, mut trained) = (0_usize, 0_usize);
    for index in 0..file.rows() {
        file.read_row(index, &mut row)?;
        let hash = hash(&row);
        seen += usize::from(hash <= last);
        trained += usize::from(known.contains(&hash));
    }
    Ok((seen > 0).then(|| trained as f64 / seen as f64))
}
