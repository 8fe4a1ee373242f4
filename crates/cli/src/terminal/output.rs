//! What commands write: one rule for files that exist, one for standard output.
//!
//! A file that a command is asked to write must not exist yet, unless `--force` is given. `-` is standard output; one output
//! alone may go there, and what the command has to say to people goes to standard error then. Neither of the two, closed or full, keeps
//! a command from writing its files: everything is printed by [`Out`], [`Aside`] and the macros here.

use super::call::Call;
use anyhow::{Result, bail};
pub(crate) use locdiff_base::StandardOutput as Out;
use locdiff_base::{AtomicFile, WriteError};
use std::{io, io::Write, path::Path, path::PathBuf, sync::PoisonError, sync::atomic::Ordering};

/// Flags that do not go together: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Refuses flags that do not go together, unless a condition holds.
macro_rules! ensure_usage {
    ($condition:expr, $($words:tt)+) => {
        anyhow::ensure!($condition, $crate::output::Usage(std::fmt::format(format_args!($($words)+))))
    };
}
pub(crate) use ensure_usage;

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
            const REMEDY: &str = "name a file for one of them";
            ensure_usage!(!prints, "--json and an output to - would both go to standard output: {REMEDY}");
            let is_second = Call::current().take_stdout();
            ensure_usage!(!is_second, "two outputs to - would be mixed on standard output: {REMEDY}");
        } else {
            if path.is_dir() {
                let name = path.display().to_string();
                return Err(WriteError::new(&name, io::ErrorKind::IsADirectory.into()).into());
            }
            claim_file(path)?;
            let is_first = Call::current().claim(path)?;
            ensure_usage!(is_first, "{} is named for two outputs: name a file for each", path.display());
        }
    }
    Ok(())
}

/// The ends that the files of an output may have, by its flag.
const ENDS: [(&str, &str); 7] = [
    ("csv", "csv tsv txt"),
    ("geojson", "geojson json"),
    ("geotiff", "tif tiff"),
    ("gpx", "gpx"),
    ("kml", "kml"),
    ("map", "html htm"),
    ("png", "png"),
];

/// Refuses files whose names end otherwise than what is written into them. `flags` are those of the outputs.
pub(crate) fn check_ends(flags: &str, outputs: &[&Option<PathBuf>]) -> Result<()> {
    for (flag, path) in flags.split(' ').zip(outputs) {
        let Some(path) = path.as_deref().filter(|path| !locdiff::AnswerTargets::is_folder(path)) else { continue };
        let ends = ENDS.iter().find(|(known, _)| *known == flag).map_or("", |(_, ends)| ends);
        let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        if let Some(end) = end.filter(|end| !ends.split(' ').any(|one| one == end)) {
            let (path, first) = (path.display(), ends.split(' ').next().unwrap_or_default());
            return misuse(format!(
                "--{flag} {path}: this makes a .{first} file, not .{end}: end its name in .{first}"
            ));
        }
    }
    Ok(())
}

/// Sees that files can be made in a folder, or where it will be made.
pub(crate) fn check_folder(folder: &Path) -> Result<()> {
    let there = folder.ancestors().find(|folder| folder.as_os_str().is_empty() || folder.exists());
    let there = there.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A file without a name: a kill leaves nothing.
    tempfile::tempfile_in(there)
        .map(drop)
        .map_err(|reason| WriteError::new(&folder.display().to_string(), reason).into())
}

/// Makes a folder of files and sees that nothing else writes them until the command ends; several outputs may share it.
pub(crate) fn claim_folder(folder: &Path) -> Result<()> {
    let made = std::fs::create_dir_all(folder).and_then(|()| std::fs::canonicalize(folder));
    let folder = made.map_err(|reason| WriteError::new(&folder.display().to_string(), reason))?;
    finish_files();
    Ok(Call::current().claim_folder(&folder)?)
}

/// Fails where a regular file would be overwritten, or a folder that holds `path` as its mark.
pub(crate) fn claim_file(path: &Path) -> Result<()> {
    let exists = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    if exists && !is_forced() {
        bail!("{} exists: add --force to overwrite it, or name another", path.display());
    }
    finish_files();
    Ok(())
}

/// Where a command speaks to people: standard output, unless an output goes there.
pub(crate) fn human_out() -> Box<dyn Write> {
    if Call::current().has_taken_stdout() { Box::new(Aside) } else { Box::new(Out) }
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

/// Why not all was printed while files were written, if so.
pub(crate) fn was_closed() -> Option<String> {
    Call::current().stdout_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// What it means that standard output cannot be written: nothing for files, which are finished. See [`Out::on_failure`].
pub(crate) fn on_failure(error: io::Error) -> io::Result<()> {
    if !writes_files() {
        return Err(error);
    }
    let reason = if error.kind() == io::ErrorKind::BrokenPipe {
        "standard output was closed before the end".to_owned()
    } else {
        error.to_string()
    };
    Call::current().stdout_failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    Ok(())
}

/// Standard error: it is for people, and stops nothing where nobody reads it.
pub(crate) struct Aside;

impl Write for Aside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(io::stderr().write(bytes).unwrap_or(bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line on standard output, for programs or people.
macro_rules! print_line {
    ($($words:tt)*) => {
        std::io::Write::write_all(&mut $crate::output::Out, (format!($($words)*) + "\n").as_bytes())?
    };
}
pub(crate) use print_line;

/// Prints what came of a command: as JSON, or in words.
pub(crate) fn tell(as_json: bool, summary: &serde_json::Value, words: &str) -> Result<()> {
    print_line!("{}", if as_json { summary.to_string() } else { words.to_owned() });
    Ok(())
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
        return Ok(Out.write_all(bytes).and_then(|()| Out.flush())?);
    }
    Ok(AtomicFile::write_whole(path, bytes)?)
}

/// Writes what a file that was asked for shall hold.
pub(crate) fn write_asked(path: Option<&PathBuf>, bytes: impl FnOnce() -> Result<Vec<u8>>) -> Result<()> {
    path.map_or(Ok(()), |path| write_file(path, &bytes()?))
}

/// Says which files were written.
pub(crate) fn tell_written<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    for path in paths.into_iter().filter(|path| !is_stdout(path)) {
        status!("wrote {}", locdiff_base::one_line(&path.to_string_lossy()));
    }
    Ok(())
}
