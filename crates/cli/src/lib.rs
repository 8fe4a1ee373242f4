//! The command as a library: [`run_command`] is all of it, so that `python -m locdiff` is the same program.
//!
//! Exit codes: 0 success; 1 failure, or some photos could not be used; 2 usage; 130 interrupted. See docs/cli.md.

mod args;
mod commands;
mod encoder;
mod examples;
mod gallery;
mod hints;
mod hybrid;
mod interrupt;
mod manners;
mod model;
mod output;
mod photos;
mod progress;
mod sampling;
mod say;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use manners::Colours;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::time::Instant;

/// LocDiff says where on Earth a photo was taken: places with honest probabilities, from the picture alone, on your own machine
#[derive(Debug, Parser)]
#[command(name = "locdiff", version, max_term_width = 100, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    everywhere: Everywhere,
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
struct Everywhere {
    /// Threads to compute with [default: one per core]; answers do not depend on it
    #[arg(
        long,
        global = true,
        value_name = "N",
        visible_alias = "jobs",
        env = "LOCDIFF_THREADS",
        hide_env_values = true
    )]
    threads: Option<NonZeroUsize>,
    /// Say nothing but results and errors: no notes, no progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more: what is opened, where it runs, how long it takes
    #[arg(short, long, global = true)]
    verbose: bool,
    /// When to use colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        value_enum
    )]
    color: Colours,
    /// Overwrite files and folders that exist
    #[arg(long, global = true)]
    force: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Turn places into SHDD codes
    Encode(commands::encode::Encode),
    /// Read places off coefficient vectors
    Decode(commands::decode::Decode),
    /// Describe the density that a coefficient vector means: regions, modes, map
    Density(commands::density::DensityArgs),
    /// Say where photos were taken: places with probabilities, radii, maps
    Locate(Box<commands::locate::Locate>),
    /// Say where the photos of a trip were taken, all together: by their look, their times and the GPS tags of some
    Album(Box<commands::album::Album>),
    /// Suggest places for the photos of an immich server, review them, write them, take them back
    Immich(commands::immich::ImmichArgs),
    /// Locate or embed photos by the million, in shards that any machine can run
    #[command(subcommand)]
    Batch(commands::batch::Batch),
    /// Answer over HTTP, with a page to drop photos on: the same answers as `locate`
    Serve(Box<commands::serve::Serve>),
    /// Take back the tags that `locate --write-exif` and `--xmp` wrote
    Undo(commands::undo::UndoArgs),
    /// Train a model on embeddings and locations
    Train(Box<commands::train::Train>),
    /// Locate photos: sample places for embeddings with a trained model
    Sample(Box<commands::sample::Sample>),
    /// Turn places into GeoCLIP's vectors
    EmbedLocation(commands::embed_location::EmbedLocation),
    /// Build and search galleries of places with embeddings
    #[command(subcommand)]
    Gallery(commands::gallery::GalleryCommand),
    /// Bring in models of others
    #[command(subcommand)]
    Import(commands::import::Import),
    /// Turn photos into embeddings, with their locations: a training set from a folder
    Embed(Box<commands::embed::Embed>),
    /// Look at image encoders
    #[command(subcommand)]
    Encoder(commands::encoder::EncoderCommand),
    /// Judge places by the truth: accuracy by published rules with intervals, calibration, comparison, report
    Evaluate(Box<commands::evaluate::Evaluate>),
    /// Draw pictures that explain codes and densities (the backward process of a photo: locate --trace)
    #[command(subcommand)]
    Plot(commands::plot::Plot),
    /// Train and test LocDiff and its rivals on the same embeddings
    Compare(Box<commands::compare::Compare>),
    /// Make a model's probabilities hold what they say, with photos whose places are known
    Calibrate(commands::calibrate::Calibrate),
    /// Make the paper's main tables from the published data: a chain of stages that can be cut off and resumed
    #[command(subcommand)]
    Recipe(Box<commands::recipe::Recipe>),
    /// Regenerate a table of the paper
    #[command(subcommand)]
    Reproduce(commands::reproduce::Reproduce),
    /// Print what a shell needs to complete commands and flags
    Completions(commands::manual::Completions),
    /// Print the manual page, or write one for every command
    Man(commands::manual::Man),
    /// Say what this program was built from and what it finds here: commit, features, CUDA, bundled model and encoder
    Version(commands::version::Version),
}

/// Runs the command with the arguments of a process, the first of which is the program's name, and gives its exit code.
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let given: Vec<OsString> = arguments.into_iter().collect();
    // A half-written file must not survive an interrupt; a second handler elsewhere is no reason to stop.
    let _ = ctrlc::set_handler(|| {
        if interrupt::ask_to_stop() {
            return; // the command saves what it has first; a second interrupt ends it at once
        }
        locdiff_base::AtomicFile::remove_all_pending();
        std::process::exit(130);
    });
    let arguments: Vec<String> = given.iter().skip(1).map(|one| one.to_string_lossy().into_owned()).collect();
    let described = || examples::add(Cli::command().color(Colours::asked(&arguments).choice()));
    let has = |names: [&str; 2]| arguments.iter().any(|one| names.contains(&one.as_str()));
    let cli = if arguments.len() == 2 && has(["--version", "-V"]) && has(["--verbose", "-v"]) {
        Cli {
            command: Command::Version(commands::version::Version::default()),
            everywhere: Everywhere::plain(),
        }
    } else {
        Cli::from_arg_matches(&described().get_matches_from(&given)).unwrap_or_else(|error| error.exit())
    };
    let Cli { command, everywhere } = cli;
    manners::set(everywhere.quiet, everywhere.verbose, everywhere.color);
    output::set_force(everywhere.force);
    if let Some(threads) = everywhere.threads {
        // Fails only where the pool was made before, which nothing does this early.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global();
    }
    let begin = Instant::now();
    let result = run(command, described);
    manners::detail(|| {
        format!("{:.1} s on {} threads", begin.elapsed().as_secs_f64(), rayon::current_num_threads())
    });
    match result {
        Ok(()) => 0,
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) => {
            let flag = hints::flag(&error).map_or(String::new(), |flag| format!(" ({flag})"));
            say::error(&(say::chain(&error) + &flag));
            if error.is::<output::Usage>() { 2 } else { 1 }
        }
    }
}

impl Everywhere {
    /// As without any flag.
    fn plain() -> Self {
        Self { threads: None, quiet: false, verbose: false, color: Colours::Auto, force: false }
    }
}

fn run(command: Command, described: impl Fn() -> clap::Command) -> anyhow::Result<()> {
    match command {
        Command::Encode(command) => command.run(),
        Command::Decode(command) => command.run(),
        Command::Density(command) => command.run(),
        Command::Locate(command) => command.run(),
        Command::Album(command) => command.run(),
        Command::Immich(command) => command.run(),
        Command::Batch(command) => command.run(),
        Command::Serve(command) => command.run(),
        Command::Undo(command) => command.run(),
        Command::Train(command) => command.run(),
        Command::Sample(command) => command.run(),
        Command::EmbedLocation(command) => command.run(),
        Command::Gallery(command) => command.run(),
        Command::Import(command) => command.run(),
        Command::Embed(command) => command.run(),
        Command::Encoder(command) => command.run(),
        Command::Evaluate(command) => command.run(),
        Command::Plot(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::Calibrate(command) => command.run(),
        Command::Recipe(command) => command.run(run_words),
        Command::Reproduce(command) => command.run(),
        Command::Completions(command) => command.run(described()),
        Command::Man(command) => command.run(described()),
        Command::Version(command) => command.run(),
    }
}

/// Runs a command inside this process; `--force` is for it alone.
fn run_words(words: &[String]) -> anyhow::Result<()> {
    let given = std::iter::once("locdiff".to_owned()).chain(words.iter().cloned());
    let Cli { command, everywhere } = Cli::try_parse_from(given)?;
    let before = output::is_forced();
    output::set_force(everywhere.force);
    let result = run(command, || examples::add(Cli::command()));
    output::set_force(before);
    result
}

/// Whoever reads our output has seen enough (`locdiff … | head`).
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<locdiff_data::DataError>().is_some_and(locdiff_data::DataError::is_broken_pipe)
            || cause
                .downcast_ref::<locdiff_base::WriteError>()
                .is_some_and(locdiff_base::WriteError::is_broken_pipe)
            || cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
