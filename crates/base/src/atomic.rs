//! An output file that appears whole or not at all.

use crate::{display_name, mode::no_wider};
use std::sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicU64, atomic::Ordering};
use std::{collections::BTreeMap, collections::BTreeSet, fs, io, path::Path, path::PathBuf};
use std::{fs::File, fs::OpenOptions, io::Seek, io::SeekFrom, io::Write};

/// Temporary files and locks that exist right now, for [`AtomicFile::remove_all_pending`].
static PENDING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

pub(crate) fn pending() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner) // a set of paths is sound even if a holder panicked
}

/// Why a file could not be created or written: its name, the system's reason and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {file}: {reason}{}", remedy(.reason))]
pub struct WriteError {
    /// The file as the user named it.
    pub file: String,
    /// The system's reason; a part of the message already, so not a source that would say it twice.
    pub reason: io::Error,
}

impl WriteError {
    /// The error for a file by the name that messages give it.
    pub fn new(file: &str, reason: io::Error) -> Self {
        // A writer that knows its name has said it.
        reason.downcast().unwrap_or_else(|reason| Self { file: file.to_owned(), reason })
    }

    /// Whether the reader of our output has gone away (`locdiff … | head`): no error worth a message.
    pub fn is_broken_pipe(&self) -> bool {
        self.reason.kind() == io::ErrorKind::BrokenPipe
    }
}

fn remedy(reason: &io::Error) -> &'static str {
    match reason.kind() {
        io::ErrorKind::NotFound => "; create its folder first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "; choose a folder you may write to",
        io::ErrorKind::IsADirectory => "; give a file name, not a folder",
        io::ErrorKind::NotADirectory => "; a part of the path is a file, not a folder",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space or choose another disk",
        _ => "",
    }
}

/// A file under a temporary name in its target's folder: [`AtomicFile::commit`] gives it the target's name, dropping
/// it removes it. Not buffered: wrap it in a [`std::io::BufWriter`].
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    temporary: PathBuf,
    target: PathBuf,
    name: String,
    committed: bool,
}

impl AtomicFile {
    /// Opens a temporary file next to `target`, whose content stays until the commit and whose permissions stay.
    /// Links are followed. Fails if the folder does not exist or may not be written, or the target is a folder.
    pub fn create(target: &Path) -> Result<Self, WriteError> {
        Self::create_with(target, &mut OpenOptions::new())
    }

    /// Works like [`AtomicFile::create`] for a file that is made from another one. A user who may not read the other file may not read
    /// this one at any moment.
    pub fn create_like(target: &Path, like: &fs::Metadata) -> Result<Self, WriteError> {
        Self::create_with(target, no_wider(&mut OpenOptions::new(), like))
    }

    fn create_with(target: &Path, options: &mut OpenOptions) -> Result<Self, WriteError> {
        let name = display_name(target, "-");
        Self::create_inner(target, name.clone(), options).map_err(|source| WriteError::new(&name, source))
    }

    fn create_inner(target: &Path, name: String, options: &mut OpenOptions) -> io::Result<Self> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let existing = match fs::metadata(target) {
            Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) => Some(metadata.permissions()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let target = if existing.is_some() { fs::canonicalize(target)? } else { target.to_owned() };
        let stem = stem(&target).ok_or(io::ErrorKind::IsADirectory)?;
        loop {
            let serial = COUNTER.fetch_add(1, Ordering::Relaxed);
            let temporary = target.with_file_name(format!(".{stem}.{}-{serial}.tmp", std::process::id()));
            // The lock is held while the file comes to be: no moment is left in which a signal would miss it.
            let mut registry = pending();
            match options.write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    registry.insert(temporary.clone());
                    drop(registry);
                    let this = Self { file, temporary, target, name, committed: false };
                    if let Some(permissions) = existing {
                        this.file.set_permissions(permissions)?;
                    }
                    return Ok(this);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes a whole file at once. Fails as [`AtomicFile::create`] and [`AtomicFile::commit`] do.
    pub fn write_whole(target: &Path, contents: &[u8]) -> Result<(), WriteError> {
        let mut file = Self::create(target)?;
        file.file.write_all(contents).map_err(|reason| WriteError::new(&file.name, reason))?;
        file.commit()
    }

    /// Removes the temporary files of these targets that killed processes left. The caller holds the lock of their folder, so no other
    /// process writes them. Fails if a folder cannot be read or a file cannot be removed.
    pub fn remove_left(targets: impl IntoIterator<Item = PathBuf>) -> Result<(), WriteError> {
        let mut folders: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
        for target in targets {
            let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            folders.entry(folder.to_owned()).or_default().extend(stem(&target));
        }
        for (folder, stems) in folders {
            let failed = |path: &Path, reason| WriteError::new(&path.display().to_string(), reason);
            let entries = match fs::read_dir(&folder) {
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    continue;
                }
                entries => entries.map_err(|reason| failed(&folder, reason))?,
            };
            for entry in entries {
                let entry = entry.map_err(|reason| failed(&folder, reason))?;
                let (path, name) = (entry.path(), entry.file_name());
                let is_left = name.to_str().and_then(temporary_stem).is_some_and(|stem| stems.contains(stem));
                if is_left && entry.file_type().is_ok_and(|kind| kind.is_file()) && !pending().contains(&path) {
                    fs::remove_file(&path).map_err(|reason| failed(&path, reason))?;
                }
            }
        }
        Ok(())
    }

    /// Gives the file another one's permissions and times, after the last byte is written. Fails if the system refuses.
    pub fn take_attributes(&self, of: &fs::Metadata) -> Result<(), WriteError> {
        let set = || {
            self.file.set_permissions(of.permissions())?;
            let times = fs::FileTimes::new();
            let times = of.accessed().map_or(times, |accessed| times.set_accessed(accessed));
            self.file.set_times(of.modified().map_or(times, |modified| times.set_modified(modified)))
        };
        set().map_err(|reason| WriteError::new(&self.name, reason))
    }

    /// Puts the content on the disk, then gives the file its name. If either fails, the temporary file is removed.
    pub fn commit(mut self) -> Result<(), WriteError> {
        let result = self.file.flush().and_then(|()| self.file.sync_all()).and_then(|()| {
            // Held over the rename: a signal handler sees the file either pending or complete.
            let mut registry = pending();
            fs::rename(&self.temporary, &self.target)?;
            registry.remove(&self.temporary);
            Ok(())
        });
        self.committed = result.is_ok();
        result.map_err(|source| WriteError::new(&self.name, source))
    }

    /// Removes every temporary file that has not been committed, and every file of a lock, and says how many. For a signal handler that then
    /// ends the process: it takes a lock, so run it on a thread (as the crate `ctrlc` does), not in a raw handler.
    pub fn remove_all_pending() -> usize {
        let mut registry = pending();
        let removed = registry.iter().filter(|path| fs::remove_file(path).is_ok()).count();
        registry.clear();
        removed
    }
}

/// What a temporary name holds of its target's name: most file systems allow 255 bytes, and the rest needs room.
fn stem(target: &Path) -> Option<String> {
    Some(target.file_name()?.to_string_lossy().chars().take(50).collect())
}

/// The [`stem`] in a temporary name, `.STEM.PROCESS-SERIAL.tmp`.
fn temporary_stem(name: &str) -> Option<&str> {
    let (stem, numbers) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    let (process, serial) = numbers.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(process) && is_number(serial)).then_some(stem)
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.committed {
            let mut registry = pending();
            // Gone from the registry means removed already, and the name might be someone else's by now.
            if registry.remove(&self.temporary) {
                let _ = fs::remove_file(&self.temporary);
            }
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn commit_replaces_and_drop_removes() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.csv");
        for text in ["first", "second"] {
            let mut file = AtomicFile::create(&target).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            assert_eq!(target.exists(), text == "second");
            file.commit().unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), text);
        }
        let mut file = AtomicFile::create(&target).unwrap();
        file.write_all(b"third").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&target).unwrap(), "second");
        assert_eq!(names(folder.path()), ["x.csv"]);
    }

    #[test]
    fn a_panic_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.csv");
        let result = std::panic::catch_unwind(|| {
            let _file = AtomicFile::create(&target).unwrap();
            panic!("on purpose");
        });
        assert!(result.is_err() && names(folder.path()).is_empty());
    }

    #[test]
    fn what_killed_processes_left_is_known_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let long = "x".repeat(80);
        let (left, cut) = (".a.jpg.12-0.tmp".to_owned(), format!(".{}.7-31.tmp", &long[..50]));
        let others = ["a.jpg", ".b.jpg.12-0.tmp", ".a.jpg.12.tmp", ".a.jpg.12-x.tmp", "a.jpg.12-0.tmp"];
        for name in others.iter().copied().chain([left.as_str(), &cut]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let own = AtomicFile::create(&folder.path().join("a.jpg")).unwrap();
        AtomicFile::remove_left(["a.jpg", &long, "no/such.jpg"].map(|name| folder.path().join(name))).unwrap();
        assert!(own.temporary.exists(), "this process still writes it");
        drop(own);
        let (mut found, mut expected) = (names(folder.path()), others.map(str::to_owned));
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn bad_targets_are_named() {
        let message = |path: &str| AtomicFile::create(Path::new(path)).unwrap_err().to_string();
        assert_eq!(
            message("/nowhere/x.npy"),
            "cannot write /nowhere/x.npy: No such file or directory (os error 2); create its folder first"
        );
        assert!(message("/tmp").contains("give a file name, not a folder"));
        assert!(message("/dev/null/x").contains("a part of the path is a file"));
        assert!(message("").starts_with("cannot write"), "{}", message(""));
        // /proc refuses new files to everyone, root included.
        assert!(message("/proc/x.csv").starts_with("cannot write /proc/x.csv: "));
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_survive() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("x.csv"), folder.path().join("link.csv"));
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("x.csv", &link).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
