//! What one call of a program was asked for: how much it says, whether it overwrites, whether its output goes to standard output.
//!
//! It belongs to the call, not to the process: a Python program may run several, one after another or at once. The thread that
//! runs a call has it; threads started by commands see the newest.

use locdiff_base::{LockError, OutputLock, WriteError};
use std::sync::{Arc, Mutex, PoisonError};
use std::{cell::RefCell, path::Path, path::PathBuf, sync::atomic::AtomicBool, sync::atomic::Ordering};

/// What one call was asked for.
#[derive(Debug, Default)]
pub(crate) struct Call {
    /// −1 quiet, 0 as usual, 1 verbose.
    pub(crate) loudness: i8,
    pub(crate) in_colour: bool,
    /// `--force` was given.
    pub(crate) force: bool,
    pub(crate) stdout_taken: AtomicBool,
    /// Files are written beside what is printed: they are finished though nobody reads that any more.
    pub(crate) writes_files: AtomicBool,
    /// Why not all was printed.
    pub(crate) stdout_failure: Mutex<Option<String>>,
    /// The outputs, each with its lock where it is a file that can have one.
    pub(crate) claimed: Mutex<Vec<(PathBuf, Option<OutputLock>)>>,
}

/// The calls that run now, the newest last.
static RUNNING: Mutex<Vec<Arc<Call>>> = Mutex::new(Vec::new());

thread_local! {
    /// Those of this thread.
    static OWN: RefCell<Vec<Arc<Call>>> = const { RefCell::new(Vec::new()) };
}

impl Call {
    /// Makes it the call of this thread, until what is returned is dropped.
    pub(crate) fn begin(self) -> Begun {
        let call = Arc::new(self);
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&call));
        OWN.with_borrow_mut(|own| own.push(Arc::clone(&call)));
        Begun(call)
    }

    /// The one of this thread, else the newest.
    pub(crate) fn current() -> Arc<Self> {
        let own = OWN.with_borrow(|own| own.last().cloned());
        let newest = || RUNNING.lock().unwrap_or_else(PoisonError::into_inner).last().cloned();
        own.or_else(newest).unwrap_or_default()
    }

    /// Takes a file for an output of this call alone; false where another output of it has taken it before.
    /// Fails if it cannot be written, or another run has it.
    pub(crate) fn claim(&self, path: &Path) -> anyhow::Result<bool> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let file = folder.join(path.file_name().unwrap_or_default());
        let mut claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_special = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        if claimed.iter().any(|(other, _)| *other == file && !is_special) {
            return Ok(false);
        }
        let lock = if is_special { None } else { Some(OutputLock::file(path)) };
        match lock.transpose() {
            Ok(lock) => claimed.push((file, lock)),
            // Where no lock can be made nothing can be written.
            Err(LockError::Create { reason, .. }) => {
                return Err(WriteError::new(&path.display().to_string(), reason).into());
            }
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    /// Takes a folder for outputs of this call alone, by its true path.
    pub(crate) fn claim_folder(&self, folder: &Path) -> Result<(), LockError> {
        let mut claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        if claimed.iter().all(|(other, _)| other != folder) {
            let lock = match OutputLock::file(folder) {
                Err(LockError::Create { .. }) => None, // the folder beside it may be nobody's to write
                lock => Some(lock?),
            };
            claimed.push((folder.to_owned(), lock));
        }
        Ok(())
    }

    /// Takes standard output for an output; whether it was taken before.
    pub(crate) fn take_stdout(&self) -> bool {
        self.stdout_taken.swap(true, Ordering::SeqCst)
    }

    /// Whether an output goes to standard output.
    pub(crate) fn has_taken_stdout(&self) -> bool {
        self.stdout_taken.load(Ordering::SeqCst)
    }
}

/// A call that runs.
pub(crate) struct Begun(Arc<Call>);

impl Drop for Begun {
    fn drop(&mut self) {
        OWN.with_borrow_mut(Vec::pop);
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|call| !Arc::ptr_eq(call, &self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_share_nothing() {
        let first = Call { force: true, ..Call::default() }.begin();
        assert!(!Call::current().take_stdout() && Call::current().take_stdout());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(Call::current().force, "a thread of the call sees it");
                let _second = Call { loudness: -1, ..Call::default() }.begin();
                assert!(!Call::current().force && !Call::current().has_taken_stdout());
            });
        });
        assert!(Call::current().force);
        drop(first);
        let _third = Call::default().begin();
        assert!(!Call::current().force && !Call::current().has_taken_stdout());
    }
}
