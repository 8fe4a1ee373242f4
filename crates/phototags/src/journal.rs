//! What was written, line by line, so that it can be taken back.

use crate::{Result, TagError};
use locdiff_base::{AtomicFile, WriteError};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_128;

/// The name of a journal in a folder.
pub const JOURNAL_NAME: &str = "locdiff-journal.jsonl";
/// Far more than any run writes.
const MOST_BYTES: u64 = 1 << 30;

/// One line: a file as it was written, and what was there before.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Entry {
    /// As seen from the journal's folder, or absolute.
    pub(crate) file: PathBuf,
    /// Of what was written.
    pub(crate) hash: String,
    /// The name of the old file among those kept; nothing where there was none.
    pub(crate) kept: Option<String>,
}

/// A list of written files. It is made when the first line is; lines are added to one that is there. Each line stands
/// before its file is written, so an interrupt leaves no file without one.
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

    /// Notes that `target` will hold these bytes, and keeps the file that is there now.
    pub(crate) fn record(&mut self, target: &Path, contents: &[u8]) -> Result<()> {
        let failed = |reason| TagError::Write(WriteError::new(&self.path.display().to_string(), reason));
        let file = relative(target, &self.path).ok_or_else(|| TagError::Unfit {
            file: target.display().to_string(),
            reason: "its name is not UTF-8, so that no journal can hold it".to_owned(),
        })?;
        let kept = match fs::read(target) {
            Ok(old) => Some(keep(&self.path, target, &old)?),
            Err(_) => None,
        };
        let entry = Entry { file, hash: hash(contents), kept };
        // A line that an interrupt cut is ended first.
        let mut line = if self.file.is_none() && !ends_line(&self.path) { vec![b'\n'] } else { Vec::new() };
        line.extend(serde_json::to_vec(&entry).expect("names that are UTF-8"));
        line.push(b'\n');
        if self.file.is_none() {
            let open = OpenOptions::new().create(true).append(true).open(&self.path);
            self.file = Some(open.map_err(failed)?);
        }
        let file = self.file.as_mut().expect("it was opened");
        file.write_all(&line).and_then(|()| file.sync_data()).map_err(failed)
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

/// All entries, in their order; a last line that an interrupt cut is left out, as its file was never written.
pub(crate) fn entries(journal: &Path) -> Result<Vec<Entry>> {
    let file = || journal.display().to_string();
    let mut text = String::new();
    File::open(journal)
        .and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text))
        .map_err(|source| TagError::Read { file: file(), source })?;
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let parse = |line: &&str| serde_json::from_str(line);
    let mut entries: Vec<Entry> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        match parse(line) {
            Ok(entry) => entries.push(entry),
            Err(_) if line.starts_with("{\"file\":") && !line.ends_with('}') => {}
            Err(error) => {
                let number = number + 1;
                let reason = format!(
                    "line {number} is none of a journal ({error}); give the journal that locate named"
                );
                return Err(TagError::Journal { file: file(), reason });
            }
        }
    }
    Ok(entries)
}

/// Writes the entries that are left; removes a journal without any.
pub(crate) fn rewrite(journal: &Path, entries: &[Entry]) -> Result<()> {
    let failed = |reason| TagError::Write(WriteError::new(&journal.display().to_string(), reason));
    if entries.is_empty() {
        return fs::remove_file(journal).map_err(failed);
    }
    let lines =
        entries.iter().map(|entry| serde_json::to_string(entry).expect("names that are UTF-8") + "\n");
    Ok(AtomicFile::write_whole(journal, lines.collect::<String>().as_bytes())?)
}

fn ends_line(journal: &Path) -> bool {
    fs::read(journal).map_or(true, |text| text.is_empty() || text.ends_with(b"\n"))
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
