//! What was written, so that it can be undone.

use crate::{Result, TagError};
use locdiff_base::{AtomicFile, WriteError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::{fs, io::Write};
use twox_hash::XxHash3_128;

/// The name of a journal in a folder.
pub const JOURNAL_NAME: &str = "locdiff-journal.jsonl";

/// An entry: a file as it was written, and what was there before.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Entry {
    /// As seen from the journal's folder, or absolute.
    pub(crate) file: PathBuf,
    /// Of what was written.
    pub(crate) hash: String,
    /// The name of the old file among those kept; nothing where there was none.
    pub(crate) kept: Option<String>,
}

/// The files that were written; an entry precedes its file. Files that are replaced are kept beside the journal.
#[derive(Debug)]
pub struct Journal(pub(crate) locdiff_base::Journal<Entry>);

impl Journal {
    /// The journal in a file. Nothing is read or written yet.
    pub fn at(path: &Path) -> Self {
        Self(locdiff_base::Journal::at(path))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Notes that `target` will hold these bytes, and keeps the file that is there now.
    pub(crate) fn record(&mut self, target: &Path, contents: &[u8]) -> Result<()> {
        let file = relative(target, self.path()).ok_or_else(|| TagError::Unfit {
            file: target.display().to_string(),
            reason: "its name is not UTF-8, so that no journal can hold it".to_owned(),
        })?;
        let kept = match fs::read(target) {
            Ok(old) => Some(keep(self.path(), target, &old)?),
            Err(_) => None,
        };
        Ok(self.0.append(&Entry { file, hash: hash(contents), kept })?)
    }
}

/// A content's name.
pub(crate) fn hash(contents: &[u8]) -> String {
    format!("{:032x}", XxHash3_128::oneshot(contents))
}

/// The folder of the files that were replaced.
pub(crate) fn kept_folder(journal: &Path) -> PathBuf {
    journal.with_extension("kept")
}

/// The folder that relative names of a journal start from.
pub(crate) fn folder(journal: &Path) -> PathBuf {
    let parent = journal.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned())
}

/// Puts a copy of a file aside, with its times and permissions.
fn keep(journal: &Path, target: &Path, old: &[u8]) -> Result<String> {
    let folder = kept_folder(journal);
    let failed = |reason| TagError::Write(WriteError::new(&folder.display().to_string(), reason));
    fs::create_dir_all(&folder).map_err(failed)?;
    let name = format!("{}-{}", hash(target.as_os_str().as_encoded_bytes()), hash(old));
    let mut file = AtomicFile::create(&folder.join(&name))?;
    file.write_all(old).map_err(failed)?;
    file.take_attributes(&fs::metadata(target).map_err(failed)?)?;
    file.commit()?;
    Ok(name)
}

/// A file as seen from the journal's folder where it lies below that, else absolute; nothing where it is not UTF-8.
fn relative(target: &Path, journal: &Path) -> Option<PathBuf> {
    let base = folder(journal);
    let absolute = folder(target).join(target.file_name()?);
    let seen = absolute.strip_prefix(&base).map_or(absolute.clone(), Path::to_owned);
    seen.to_str().is_some().then_some(seen)
}
