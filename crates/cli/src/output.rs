//! What commands write: one rule for files that exist, one for standard output.
//!
//! A file that a command is asked to write must not exist yet, unless `--force` is given. `-` is standard output; one output
//! alone may go there, and what the command has to say to people goes to standard error then.

use anyhow::{Result, bail};
use clap::Args;
use locdiff_base::{AtomicFile, WriteError};
use serde_json::Value;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// `--force` was given.
static FORCE: AtomicBool = AtomicBool::new(false);
/// An output goes to standard output.
static STDOUT_TAKEN: AtomicBool = AtomicBool::new(false);

/// Flags that do not go together: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Lets every command of this process overwrite files.
pub(crate) fn set_force(force: bool) {
    FORCE.store(force, Ordering::SeqCst);
}

/// Whether files may be overwritten.
pub(crate) fn is_forced() -> bool {
    FORCE.load(Ordering::SeqCst)
}

/// Whether a path means standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Sees, before any work is done, that outputs may be written; `prints` says that the command's own JSON goes to standard
/// output.
pub(crate) fn claim<'a>(outputs: impl IntoIterator<Item = &'a Path>, prints: bool) -> Result<()> {
    for path in outputs {
        if is_stdout(path) {
            if prints {
                let message =
                    "--json and an output to - would both go to standard output: name a file for one of them";
                return Err(Usage(message.to_owned()).into());
            }
            if STDOUT_TAKEN.swap(true, Ordering::SeqCst) {
                let message =
                    "two outputs to - would be mixed on standard output: name a file for one of them";
                return Err(Usage(message.to_owned()).into());
            }
        } else {
            claim_file(path)?;
        }
    }
    Ok(())
}

/// Fails where a regular file would be overwritten, or a folder that holds `path` as its mark.
pub(crate) fn claim_file(path: &Path) -> Result<()> {
    let exists = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    if exists && !is_forced() {
        bail!("{} exists: add --force to overwrite it, or name another", path.display());
    }
    Ok(())
}

/// From here on commands speak on standard error: what is printed in the end is one thing.
pub(crate) fn keep_stdout() {
    STDOUT_TAKEN.store(true, Ordering::SeqCst);
}

/// Where a command speaks to people: standard output, unless an output goes there.
pub(crate) fn people() -> Box<dyn Write> {
    if STDOUT_TAKEN.load(Ordering::SeqCst) {
        Box::new(std::io::stderr())
    } else {
        Box::new(std::io::stdout())
    }
}

/// A line for people.
macro_rules! tell {
    ($($words:tt)*) => {
        writeln!($crate::output::people(), $($words)*)?
    };
}
pub(crate) use tell;

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
        tell!("wrote {}", locdiff_base::one_line(&path.to_string_lossy()));
    }
    Ok(())
}

/// How a table is printed.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct TableFormat {
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

impl TableFormat {
    /// Prints the one or the other; `render` is told whether Markdown is wanted.
    pub(crate) fn print(self, json: impl Fn() -> Value, render: impl Fn(bool) -> String) -> Result<()> {
        let mut out = std::io::stdout().lock();
        if self.json {
            writeln!(out, "{}", json())?;
        } else {
            write!(out, "{}", render(self.markdown))?;
        }
        Ok(())
    }
}
