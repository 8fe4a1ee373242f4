//! What the commands share: flags, files, progress, the exit code. Flags that `locdiff` has, too, are its own.

#[path = "../../../../crates/cli/src/terminal/args.rs"]
#[allow(dead_code)] // of its flags a part is wanted here
mod args;
#[path = "../../../../crates/cli/src/terminal/progress.rs"]
mod progress;
#[path = "../../../../crates/cli/src/terminal/subcommands.rs"]
pub(crate) mod subcommands;

use anyhow::{Result, bail};
pub(crate) use args::{DecoderArgs, DegreeArg, DeviceArg, named, parse_grid, parse_place, parse_positive};
use clap::Args;
use locdiff_base::{AtomicFile, WriteError, one_line};
use locdiff_io::data::PointColumns;
use locdiff_shdd::sphere::LatLon;
pub(crate) use progress::{bar, set_share, share_bar};
use serde_json::Value;
use std::{io, io::Write, path::Path, sync::OnceLock};

/// What every command takes.
#[derive(Debug, Default, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Everywhere {
    /// Threads to compute with [default: one per core]; answers do not depend on it
    #[arg(long, global = true, value_name = "N", env = "LOCDIFF_THREADS", hide_env_values = true)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Print nothing but results and errors: no progress
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Overwrite files that exist
    #[arg(long, global = true)]
    pub(crate) force: bool,
}

/// What this call was asked for.
static ASKED: OnceLock<Everywhere> = OnceLock::new();

/// Begins a call: its flags, its threads, and what Ctrl-C does.
pub(crate) fn begin(asked: Everywhere) {
    // Both fail only where they were called before.
    let _ = ctrlc::set_handler(|| {
        AtomicFile::remove_all_pending();
        std::process::exit(130);
    });
    let threads = asked.threads.map_or(0, std::num::NonZeroUsize::get);
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    let _ = ASKED.set(asked);
}

/// The exit code of a command, after its error is printed: 0 success, 1 failure, 2 usage.
pub(crate) fn exit_code(result: Result<()>) -> u8 {
    let Err(error) = result else { return 0 };
    let is_closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
            || cause.downcast_ref::<WriteError>().is_some_and(WriteError::is_broken_pipe)
    };
    if error.chain().any(is_closed) {
        return 0; // the reader has seen enough (`locdiff-lab … | head`)
    }
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    eprintln!("error: {}", one_line(&text));
    if error.is::<Usage>() { 2 } else { 1 }
}

/// Flags that do not go together: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// What the product's files need of its terminal.
mod verbosity {
    pub(super) fn is_quiet() -> bool {
        super::ASKED.get().is_some_and(|asked| asked.quiet)
    }
}

mod output {
    pub(super) fn misuse<T>(message: &str) -> anyhow::Result<T> {
        Err(super::Usage(message.to_owned()).into())
    }
}

pub(crate) fn read_places(path: &Path) -> Result<Vec<LatLon>> {
    Ok(locdiff_io::data::read_points(path, None, &PointColumns::default())?)
}

pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Fails, before any work is done, where a file would be overwritten without `--force`.
pub(crate) fn claim(path: &Path) -> Result<()> {
    if path.is_file() && !ASKED.get().is_some_and(|asked| asked.force) {
        bail!("{} exists: add --force to overwrite it, or name another", path.display());
    }
    Ok(())
}

/// Writes a file that appears whole or not at all; `-` is standard output.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_stdout(path) {
        return Ok(io::stdout().write_all(bytes)?);
    }
    Ok(AtomicFile::write_whole(path, bytes)?)
}

pub(crate) fn tell_written(path: &Path) -> Result<()> {
    if !is_stdout(path) {
        writeln!(io::stdout(), "wrote {}", one_line(&path.to_string_lossy()))?;
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
    /// Prints the one or the other; the argument of `render` is whether Markdown is wanted.
    pub(crate) fn print(self, json: impl Fn() -> Value, render: impl Fn(bool) -> String) -> Result<()> {
        let text = if self.json { format!("{}\n", json()) } else { render(self.markdown) };
        Ok(io::stdout().write_all(text.as_bytes())?)
    }
}
