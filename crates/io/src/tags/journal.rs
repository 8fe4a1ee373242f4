//! What was written, so that it can be undone.

use crate::tags::{Result, TagError};
use locdiff_base::{AtomicFile, WriteError, ensure, excerpt, inside, make_folder};
use serde::{Deserialize, Serialize};
use std::{ffi::OsString, fs, io::ErrorKind, io::Write, path::Component, path::Path, path::PathBuf};
use twox_hash::XxHash3_128;

/// The name of a journal in a folder.
pub const JOURNAL_NAME: &str = "locdiff-journal.jsonl";

/// An entry: a file as it was written, and what was there before. All names are inside the journal's folder: see [`Entry::places`].
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// As seen from the journal's folder, with `/` between folders.
    pub(crate) file: String,
    /// Of what was written.
    pub(crate) hash: String,
    /// The name of the old file among those kept; nothing where there was none.
    pub(crate) kept: Option<String>,
    /// Of the photo that lies beside the file as [`original_path`], where it was written into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) original: Option<String>,
}

pub(crate) struct Places {
    pub(crate) file: PathBuf,
    pub(crate) old: Option<(PathBuf, String)>,
}

impl Entry {
    /// The files, or why this is nothing that a run wrote: names that leave the folder or lead over links, hashes that are none.
    pub(crate) fn places(&self, journal: &Path) -> std::result::Result<Places, String> {
        let folder = folder(journal);
        let (list, kept_folder) = (name(journal), name(&kept_folder(journal)));
        let first = self.file.split('/').next().unwrap_or_default();
        ensure!(self.file != list && first != kept_folder, "the file is a part of the journal itself".to_owned());
        let file = inside(&folder, &self.file)?;
        let old = match (&self.kept, &self.original) {
            (None, None) => None,
            (None, Some(hash)) => Some((inside(&folder, &format!("{}_original", self.file))?, hash.clone())),
            (Some(kept), None) => {
                let parts = kept.split_once('-').filter(|(target, _)| is_hash(target));
                let (_, hash) = parts.ok_or_else(|| format!("'{}' is not the name of a kept file", excerpt(kept)))?;
                Some((inside(&folder, &format!("{kept_folder}/{kept}"))?, hash.to_owned()))
            }
            (Some(_), Some(_)) => return Err("a file cannot have two old contents".to_owned()),
        };
        if !is_hash(&self.hash) || old.as_ref().is_some_and(|(_, hash)| !is_hash(hash)) {
            return Err("a hash is 32 digits and letters from a to f".to_owned());
        }
        Ok(Places { file, old })
    }
}

/// The files that were written; an entry precedes its file. Files that are replaced are kept beside the journal.
#[derive(Debug)]
pub struct TagJournal(pub(crate) locdiff_base::Journal<Entry>);

impl TagJournal {
    /// The journal in a file. Nothing is read or written yet.
    pub fn at(path: &Path) -> Self {
        Self(locdiff_base::Journal::at(path))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Notes that `target` will hold these bytes, then keeps the file that is there now, unless it stays beside it as `original`. An
    /// interrupt in between leaves an entry whose file is as it was.
    pub(crate) fn record(&mut self, target: &Path, contents: &[u8], original: Option<String>) -> Result<()> {
        let unfit = |reason| TagError::Unfit { file: target.display().to_string(), reason };
        let file = relative(target, self.path()).map_err(unfit)?;
        let mut entry = Entry { file, hash: hash(contents), kept: None, original };
        let old = if entry.original.is_none() { fs::read(target).ok() } else { None };
        let name = |old: &Vec<u8>| format!("{}-{}", hash(target.as_os_str().as_encoded_bytes()), hash(old));
        entry.kept = old.as_ref().map(name);
        let kept = entry.places(self.path()).map_err(unfit)?.old;
        self.0.append(&entry)?;
        match (old, kept) {
            (Some(old), Some((kept, _))) => keep(&kept, target, &old),
            _ => Ok(()),
        }
    }

    /// Removes what an interrupted run left next to the files of this journal. The caller holds the lock of its folder. A journal that
    /// cannot be read is left to undo, which refuses it.
    pub(crate) fn clean(&self) -> Result<()> {
        let (originals, targets) = self.left();
        for original in originals {
            let failed = |reason| WriteError::new(&original.display().to_string(), reason);
            fs::remove_file(&original).map_err(failed)?;
        }
        Ok(AtomicFile::remove_left(targets)?)
    }

    /// Second names of photos that were never written into, and all files beside which temporary ones may lie.
    pub(crate) fn left(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let journal = self.path();
        let entries = if journal.exists() { self.0.entries(|_| Ok(())).unwrap_or_default() } else { Vec::new() };
        let places = entries.iter().filter_map(|entry| Some((entry, entry.places(journal).ok()?)));
        let (mut originals, mut targets) = (Vec::new(), vec![journal.to_owned()]);
        for (entry, Places { file, old }) in places {
            if let (Some(hash), Some((original, _))) = (&entry.original, &old) {
                let length = |path: &Path| fs::metadata(path).ok().map(|file| file.len());
                // Hashes of all photos take long; most differ in length.
                if length(original).is_some_and(|original| Some(original) == length(&file))
                    && [original, &file].into_iter().all(|path| current(path).ok().flatten().as_ref() == Some(hash))
                {
                    originals.push(original.clone());
                }
            }
            targets.extend([Some(file), old.map(|(old, _)| old)].into_iter().flatten());
        }
        (originals, targets)
    }
}

/// The hash of what a file holds; nothing where there is none.
pub(crate) fn current(file: &Path) -> Result<Option<String>> {
    match fs::read(file) {
        Ok(contents) => Ok(Some(hash(&contents))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(source) => Err(TagError::Read { file: file.display().to_string(), source }),
    }
}

/// The photo as it was, beside the one that was written into: the name that exiftool gives it.
pub(crate) fn original_path(photo: &Path) -> PathBuf {
    let mut path: OsString = photo.as_os_str().to_owned();
    path.push("_original");
    path.into()
}

pub(crate) fn hash(contents: &[u8]) -> String {
    format!("{:032x}", XxHash3_128::oneshot(contents))
}

fn is_hash(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

pub(crate) fn kept_folder(journal: &Path) -> PathBuf {
    journal.with_extension("kept")
}

pub(crate) fn folder(journal: &Path) -> PathBuf {
    let parent = journal.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Puts a copy of a file aside, with its times and permissions.
fn keep(kept: &Path, target: &Path, old: &[u8]) -> Result<()> {
    let failed = |reason| TagError::Write(WriteError::new(&kept.display().to_string(), reason));
    if let Some(folder) = kept.parent() {
        make_folder(folder, None).map_err(failed)?;
    }
    let like = fs::metadata(target).map_err(failed)?;
    let mut file = AtomicFile::create_like(kept, &like)?;
    file.write_all(old).map_err(failed)?;
    file.take_attributes(&like)?;
    Ok(file.commit()?)
}

/// A file's name as seen from the journal's folder. Folders above the file need not be there yet.
fn relative(target: &Path, journal: &Path) -> std::result::Result<String, String> {
    let base = folder(journal);
    let outside = || format!("it lies outside {}, the folder of the journal", base.display());
    let above = target.ancestors().skip(1).find_map(|above| {
        let above_or_here = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        Some((above, fs::canonicalize(above_or_here).ok()?))
    });
    let (above, true_above) = above.ok_or_else(outside)?;
    let absolute = true_above.join(target.strip_prefix(above).map_err(|_| outside())?);
    let parts = absolute.strip_prefix(&base).map_err(|_| outside())?.components().map(|part| match part {
        Component::Normal(part) => part.to_str().ok_or("no journal can hold its name, which is not UTF-8".to_owned()),
        _ => Err(outside()),
    });
    Ok(parts.collect::<std::result::Result<Vec<_>, _>>()?.join("/"))
}
