//! One run at a time in an output: a lock that the system takes back when its process ends, however it ends.

use crate::atomic::pending;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The lock's file inside a folder.
const IN_FOLDER: &str = ".locdiff.lock";

/// Why an output cannot be used by this run.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
#[non_exhaustive]
pub enum LockError {
    #[error(
        "{output} is in use by another run (process {holder}): wait for it, end it, or write elsewhere",
        output = output.display()
    )]
    InUse { output: PathBuf, holder: String },
    #[error("cannot write {path}: {reason}; choose a folder you may write to", path = path.display())]
    Create { path: PathBuf, reason: io::Error },
}

/// A folder or file that belongs to this run alone while this lives. The lock is the system's: `kill -9` frees it, too.
#[derive(Debug)]
pub struct OutputLock {
    path: PathBuf,
    _file: File,
}

impl OutputLock {
    /// Takes a folder that exists. Fails if another run has it, or nothing can be written there.
    pub fn folder(folder: &Path) -> Result<Self, LockError> {
        Self::take(folder.join(IN_FOLDER), folder)
    }

    /// Takes a file, which need not exist, by `FILE.lock` beside it. Fails as [`OutputLock::folder`] does.
    pub fn file(file: &Path) -> Result<Self, LockError> {
        let mut name = file.as_os_str().to_owned();
        name.push(".lock");
        Self::take(name.into(), file)
    }

    fn take(path: PathBuf, output: &Path) -> Result<Self, LockError> {
        // A link, or a file that is longer than a process number, is nobody's lock: it would be emptied.
        match fs::symlink_metadata(&path) {
            Ok(there) if !there.is_file() || there.len() > 20 => {
                return Err(LockError::Create { path, reason: io::Error::other("what is there is no lock") });
            }
            _ => {}
        }
        loop {
            let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = open.map_err(|reason| LockError::Create { path: path.clone(), reason })?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    let mut holder = String::new();
                    let _ = (&mut file).take(20).read_to_string(&mut holder);
                    let holder = if holder.is_empty() { "?".to_owned() } else { holder };
                    return Err(LockError::InUse { output: output.to_owned(), holder });
                }
                // A file system without locks: two runs at once are the user's to avoid.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            // Whoever held it before may have removed the file between our two steps: a lock on nothing is none.
            if is_same(&file, &path) {
                let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
                pending().insert(path.clone());
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for OutputLock {
    fn drop(&mut self) {
        // Removed while it is held, so that no other run's file can be meant.
        pending().remove(&self.path);
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Files that are open cannot be removed here.
#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_left_by_a_killed_process_is_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(IN_FOLDER), "123456").unwrap();
        let lock = OutputLock::folder(folder.path()).unwrap();
        let holder = fs::read_to_string(folder.path().join(IN_FOLDER)).unwrap();
        assert_eq!(holder, std::process::id().to_string());
        let second = OutputLock::folder(folder.path()).unwrap_err().to_string();
        assert!(second.contains(&format!("process {holder}")), "{second}");
        drop(lock);
        drop(OutputLock::folder(folder.path()).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let file = folder.path().join("e.npy");
        let _lock = OutputLock::file(&file).unwrap();
        let message = OutputLock::file(&file).unwrap_err().to_string();
        assert!(message.contains("e.npy is in use by another run (process "), "{message}");
        #[cfg(unix)]
        {
            let (other, locked) = (folder.path().join("other"), folder.path().join("locked"));
            fs::write(&other, "mine").unwrap();
            fs::create_dir(&locked).unwrap();
            std::os::unix::fs::symlink("../other", locked.join(IN_FOLDER)).unwrap();
            assert!(OutputLock::folder(&locked).unwrap_err().to_string().contains("no lock"));
            assert_eq!(fs::read(&other).unwrap(), b"mine");
        }
        let message = OutputLock::folder(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(message.contains("/nowhere/.locdiff.lock"), "{message}");
    }
}
