//! The files that a run over photos leaves behind.

use super::outcome::EmbedOutcome;
use super::{EmbedCounts, EmbedError, EmbedSettings, EmbedTables, error::Result, journal::EmbedJournal};
use locdiff_base::AtomicFile;
use locdiff_io::data::{Fingerprint, MatrixWriter};
use locdiff_vision::sources::{PhotoSource, PlaceSource};
use rayon::prelude::*;
use std::{collections::BTreeMap, path::Path, path::PathBuf};

/// Output files of an embedding run.
///
/// ```
/// use locdiff::embed::EmbedFiles;
/// let files = EmbedFiles::beside("photos.safetensors");
/// assert_eq!(files.locations.to_str(), Some("photos.csv"));
/// assert_eq!(files.journal().to_str(), Some("photos.safetensors.partial"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbedFiles {
    /// Embeddings, one row per photo that can be used: `.safetensors` (tensors `embeddings`, `augmented_1`, …), `.npy`, `.csv` or `.jsonl`.
    pub embeddings: PathBuf,
    /// CSV with row, path, lat, lon and the location's source.
    pub locations: PathBuf,
    /// CSV with the photos that cannot be used, and why.
    pub bad: PathBuf,
    /// Whether to write `bad` even if all photos can be used.
    pub always_list_bad: bool,
}

impl EmbedFiles {
    /// Names the tables after the embeddings' file.
    pub fn beside(embeddings: impl Into<PathBuf>) -> Self {
        let embeddings = embeddings.into();
        let (locations, bad) = (embeddings.with_extension("csv"), embeddings.with_extension("bad.csv"));
        Self { embeddings, locations, bad, always_list_bad: false }
    }

    /// Returns the journal of finished photos, which exists until the run is complete.
    pub fn journal(&self) -> PathBuf {
        let mut name = self.embeddings.as_os_str().to_owned();
        name.push(".partial");
        name.into()
    }

    /// Finds out before hours of work that an output cannot be written, or would destroy one of `inputs`.
    pub(crate) fn check<'a>(&self, settings: &EmbedSettings, inputs: impl Iterator<Item = &'a Path>) -> Result<()> {
        let outputs = [
            ("the embeddings", &self.embeddings),
            ("the locations", &self.locations),
            ("the list of bad photos", &self.bad),
        ];
        let mut seen: BTreeMap<PathBuf, &str> = BTreeMap::new();
        for (second, path) in outputs {
            drop(AtomicFile::create(path)?);
            if let Some(first) = seen.insert(absolute(path), second) {
                return Err(EmbedError::SameFile { first, second, path: path.clone() });
            }
        }
        let inputs: Vec<&Path> = inputs.collect();
        let overwritten = inputs.par_iter().find_map_first(|input| Some((*seen.get(&absolute(input))?, *input)));
        if let Some((output, input)) = overwritten {
            return Err(EmbedError::Overwrites { output, path: input.to_owned() });
        }
        // The format is checked by the writer, whose temporary file goes with it.
        self.writer(settings, 1, &Fingerprint::new("", 0))?;
        Ok(())
    }

    fn writer(&self, settings: &EmbedSettings, columns: usize, encoder: &Fingerprint) -> Result<MatrixWriter> {
        let names = settings.tensors();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(MatrixWriter::create_embeddings(&self.embeddings, columns, settings.dtype, &names, encoder)?)
    }

    /// Writes the files from the journal, which is read once for the tables and once for each tensor.
    pub(crate) fn write(
        &self,
        settings: &EmbedSettings,
        photos: &[PhotoSource],
        journal: &EmbedJournal,
        columns: usize,
        encoder: &Fingerprint,
    ) -> Result<EmbedCounts> {
        let tables = self.tables(photos, journal)?;
        let counts = tables.counts;
        if counts.rows == 0 {
            tables.finish()?;
            return Ok(counts); // no embeddings and no locations: files of no rows would only be errors later
        }
        let mut writer = self.writer(settings, columns, encoder)?;
        for view in 0..=settings.augment as usize {
            for outcome in journal.outcomes()? {
                if let EmbedOutcome::Embedded { values, .. } = outcome {
                    let row: Vec<f64> = values[view * columns..][..columns].iter().map(|&v| v.into()).collect();
                    writer.write_row(&row)?;
                }
            }
        }
        tables.finish()?;
        writer.finish()?;
        Ok(counts)
    }

    fn tables(&self, photos: &[PhotoSource], journal: &EmbedJournal) -> Result<EmbedTables> {
        let mut tables = EmbedTables::create(&self.locations, &self.bad, self.always_list_bad)?;
        for (photo, outcome) in photos.iter().zip(journal.outcomes()?) {
            match outcome {
                EmbedOutcome::Bad(reason) => tables.bad(photo.name(), &reason)?,
                EmbedOutcome::WithoutPlace => tables.left_out(photo.name())?,
                EmbedOutcome::Embedded { gps, .. } => {
                    let own = gps.map(|place| (place, PlaceSource::Exif));
                    tables.embedded(photo.name(), photo.place().or(own))?;
                }
            }
        }
        Ok(tables)
    }
}

/// The same path for the same file, as far as it exists.
fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}
