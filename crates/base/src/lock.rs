//! One run at a time in an output: a lock that the system takes back when its process ends, however it ends.

use crate::{atomic::pending, own_file};
use std::path::{Path, PathBuf};
use std::{fs, fs::File, fs::OpenOptions, fs::TryLockError, io, io::Read, io::Seek, io::Write};

/// The lock's file inside a folder.
const IN_FOLDER: &str = ".locdiff.lock";
/// What such a file holds, before the number of the process.
const MARK: &str = "locdiff ";
/// Every lock is shorter.
const MOST_BYTES: u64 = 30;

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
    #[error("{path} is not a lock of LocDiff: {reason}; move it away, or write elsewhere", path = path.display())]
    Foreign { path: PathBuf, reason: String },
}

/// A folder or file that belongs to this run alone while this lives. The lock is the system's: `kill -9` frees it, too.
#[derive(Debug)]
pub struct OutputLock {
    /// What goes when the lock does: nothing where the file may be somebody else's.
    path: Option<PathBuf>,
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
        let create = |reason| LockError::Create { path: path.clone(), reason };
        loop {
            own_file(&path).map_err(|reason| match reason.kind() {
                io::ErrorKind::Other => LockError::Foreign { path: path.clone(), reason: reason.to_string() },
                _ => create(reason),
            })?;
            let open = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
            let is_new = open.is_ok();
            let mut file = match open {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    match OpenOptions::new().read(true).write(true).open(&path) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue, // it went just now
                        open => open.map_err(create)?,
                    }
                }
                open => open.map_err(create)?,
            };
            let is_held = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            let mut bytes = Vec::new();
            (&mut file).take(MOST_BYTES).read_to_end(&mut bytes).map_err(create)?;
            let text = str::from_utf8(&bytes).unwrap_or("no text");
            let holder = text.strip_prefix(MARK).unwrap_or(text);
            let is_number = holder.bytes().all(|byte| byte.is_ascii_digit());
            // Inside a folder the name is ours. Beside a file it may be anybody's: only the mark makes it a lock.
            let is_ours = is_new || (is_number && (text.starts_with(MARK) || path.ends_with(IN_FOLDER)));
            if !is_ours && !text.is_empty() {
                let reason = "it holds something else".to_owned();
                return Err(LockError::Foreign { path, reason });
            }
            if is_held {
                let holder = if holder.is_empty() { "?".to_owned() } else { holder.to_owned() };
                return Err(LockError::InUse { output: output.to_owned(), holder });
            }
            // Some file systems have no locks: there users must avoid two runs at once. The last holder may have removed the file between
            // our two steps, and a lock on a removed file is none.
            if is_same(&file, &path) {
                if !is_ours {
                    return Ok(Self { path: None, _file: file });
                }
                let mark = format!("{MARK}{}", std::process::id());
                let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(mark.as_bytes()));
                pending().insert(path.clone());
                return Ok(Self { path: Some(path), _file: file });
            }
        }
    }
}

impl Drop for OutputLock {
    fn drop(&mut self) {
        // Removed while it is held, so that no other run's file can be meant.
        if let Some(path) = &self.path {
            pending().remove(path);
            let _ = fs::remove_file(path);
        }
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
        assert_eq!(holder, format!("locdiff {}", std::process::id()));
        let second = OutputLock::folder(folder.path()).unwrap_err().to_string();
        assert!(second.contains(&format!("process {}", std::process::id())), "{second}");
        drop(lock);
        drop(OutputLock::folder(folder.path()).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let file = folder.path().join("e.npy");
        let _lock = OutputLock::file(&file).unwrap();
        let message = OutputLock::file(&file).unwrap_err().to_string();
        assert!(message.contains("e.npy is in use by another run (process "), "{message}");
        // What others call so is neither written to nor removed.
        for text in ["mine", "12345", "locdiff 1 and more", ""] {
            let (file, beside) = (folder.path().join("t.csv"), folder.path().join("t.csv.lock"));
            fs::write(&beside, text).unwrap();
            let refused = OutputLock::file(&file).err().map(|error| error.to_string());
            assert_eq!(refused.is_some_and(|error| error.contains("not a lock of LocDiff")), !text.is_empty());
            assert_eq!(fs::read_to_string(&beside).unwrap(), text);
        }
        #[cfg(unix)]
        {
            let (other, locked) = (folder.path().join("other"), folder.path().join("locked"));
            fs::write(&other, "mine").unwrap();
            fs::create_dir(&locked).unwrap();
            std::os::unix::fs::symlink("../other", locked.join(IN_FOLDER)).unwrap();
            assert!(OutputLock::folder(&locked).unwrap_err().to_string().contains("it is a link"));
            fs::remove_file(locked.join(IN_FOLDER)).unwrap();
            fs::write(&other, "7").unwrap();
            fs::hard_link(&other, locked.join(IN_FOLDER)).unwrap();
            assert!(OutputLock::folder(&locked).unwrap_err().to_string().contains("a second name"));
            assert_eq!(fs::read(&other).unwrap(), b"7");
        }
        let message = OutputLock::folder(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(message.contains("/nowhere/.locdiff.lock"), "{message}");
    }
}
