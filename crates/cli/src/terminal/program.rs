//! One run of a command: on so many threads, as loud as asked, with an exit code at its end. Nothing here ends the process.

use super::{call::Call, interrupt::Interrupted, output, output::Usage, say, verbosity};
use crate::hints;
use anyhow::Result;
use clap::{Args, ColorChoice, error::ContextKind, error::ContextValue, error::ErrorKind};
use std::{num::NonZeroUsize, time::Instant};

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Everywhere {
    /// Use N threads; answers do not depend on the number [default: one per core]
    #[arg(long, global = true, value_name = "N", visible_alias = "jobs")]
    #[arg(env = "LOCDIFF_THREADS", hide_env_values = true)]
    threads: Option<NonZeroUsize>,
    /// Print results and errors only, without notes and progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print more: the model, the device, the time of each part
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Use colours in messages
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true, value_enum)]
    color: ColorChoice,
    /// Overwrite existing files and folders
    #[arg(long, global = true)]
    force: bool,
}

/// Runs a command as these flags ask, and gives the exit code: 0 success; 1 failure, or some photos could not be used; 130 interrupted.
pub(crate) fn run(everywhere: &Everywhere, command: impl FnOnce() -> Result<()> + Send) -> u8 {
    let Everywhere { threads, quiet, verbose, color, force } = *everywhere;
    with_threads(threads.map_or(0, NonZeroUsize::get), move || {
        let loudness = i8::from(verbose) - i8::from(quiet);
        let _call = Call { loudness, in_colour: verbosity::colours_stderr(color), force, ..Call::default() }.begin();
        let begin = Instant::now();
        let result = command();
        let threads = rayon::current_num_threads();
        verbosity::detail(|| format!("{:.1} s on {threads} threads", begin.elapsed().as_secs_f64()));
        match result {
            Err(error) => exit_code(&error),
            Ok(()) => output::was_closed().map_or(0, |reason| {
                say::error(&format!("{reason}: the files are complete, the printed output is not"));
                1
            }),
        }
    })
}

/// Commands that were here once.
const IN_THE_LAB: [&str; 5] = ["compare", "reproduce", "recipe", "plot", "embed-location"];

/// Says why a command line is not taken, or the help that it asks for.
pub(crate) fn refuse(error: &clap::Error, colours: ColorChoice) -> u8 {
    let _call = Call { in_colour: verbosity::colours_stderr(colours), ..Call::default() }.begin();
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && IN_THE_LAB.contains(&&**name)
    {
        say::error(&format!("'{name}' is a command of another program: run `locdiff-lab {name}`"));
        return 2;
    }
    let _ = error.print(); // nobody may be reading
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// Runs a command on so many threads, or on the usual number for 0. The first call of a process makes its pool; one that wants
/// another number has a pool of its own.
fn with_threads(threads: usize, command: impl FnOnce() -> u8 + Send) -> u8 {
    const STACK: usize = 8 << 20; // as a main thread has
    let pool = || rayon::ThreadPoolBuilder::new().num_threads(threads);
    if pool().build_global().is_ok() {
        return command();
    }
    match pool().stack_size(STACK).build() {
        Ok(own) if own.current_num_threads() != rayon::current_num_threads() => own.install(command),
        _ => command(),
    }
}

/// Says what went wrong.
fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<Interrupted>() {
        return 130;
    }
    if is_broken_pipe(error) && !output::writes_files() {
        return 0;
    }
    let flag = hints::flag(error).map_or(String::new(), |flag| format!(" ({flag})"));
    say::error(&(say::chain(error) + &flag));
    if error.is::<Usage>() { 2 } else { 1 }
}

/// The reader of our output has seen enough (`locdiff … | head`).
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<locdiff_io::data::DataError>().is_some_and(locdiff_io::data::DataError::is_broken_pipe)
            || cause.downcast_ref::<locdiff_base::WriteError>().is_some_and(locdiff_base::WriteError::is_broken_pipe)
            || cause.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
