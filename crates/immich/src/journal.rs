//! What was written, line by line, so that it can be taken back. A line stands before its photo is written.

use crate::{ImmichError, Result};
use locdiff_base::{AtomicFile, WriteError};
use locdiff_sphere::LatLon;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

const MOST_BYTES: u64 = 1 << 30;

/// A line: a photo and the place that it was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The server.
    pub server: String,
    /// The photo's number.
    pub asset: String,
    /// The place.
    #[serde(flatten)]
    pub at: LatLon,
}

/// A list of what was written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Option<File>,
}

impl Journal {
    /// The journal in a file. Nothing is read or written yet.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn record(&mut self, line: &Written) -> Result<()> {
        let failed = |reason| WriteError::new(&self.path.display().to_string(), reason);
        let is_new = self.file.is_none();
        if is_new {
            let open = OpenOptions::new().create(true).append(true).open(&self.path);
            self.file = Some(open.map_err(failed)?);
        }
        let mut text = serde_json::to_string(line).unwrap_or_default() + "\n";
        if is_new && self.is_cut() {
            text.insert(0, '\n');
        }
        let file = self.file.as_mut().expect("it was opened");
        Ok(file.write_all(text.as_bytes()).and_then(|()| file.sync_data()).map_err(failed)?)
    }

    /// Whether an interrupt cut the last line.
    fn is_cut(&self) -> bool {
        locdiff_base::read_bounded(&self.path, MOST_BYTES)
            .is_ok_and(|bytes| bytes.last().is_some_and(|last| *last != b'\n'))
    }

    /// All lines; one that an interrupt cut is left out, as its photo was never written.
    pub(crate) fn lines(&self) -> Result<Vec<Written>> {
        let failed = |reason: String| ImmichError::File { file: self.path.clone(), reason };
        let text = locdiff_base::read_text_bounded(&self.path, MOST_BYTES)
            .map_err(|error| failed(format!("{error}; give the journal that `apply` named")))?;
        let mut lines = Vec::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            match serde_json::from_str(line) {
                Ok(line) => lines.push(line),
                Err(_) if line.starts_with("{\"server\":") && !line.ends_with('}') => {}
                Err(error) => {
                    return Err(failed(format!("line {} is none of a journal ({error})", number + 1)));
                }
            }
        }
        Ok(lines)
    }

    /// Keeps these lines only; without any the file is removed.
    pub(crate) fn keep(&self, lines: &[Written]) -> Result<()> {
        if lines.is_empty() {
            let failed = |reason| WriteError::new(&self.path.display().to_string(), reason);
            return Ok(std::fs::remove_file(&self.path).map_err(failed)?);
        }
        let text: String =
            lines.iter().map(|line| serde_json::to_string(line).unwrap_or_default() + "\n").collect();
        Ok(AtomicFile::write_whole(&self.path, text.as_bytes())?)
    }
}
