//! Undoes what a journal lists.

use crate::journal::{Entry, JOURNAL_NAME, folder, hash, kept_folder};
use crate::{Journal, Result, TagError};
use locdiff_base::{AtomicFile, WriteError};
use std::path::{Path, PathBuf};
use std::{collections::HashMap, fs, io::Write};

/// What became of a written file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undo {
    /// It was created, and is removed.
    Removed,
    /// It was changed, and is as before.
    Restored,
    /// It is gone already, or as it was before.
    Nothing,
    /// It was changed since, so it stays.
    Changed,
    /// What it was before is no longer kept, so it stays.
    Lost,
}

impl Undo {
    /// Whether the file stays as it is although it was written.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Changed | Self::Lost)
    }

    /// A word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Restored => "restored",
            Self::Nothing => "nothing to do",
            Self::Changed => "changed since, stays",
            Self::Lost => "its old content is no longer kept, stays",
        }
    }
}

/// Undoes what a journal lists, the last first: files that were created are removed, files that were changed are
/// restored, and those that changed since stay as they are and remain in the journal. With `dry_run` nothing is changed.
/// `journal` may be the folder that holds it.
///
/// ```
/// use locdiff_phototags::{GeoTag, Journal, Overwrite, Undo, prepare_sidecar, undo};
/// # let folder = tempfile::tempdir()?;
/// # let (photo, list) = (folder.path().join("a.jpg"), folder.path().join("list.jsonl"));
/// # std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/rgb.jpg"), &photo)?;
/// let tag = GeoTag::new(locdiff_sphere::LatLon::new(48.86, 2.35)?);
/// prepare_sidecar(&photo, &tag, Overwrite::NEVER)?.write(Some(&mut Journal::at(&list)))?;
/// let done = undo(&list, false)?;
/// assert_eq!(done[0].1, Undo::Removed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the journal cannot be read or is none, or a file cannot be removed or written.
pub fn undo(journal: &Path, dry_run: bool) -> Result<Vec<(PathBuf, Undo)>> {
    let journal = if journal.is_dir() { journal.join(JOURNAL_NAME) } else { journal.to_owned() };
    let base = folder(&journal);
    let mut list = Journal::at(&journal).0;
    let mut refused: Vec<Entry> = Vec::new();
    let mut done = Vec::new();
    let mut kept_files = Vec::new();
    // Files that were dealt with, by what they hold now (or would): one file may stand in several lines.
    let mut seen: HashMap<PathBuf, Option<String>> = HashMap::new();
    for entry in list.entries()?.into_iter().rev() {
        let file = base.join(&entry.file);
        let kept = entry.kept.as_ref().map(|name| kept_folder(&journal).join(name));
        let old = kept
            .as_deref()
            .map_or(Before::Absent, |kept| fs::read(kept).map_or(Before::Lost, |old| Before::Was(hash(&old))));
        let now = match seen.get(&file) {
            Some(now) => now.clone(),
            None => current(&file)?,
        };
        let what = judge(now.as_deref(), &entry.hash, &old);
        let left = match what {
            Undo::Removed => None,
            Undo::Restored => old.hash(),
            Undo::Nothing | Undo::Changed | Undo::Lost => now,
        };
        seen.insert(file.clone(), left);
        if !dry_run {
            act(&file, kept.as_deref(), what)?;
        }
        if what.is_refusal() {
            refused.push(entry);
        } else {
            kept_files.extend(kept);
        }
        done.push((file, what));
    }
    if !dry_run {
        // An interrupt before this leaves lines whose files are as they were: nothing to do the next time.
        refused.reverse();
        list.rewrite(&refused)?;
        for kept in kept_files {
            let _ = fs::remove_file(kept);
        }
        let _ = fs::remove_dir(kept_folder(&journal)); // stays where it still holds something
    }
    Ok(done)
}

/// The hash of what a file holds; nothing where there is none.
fn current(file: &Path) -> Result<Option<String>> {
    match fs::read(file) {
        Ok(contents) => Ok(Some(hash(&contents))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(TagError::Read { file: file.display().to_string(), source }),
    }
}

/// What a file held before it was written.
enum Before {
    /// There was none.
    Absent,
    /// Something of this hash.
    Was(String),
    /// Something that is no longer kept.
    Lost,
}

impl Before {
    fn hash(self) -> Option<String> {
        if let Self::Was(hash) = self { Some(hash) } else { None }
    }
}

/// What to do with a file by what it holds now, what was written, and what it held before.
fn judge(now: Option<&str>, written: &str, before: &Before) -> Undo {
    match (now, before) {
        (None, _) => Undo::Nothing,
        (Some(now), Before::Was(old)) if now == old => Undo::Nothing,
        (Some(now), _) if now != written => Undo::Changed,
        (_, Before::Was(_)) => Undo::Restored,
        (_, Before::Lost) => Undo::Lost,
        (_, Before::Absent) => Undo::Removed,
    }
}

fn act(file: &Path, kept: Option<&Path>, what: Undo) -> Result<()> {
    let failed = |reason| TagError::Write(WriteError::new(&file.display().to_string(), reason));
    match (what, kept) {
        (Undo::Removed, _) => fs::remove_file(file).map_err(failed)?,
        (Undo::Restored, Some(kept)) => {
            let mut restored = AtomicFile::create(file)?;
            restored.write_all(&fs::read(kept).map_err(failed)?).map_err(failed)?;
            restored.take_attributes(&fs::metadata(kept).map_err(failed)?)?;
            restored.commit()?;
        }
        _ => {}
    }
    Ok(())
}
