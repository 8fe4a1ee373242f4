//! Undoes what a journal lists. Anybody may have written it: it is refused whole unless every line names a file inside its folder, and
//! nothing is touched before every file was looked at.

use crate::tags::journal::{Entry, JOURNAL_NAME, Places, folder, hash, kept_folder};
use crate::tags::{Result, TagError, TagJournal};
use locdiff_base::{AtomicFile, OutputLock, WriteError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::{collections::HashMap, fs};

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

    /// What was done, or with `dry_run` would be.
    pub fn words(self, dry_run: bool) -> &'static str {
        match self {
            Self::Removed if dry_run => "would be removed",
            Self::Removed => "removed",
            Self::Restored if dry_run => "would be restored",
            Self::Restored => "restored",
            Self::Nothing => "nothing to do",
            Self::Changed => "changed since, stays",
            Self::Lost => "its old content is no longer kept, stays",
        }
    }
}

/// Undoes what a journal, or the one in a folder, lists, the last first: removes files that were created, restores files
/// that were changed. Those that changed since stay, also in the journal. With `dry_run` nothing is changed. Nothing
/// outside the journal's folder is ever read or changed. Fails if the journal cannot be read or names other files,
/// another run writes there, or a file cannot be removed or written.
pub fn undo(journal: &Path, dry_run: bool) -> Result<Vec<(PathBuf, Undo)>> {
    let journal = if journal.is_dir() { journal.join(JOURNAL_NAME) } else { journal.to_owned() };
    let mut list = TagJournal::at(&journal).0;
    let entries = list.entries(|entry| entry.places(&journal).map(drop))?;
    let base = folder(&journal);
    let _lock = if dry_run { None } else { Some(OutputLock::folder(&base)?) };
    let steps = plan(&journal, entries)?;
    let done = steps.iter().map(|step| (step.places.file.clone(), step.what)).collect();
    if dry_run {
        return Ok(done);
    }
    for step in &steps {
        act(step, &base)?;
    }
    // An interrupt before this leaves lines whose files are as they were: nothing to do the next time.
    let (refused, rest): (Vec<Step>, Vec<Step>) = steps.into_iter().rev().partition(|step| step.what.is_refusal());
    list.rewrite(&refused.into_iter().map(|step| step.entry).collect::<Vec<_>>())?;
    for (kept, _) in rest.into_iter().filter(|step| step.entry.kept.is_some()).filter_map(|step| step.places.old) {
        let _ = fs::remove_file(kept);
    }
    let _ = fs::remove_dir(kept_folder(&journal)); // stays where it still holds something
    Ok(done)
}

struct Step {
    entry: Entry,
    places: Places,
    what: Undo,
}

fn plan(journal: &Path, entries: Vec<Entry>) -> Result<Vec<Step>> {
    // Files that were dealt with, by what they will hold: one file may stand in several lines.
    let mut seen: HashMap<PathBuf, Option<String>> = HashMap::new();
    let mut steps = Vec::with_capacity(entries.len());
    for entry in entries.into_iter().rev() {
        let places = entry.places(journal).map_err(|reason| TagError::Journal {
            file: journal.display().to_string(),
            reason: format!("it changed while it was read: {reason}"),
        })?;
        // The hash of what it held before, and whether that is still kept; nothing where there was no file.
        let old = match &places.old {
            None => None,
            Some((file, hash)) => Some((hash.clone(), current(file)?.as_ref() == Some(hash))),
        };
        let now = seen.get(&places.file).cloned().map_or_else(|| current(&places.file), Ok)?;
        let what = match (&now, &old) {
            (None, _) => Undo::Nothing,
            (Some(now), Some((old, true))) if now == old => Undo::Nothing,
            (Some(now), _) if *now != entry.hash => Undo::Changed,
            (_, Some((_, true))) => Undo::Restored,
            (_, Some((_, false))) => Undo::Lost,
            (_, None) => Undo::Removed,
        };
        let left = match (what, old) {
            (Undo::Removed, _) => None,
            (Undo::Restored, Some((hash, _))) => Some(hash),
            _ => now,
        };
        seen.insert(places.file.clone(), left);
        steps.push(Step { entry, places, what });
    }
    Ok(steps)
}

fn current(file: &Path) -> Result<Option<String>> {
    match fs::read(file) {
        Ok(contents) => Ok(Some(hash(&contents))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(source) => Err(TagError::Read { file: file.display().to_string(), source }),
    }
}

fn act(step: &Step, base: &Path) -> Result<()> {
    let Places { file, old } = &step.places;
    let failed = |reason| TagError::Write(WriteError::new(&file.display().to_string(), reason));
    match (step.what, old) {
        (Undo::Removed, _) => {
            fs::remove_file(file).map_err(failed)?;
            // Folders that held nothing else: those of a copy.
            let mut folders = file.ancestors().skip(1).take_while(|folder| *folder != base);
            while folders.next().is_some_and(|folder| fs::remove_dir(folder).is_ok()) {}
        }
        (Undo::Restored, Some((original, _))) if step.entry.original.is_some() => {
            fs::rename(original, file).map_err(failed)?;
        }
        (Undo::Restored, Some((kept, _))) => {
            let mut restored = AtomicFile::create(file)?;
            restored.write_all(&fs::read(kept).map_err(failed)?).map_err(failed)?;
            restored.take_attributes(&fs::metadata(kept).map_err(failed)?)?;
            restored.commit()?;
        }
        _ => {}
    }
    Ok(())
}
