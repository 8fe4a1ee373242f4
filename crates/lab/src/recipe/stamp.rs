//! How far a stage is: files beside its folder, whole or not there.

use crate::recipe::identity::{sum, sum_of_files};
use crate::{recipe::error::Result, recipe::error::cannot};
use locdiff_base::{AtomicFile, read_bounded};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::{fs, time::UNIX_EPOCH};

/// No stamp is longer.
const LONGEST: u64 = 1 << 20;

/// What a stage that is done says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Of which inputs and settings.
    pub(crate) identity: String,
    /// The checksum of what it made.
    pub(crate) made: String,
    /// The files below the recipe's folder, with size and time of change.
    files: Vec<(PathBuf, u64, u64)>,
}

impl Stamp {
    /// Of the files that a stage has made.
    pub(crate) fn of(identity: &str, base: &Path, outputs: &[PathBuf]) -> Result<Self> {
        let made = sum_of_files(outputs.iter().map(|path| base.join(path)))?;
        let about = |path: &PathBuf| about(&base.join(path)).map(|(bytes, time)| (path.clone(), bytes, time));
        let files = outputs.iter().map(about).collect::<Result<_>>()?;
        Ok(Self { identity: identity.to_owned(), made, files })
    }

    /// Writes it with a seal.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let body = serde_json::to_string(self).expect("texts and numbers");
        let text = format!("{{\"format\": \"locdiff-stage\", \"xxh3\": \"{}\"}}\n{body}\n", sum(body.as_bytes()));
        Ok(AtomicFile::write_whole(path, text.as_bytes())?)
    }

    /// The one in a file, where it is whole and what it stamps is still there.
    pub(crate) fn read(path: &Path, base: &Path) -> Option<Self> {
        let text = String::from_utf8(read_bounded(path, LONGEST).ok()?).ok()?;
        let (seal, body) = text.split_once('\n')?;
        let seal: serde_json::Value = serde_json::from_str(seal).ok()?;
        let body = body.strip_suffix('\n')?;
        if seal["xxh3"] != sum(body.as_bytes()) {
            return None;
        }
        let this: Self = serde_json::from_str(body).ok()?;
        let mut same = true;
        for (file, bytes, time) in &this.files {
            let (bytes_now, time_now) = about(&base.join(file)).ok()?;
            if bytes_now != *bytes {
                return None;
            }
            same &= time_now == *time;
        }
        // Copied to another disk the times differ and the contents need not.
        let files = this.files.iter().map(|(file, ..)| base.join(file));
        (same || sum_of_files(files).ok()? == this.made).then_some(this)
    }
}

fn about(path: &Path) -> Result<(u64, u64)> {
    let metadata = fs::metadata(path).map_err(cannot(path))?;
    let time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok((metadata.len(), time.map_or(0, |time| time.as_nanos() as u64)))
}
