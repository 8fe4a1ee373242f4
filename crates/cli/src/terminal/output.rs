//! What commands write: one rule for files that exist, one for standard output.
//!
//! A file that a command is asked to write must not exist yet, unless `--force` is given. `-` is standard output; one output
//! alone may go there, and what the command has to say to people goes to standard error then.

use super::call::Call;
use anyhow::{Result, bail};
use locdiff_base::{AtomicFile, WriteError};
use std::sync::atomic::Ordering;
use std::{fmt, io, io::Write, path::Path};

/// Flags that do not go together: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Refuses flags that do not go together.
pub(crate) fn misuse<T>(message: impl Into<String>) -> Result<T> {
    Err(Usage(message.into()).into())
}

/// Whether files may be overwritten.
pub(crate) fn is_forced() -> bool {
    Call::current().force
}

/// Whether a path means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Sees, before any work is done, that outputs may be written, and that nothing else writes them until the command ends; `prints` says
/// that the command's own JSON goes to standard output.
pub(crate) fn claim<'a>(outputs: impl IntoIterator<Item = &'a Path>, prints: bool) -> Result<()> {
    for path in outputs {
        if is_stdout(path) {
            if prints {
                return misuse(
                    "--json and an output to - would both go to standard output: name a file for one of them",
                );
            }
            if Call::current().take_stdout() {
                return misuse("two outputs to - would be mixed on standard output: name a file for one of them");
            }
        } else {
            claim_file(path)?;
            if !Call::current().claim(path)? {
                return misuse(format!("{} is given for two outputs: name a file for each", path.display()));
            }
        }
    }
    Ok(())
}

/// Makes a folder of files and sees that nothing else writes them until the command ends; several outputs may share it.
pub(crate) fn claim_folder(folder: &Path) -> Result<()> {
    let made = std::fs::create_dir_all(folder).and_then(|()| std::fs::canonicalize(folder));
    let folder = made.map_err(|reason| WriteError::new(&folder.display().to_string(), reason))?;
    Ok(Call::current().claim_folder(&folder)?)
}

/// Fails where a regular file would be overwritten, or a folder that holds `path` as its mark.
pub(crate) fn claim_file(path: &Path) -> Result<()> {
    let exists = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    if exists && !is_forced() {
        bail!("{} exists: add --force to overwrite it, or name another", path.display());
    }
    Ok(())
}

/// Where a command speaks to people: standard output, unless an output goes there.
pub(crate) fn human_out() -> Box<dyn Write> {
    if Call::current().has_taken_stdout() { Box::new(std::io::stderr()) } else { Box::new(Out) }
}

/// From here on files are written beside what is printed: where nobody reads that any more (`locdiff … | head`), they are
/// finished all the same, and the exit code is 1. Without files there is nothing left to do then.
pub(crate) fn finish_files() {
    Call::current().writes_files.store(true, Ordering::SeqCst);
}

/// Whether files are written beside what is printed.
pub(crate) fn writes_files() -> bool {
    Call::current().writes_files.load(Ordering::SeqCst)
}

/// Whether nobody read all that was printed while files were written.
pub(crate) fn was_closed() -> bool {
    Call::current().stdout_closed.load(Ordering::SeqCst)
}

/// Standard output, for what programs read.
pub(crate) struct Out;

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_closed(io::stdout().write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_closed(io::stdout().flush(), ())
    }
}

/// What was done, or `done` where nobody reads any more and files are to be finished.
fn unless_closed<T>(result: io::Result<T>, done: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe && writes_files() => {
            Call::current().stdout_closed.store(true, Ordering::SeqCst);
            Ok(done)
        }
        result => result,
    }
}

/// A line for people.
macro_rules! status {
    ($($words:tt)*) => {
        writeln!($crate::output::human_out(), $($words)*)?
    };
}
pub(crate) use status;

/// Writes a file that appears whole or not at all; `-` is standard output.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_stdout(path) {
        let mut out = std::io::stdout().lock();
        let written = out.write_all(bytes).and_then(|()| out.flush());
        return Ok(written.map_err(|reason| WriteError::new("standard output", reason))?);
    }
    Ok(AtomicFile::write_whole(path, bytes)?)
}

/// Says which files were written.
pub(crate) fn tell_written<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    for path in paths.into_iter().filter(|path| !is_stdout(path)) {
        status!("wrote {}", locdiff_base::one_line(&path.to_string_lossy()));
    }
    Ok(())
}
