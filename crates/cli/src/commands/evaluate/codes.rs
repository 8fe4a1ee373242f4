//! Densities in a file, judged by the truths.

use crate::{args::read_vectors, progress};
use anyhow::{Context, Result, ensure};
use locdiff_io::data::MatrixReader;
use locdiff_model::eval::{TruthInDensity, truths_in_densities};
use locdiff_shdd::{Codec, Coefficients, sphere::Degree, sphere::LatLon};
use std::path::Path;

/// What the densities of a file say about truths, row by row.
pub(super) fn judge_codes(path: &Path, truths: &[Option<LatLon>]) -> Result<Vec<Option<TruthInDensity>>> {
    const BLOCK_ROWS: usize = 256;
    let mut reader = MatrixReader::open(path, None, None)?;
    let degree = Degree::from_dimension(reader.columns())
        .with_context(|| format!("{}: a row is not a coefficient vector", path.display()))?;
    let codec = Codec::new(degree);
    let bar = progress::bar("densities", Some(truths.len() as u64));
    let mut found = Vec::with_capacity(truths.len());
    loop {
        let block: Vec<Coefficients> = read_vectors(&mut reader, BLOCK_ROWS, path, found.len() as u64)?;
        if block.is_empty() {
            break;
        }
        let rest = &truths[found.len().min(truths.len())..];
        let pairs: Vec<(Coefficients, LatLon)> =
            block.iter().zip(rest).filter_map(|(code, truth)| Some((code.clone(), (*truth)?))).collect();
        let (codes, places): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let mut judged = truths_in_densities(&codec, &codes, &places)?.into_iter();
        let told = |k: usize| rest.get(k).copied().flatten().and_then(|_| judged.next());
        found.extend((0..block.len()).map(told));
        bar.set_position(found.len() as u64);
    }
    bar.finish_and_clear();
    ensure!(
        found.len() == truths.len(),
        "{} has {} rows for {} photos: give one density per row, in the same order",
        path.display(),
        found.len(),
        truths.len()
    );
    Ok(found)
}
