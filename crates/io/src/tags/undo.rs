//! Undoes what a journal lists. Anybody may have written it: it is refused whole unless every line names a file inside its folder, and
//! nothing is touched before every file was looked at.

use crate::tags::journal::{Entry, JOURNAL_NAME, Places, current, folder, kept_folder};
use crate::tags::{Result, TagError, TagJournal};
use locdiff_base::{AtomicFile, LockError, OutputLock, WriteError};
use std::io::{ErrorKind, Write};
use std::{collections::HashMap, collections::HashSet, fs, io, iter, path::Path, path::PathBuf};

/// What became of a written file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undo {
    /// It was created, and is removed.
    Removed,
    /// It was changed, and is as before, under the name that it has now.
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
            Self::Lost => "stays: its old content is no longer kept",
        }
    }
}

/// Undoes what a journal, or the one in a folder, lists, the last first: removes files that were created, restores files that were
/// changed, also under a new name in the same folder, and removes what an interrupted run left. Those that changed since stay, also in the
/// journal. With `dry_run` nothing is changed. Nothing outside the journal's folder is ever read or changed. An undo that was
/// interrupted can be run again. A folder without a journal has nothing to undo. Fails if the journal cannot be read or names other files,
/// another run writes there, or a file cannot be removed or written.
pub fn undo(journal: &Path, dry_run: bool) -> Result<Vec<(PathBuf, Undo)>> {
    let is_folder = journal.is_dir();
    let journal = if is_folder { journal.join(JOURNAL_NAME) } else { journal.to_owned() };
    let base = folder(&journal);
    if is_folder && matches!(fs::symlink_metadata(&journal), Err(error) if error.kind() == ErrorKind::NotFound) {
        // A run that was killed at its very beginning or end left its lock, which goes.
        if !dry_run {
            match OutputLock::folder(&base) {
                Ok(_lock) => AtomicFile::remove_left([journal])?,
                Err(error @ LockError::InUse { .. }) => return Err(error.into()),
                Err(_) => {} // nobody could have left anything
            }
        }
        return Ok(Vec::new());
    }
    let mut list = TagJournal::at(&journal);
    let entries = |list: &TagJournal| list.0.entries(|entry| entry.places(&journal).map(drop));
    entries(&list)?;
    let _lock = if dry_run { None } else { Some(OutputLock::folder(&base)?) };
    let steps = plan(&journal, entries(&list)?)?;
    let done = steps.iter().map(|step| (step.places.file.clone(), step.what)).collect();
    if dry_run {
        return Ok(done);
    }
    steps.iter().try_for_each(act)?;
    // An interrupt before the last line leaves a journal whose files are as they were: the next time these steps are made again.
    list.clean()?;
    let (refused, rest): (Vec<Step>, Vec<Step>) = steps.into_iter().rev().partition(|step| step.what.is_refusal());
    let needed: HashSet<&String> = refused.iter().filter_map(|step| step.entry.kept.as_ref()).collect();
    for step in rest {
        match (&step.entry.kept, &step.places.old) {
            (Some(name), Some((kept, _))) if !needed.contains(name) => unless_absent(fs::remove_file(kept), kept)?,
            (None, None) => {
                // Folders that held nothing else: those of a copy.
                let mut folders = step.places.file.ancestors().skip(1).take_while(|folder| **folder != base);
                while folders.next().is_some_and(|folder| fs::remove_dir(folder).is_ok()) {}
            }
            _ => {}
        }
    }
    unless_absent(fs::remove_dir(kept_folder(&journal)), &journal)?; // stays if it still holds something
    list.0.rewrite(&refused.into_iter().map(|step| step.entry).collect::<Vec<_>>())?;
    Ok(done)
}

fn unless_absent(removed: io::Result<()>, path: &Path) -> Result<()> {
    match removed {
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => {
            Err(WriteError::new(&path.display().to_string(), error).into())
        }
        _ => Ok(()),
    }
}

struct Step {
    entry: Entry,
    places: Places,
    what: Undo,
}

/// What is to be done, by what files hold: what was there before, what was written, or something else.
fn plan(journal: &Path, entries: Vec<Entry>) -> Result<Vec<Step>> {
    let mut all = Vec::with_capacity(entries.len());
    for entry in entries {
        let places = entry.places(journal).map_err(|reason| TagError::Journal {
            file: journal.display().to_string(),
            reason: format!("it changed while it was read: {reason}"),
        })?;
        all.push((entry, places));
    }
    let known =
        all.iter().flat_map(|(_, places)| iter::once(&places.file).chain(places.old.as_ref().map(|(old, _)| old)));
    let mut renamed = Renamed { known: known.cloned().collect(), ..Renamed::default() };
    // What files that were dealt with will hold: one file may stand in several lines.
    let mut seen: HashMap<PathBuf, Option<String>> = HashMap::new();
    let mut steps = Vec::with_capacity(all.len());
    while let Some((entry, mut places)) = all.pop() {
        let listed = places.file.clone();
        places.file = renamed.names.get(&listed).cloned().unwrap_or(listed.clone());
        let now = seen.get(&places.file).cloned().map_or_else(|| current(&places.file), Ok)?;
        let old = places.old.as_ref().map(|(_, hash)| hash);
        let is_kept = |places: &Places| match &places.old {
            Some((file, hash)) => Ok::<_, TagError>(current(file)?.as_ref() == Some(hash)),
            None => Ok(false),
        };
        // An undo that was interrupted has come to an earlier line.
        let is_earlier = |(entry, places): &(Entry, Places)| {
            let states = [Some(&entry.hash), places.old.as_ref().map(|(_, hash)| hash)];
            places.file == listed && states.contains(&now.as_ref())
        };
        let what = if now.as_ref() == old {
            Undo::Nothing
        } else if now.as_ref() == Some(&entry.hash) {
            match old {
                None => Undo::Removed,
                Some(_) if is_kept(&places)? => Undo::Restored,
                Some(_) => Undo::Lost,
            }
        } else if all.iter().any(is_earlier) {
            Undo::Nothing
        } else if now.is_some() {
            Undo::Changed
        } else if listed.parent().is_some_and(Path::is_dir) && is_kept(&places)? {
            if let Some(file) = renamed.find(&listed, &entry.hash)? {
                places.file = file;
            }
            Undo::Restored
        } else {
            Undo::Nothing
        };
        let left = match what {
            Undo::Removed => None,
            Undo::Restored => old.cloned(),
            _ => now,
        };
        seen.insert(places.file.clone(), left);
        steps.push(Step { entry, places, what });
    }
    Ok(steps)
}

/// Files that got another name in their folder, by what they hold.
#[derive(Default)]
struct Renamed {
    /// Files of the journal.
    known: HashSet<PathBuf>,
    /// The other files of folders, with their hashes.
    others: HashMap<PathBuf, Vec<(PathBuf, Option<String>)>>,
    /// New names by old ones.
    names: HashMap<PathBuf, PathBuf>,
}

impl Renamed {
    fn find(&mut self, file: &Path, hash: &String) -> Result<Option<PathBuf>> {
        let Some(folder) = file.parent().map(Path::to_owned) else { return Ok(None) };
        if !self.others.contains_key(&folder) {
            let failed = |source| TagError::Read { file: folder.display().to_string(), source };
            let mut others = Vec::new();
            for entry in fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let path = entry.path();
                if entry.file_type().map_err(failed)?.is_file() && !self.known.contains(&path) {
                    others.push((path.clone(), current(&path).ok().flatten()));
                }
            }
            others.sort();
            self.others.insert(folder.clone(), others);
        }
        let mut others = self.others.get_mut(&folder).into_iter().flatten();
        let found =
            others.find(|(_, held)| held.as_ref() == Some(hash)).map(|(path, held)| (path.clone(), held.take()));
        Ok(found.map(|(path, _)| {
            self.names.insert(file.to_owned(), path.clone());
            path
        }))
    }
}

fn act(step: &Step) -> Result<()> {
    let Places { file, old } = &step.places;
    let failed = |reason| TagError::Write(WriteError::new(&file.display().to_string(), reason));
    match (step.what, old) {
        (Undo::Removed, _) => fs::remove_file(file).map_err(failed)?,
        (Undo::Restored, Some((original, _))) if step.entry.original.is_some() => {
            fs::rename(original, file).map_err(failed)?;
        }
        (Undo::Restored, Some((kept, _))) => {
            let like = fs::metadata(kept).map_err(failed)?;
            let mut restored = AtomicFile::create_like(file, &like)?;
            restored.write_all(&fs::read(kept).map_err(failed)?).map_err(failed)?;
            restored.take_attributes(&like)?;
            restored.commit()?;
        }
        _ => {}
    }
    Ok(())
}
