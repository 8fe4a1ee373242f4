//! An output file that appears whole or not at all.

use crate::display_name;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
        Self { file: file.to_owned(), reason }
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
        let name = display_name(target, "-");
        Self::create_inner(target, name.clone()).map_err(|source| WriteError::new(&name, source))
    }

    fn create_inner(target: &Path, name: String) -> io::Result<Self> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let existing = match fs::metadata(target) {
            Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) => Some(metadata.permissions()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let target = if existing.is_some() { fs::canonicalize(target)? } else { target.to_owned() };
        let file_name = target.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_string_lossy();
        // Most file systems allow 255 bytes a name: leave room for the suffix.
        let stem: String = file_name.chars().take(50).collect();
        loop {
            let serial = COUNTER.fetch_add(1, Ordering::Relaxed);
            let temporary = target.with_file_name(format!(".{stem}.{}-{serial}.tmp", std::process::id()));
            // The lock is held while the file comes to be: no moment is left in which a signal would miss it.
            let mut registry = pending();
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
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

    /// The path that [`AtomicFile::commit`] will create.
    pub fn target(&self) -> &Path {
        &self.target
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
            assert_eq!(file.target().file_name(), target.file_name());
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
