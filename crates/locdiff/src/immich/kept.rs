//! Embeddings that a run has made, kept so that the next one need not download the photos again.

use crate::immich::{ImmichError, Result};
use locdiff_base::WriteError;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::{collections::HashMap, io::Write};

const MOST_BYTES: u64 = 16 << 30;

#[derive(Serialize, Deserialize)]
struct Line {
    encoder: String,
    asset: String,
    embedding: Vec<f32>,
}

/// Embeddings by photo, in a file of lines.
#[derive(Debug)]
pub(crate) struct KeptEmbeddings {
    path: PathBuf,
    encoder: String,
    file: File,
    known: HashMap<String, Vec<f32>>,
}

impl KeptEmbeddings {
    /// Opens or makes the file; lines of another encoder and those that an interrupt cut are passed over.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub(crate) fn open(path: &Path, encoder: &str) -> Result<Self> {
        let mut known = HashMap::new();
        let mut cut = false;
        if path.exists() {
            let text = locdiff_base::read_text_bounded(path, MOST_BYTES)
                .map_err(|error| ImmichError::File { file: path.to_owned(), reason: error.to_string() })?;
            cut = !text.is_empty() && !text.ends_with('\n');
            for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
                if line.encoder == encoder {
                    known.insert(line.asset, line.embedding);
                }
            }
        }
        let failed = |reason| WriteError::new(&path.display().to_string(), reason);
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        if cut {
            file.write_all(b"\n").map_err(failed)?;
        }
        Ok(Self { path: path.to_owned(), encoder: encoder.to_owned(), file, known })
    }

    /// How many are known.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// That of a photo.
    pub(crate) fn get(&self, asset: &str) -> Option<&[f32]> {
        self.known.get(asset).map(Vec::as_slice)
    }

    /// Adds one.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn add(&mut self, asset: &str, embedding: &[f32]) -> Result<()> {
        let line = Line { encoder: self.encoder.clone(), asset: asset.to_owned(), embedding: embedding.to_vec() };
        let text = serde_json::to_string(&line).unwrap_or_default() + "\n";
        let failed = |reason| WriteError::new(&self.path.display().to_string(), reason);
        self.file.write_all(text.as_bytes()).map_err(failed)?;
        self.known.insert(line.asset, line.embedding);
        Ok(())
    }

    /// Removes the file: everything was answered.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub(crate) fn remove(self) -> Result<()> {
        let failed = |reason| WriteError::new(&self.path.display().to_string(), reason);
        Ok(std::fs::remove_file(&self.path).map_err(failed)?)
    }
}
