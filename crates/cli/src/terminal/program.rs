//! A program of commands: what it is given is parsed, one command runs, and an exit code comes back. Nothing here ends the process.

use super::{call::Call, examples, interrupt::Interrupted, output, output::Usage, say, verbosity, verbosity::Colours};
use anyhow::Result;
use clap::{Args, Command, CommandFactory, FromArgMatches, error::ContextKind, error::ContextValue, error::ErrorKind};
use std::{ffi::OsString, num::NonZeroUsize, time::Instant};

/// A program: what its command line is, and what its commands do.
pub(crate) trait Program: CommandFactory + FromArgMatches + Send {
    /// Examples for the help of every command, see [`examples`].
    const EXAMPLES: &'static str;

    /// What every command takes.
    fn everywhere(&self) -> &Everywhere;

    /// Runs the command that was given.
    fn run(self) -> Result<()>;

    /// The flag that an error's message speaks of in words: libraries know no flags.
    fn flag(error: &anyhow::Error) -> Option<&'static str>;

    /// Changes how the program describes itself.
    fn describe(command: Command) -> Command;

    /// Where a command is that this program does not have.
    fn elsewhere(command: &str) -> Option<&'static str>;
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Everywhere {
    /// Number of threads; the answers do not depend on it [default: one per core]
    #[arg(long, global = true, value_name = "N", visible_alias = "jobs")]
    #[arg(env = "LOCDIFF_THREADS", hide_env_values = true)]
    threads: Option<NonZeroUsize>,
    /// Print results and errors only, without notes and progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print more: what is opened, where it runs, how long it takes
    #[arg(short, long, global = true)]
    verbose: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true, value_enum)]
    color: Colours,
    /// Overwrite existing files and folders
    #[arg(long, global = true)]
    force: bool,
}

/// The description of a program, with examples.
pub(crate) fn described<P: Program>() -> Command {
    examples::add(P::describe(P::command()), P::EXAMPLES)
}

/// Runs a program with the arguments of a process, the first of which is its name, and gives the exit code: 0 success; 1 failure, or
/// some photos could not be used; 2 usage; 130 interrupted.
pub(crate) fn run<P: Program>(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    locdiff_base::StandardOutput::on_failure(output::on_failure);
    let given: Vec<OsString> = arguments.into_iter().collect();
    let words: Vec<String> = given.iter().skip(1).map(|one| one.to_string_lossy().into_owned()).collect();
    let colours = Colours::asked(&words);
    let matches = described::<P>().color(colours.choice()).try_get_matches_from(&given);
    let program = match matches.and_then(|matches| P::from_arg_matches(&matches)) {
        Ok(program) => program,
        Err(error) => {
            let _call = Call { in_colour: colours.on_stderr(), ..Call::default() }.begin();
            return refuse::<P>(&error);
        }
    };
    let Everywhere { threads, quiet, verbose, color, force } = *program.everywhere();
    with_threads(threads.map_or(0, NonZeroUsize::get), move || {
        let loudness = i8::from(verbose) - i8::from(quiet);
        let _call = Call { loudness, in_colour: color.on_stderr(), force, ..Call::default() }.begin();
        let begin = Instant::now();
        let result = program.run();
        verbosity::detail(|| {
            format!("{:.1} s on {} threads", begin.elapsed().as_secs_f64(), rayon::current_num_threads())
        });
        match result {
            Err(error) => exit_code::<P>(&error),
            Ok(()) => output::was_closed().map_or(0, |reason| {
                say::error(&format!("{reason}: the files are whole, what was printed is not"));
                1
            }),
        }
    })
}

/// Says why a command line is not taken, or the help that it asks for.
fn refuse<P: Program>(error: &clap::Error) -> u8 {
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && let Some(other) = P::elsewhere(name)
    {
        say::error(&format!("'{name}' is a command of another program: run `{other} {name}`"));
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
fn exit_code<P: Program>(error: &anyhow::Error) -> u8 {
    if error.is::<Interrupted>() {
        return 130;
    }
    if is_broken_pipe(error) && !output::writes_files() {
        return 0;
    }
    let flag = P::flag(error).map_or(String::new(), |flag| format!(" ({flag})"));
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
