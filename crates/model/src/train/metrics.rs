//! `metrics.jsonl`: one JSON object a line.

use crate::train::{Result, error::folder};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file, open for more lines.
pub(crate) struct Metrics {
    path: PathBuf,
    file: File,
}

impl Metrics {
    /// Opens the file of a run that stands at `step`: lines of later steps, and a line cut off by a crash, go.
    pub(crate) fn open(run: &Path, step: u32) -> Result<Self> {
        let path = run.join("metrics.jsonl");
        let old = fs::read_to_string(&path).unwrap_or_default();
        let kept: String = old
            .lines()
            .filter(|line| {
                let value = serde_json::from_str::<serde_json::Value>(line).ok();
                value.and_then(|value| value["step"].as_u64()).is_some_and(|at| at <= u64::from(step))
            })
            .flat_map(|line| [line, "\n"])
            .collect();
        let failed = |error: std::io::Error| folder(&path, error);
        if kept != old {
            fs::write(&path, kept).map_err(failed)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        Ok(Self { path, file })
    }

    /// Writes a line.
    pub(crate) fn write(&mut self, line: &serde_json::Value) -> Result<()> {
        writeln!(self.file, "{line}").map_err(|error| folder(&self.path, error))
    }
}
