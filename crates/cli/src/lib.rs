//! The command as a library: [`run_command`] is all of it, so that `python -m locdiff` is the same program.
//!
//! Exit codes: 0 success; 1 failure, or some photos could not be used; 2 usage; 130 interrupted. See docs/cli.md.

mod commands;
mod embeddings;
mod groups;
mod hints;
mod photos;
mod request;
mod terminal;

pub use terminal::interrupt;
pub(crate) use terminal::{args, output, progress, say, verbosity};

use clap::{CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;
use terminal::{examples, manual::Completions, manual::Man, program, program::Everywhere, subcommands::subcommands};

/// Find where on Earth a photo was taken, with calibrated probabilities, on your own machine
#[derive(Debug, Parser)]
#[command(name = "locdiff", version, max_term_width = 100, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    everywhere: Everywhere,
}

subcommands! {
    enum Command {
        /// Find where photos were taken: locations with probabilities, radii and maps
        Locate(Box<commands::locate::Locate>),
        /// Find where the photos of a trip were taken, from pictures, times and a few GPS tags
        Album(Box<commands::album::Album>),
        /// Check a folder's locations in the browser: correct them, write tags, undo
        Review(commands::review::Review),
        /// Suggest locations for the photos of an immich server: review, write, undo
        Immich(commands::immich::ImmichArgs),
        /// Locate or embed millions of photos, in shards that any machine can run
        #[command(subcommand)]
        Batch(commands::batch::Batch),
        /// Answer over HTTP, with a page for dropping photos
        Serve(Box<commands::serve::Serve>),
        /// Show what gives a photo's location away, and write copies without that metadata
        Expose(Box<commands::expose::Expose>),
        /// Remove the tags that LocDiff wrote, and restore the files
        Undo(commands::undo::UndoArgs),
        /// Turn photos into embeddings, with their locations: a training set from a folder
        Embed(Box<commands::embed::Embed>),
        /// Inspect image encoders
        #[command(subcommand)]
        Encoder(commands::encoder::EncoderCommand),
        /// Build and search galleries of located photos
        #[command(subcommand)]
        Gallery(commands::gallery::GalleryCommand),
        /// Download published models and encoders by name: GeoCLIP, CLIP
        Get(commands::get::Get),
        /// Convert models of other projects
        #[command(subcommand)]
        Import(commands::import::Import),
        /// Train a model on embeddings and locations
        Train(Box<commands::train::Train>),
        /// Calibrate a model's probabilities on photos with known locations
        Calibrate(commands::calibrate::Calibrate),
        /// Compare answers with the truth: accuracy by published rules, calibration, report
        Evaluate(Box<commands::evaluate::Evaluate>),
        /// Turn locations into SHDD codes (coefficient vectors)
        Encode(commands::encode::Encode),
        /// Turn SHDD codes (coefficient vectors) into locations
        Decode(commands::decode::Decode),
        /// Describe the density of a coefficient vector: regions, modes, map
        Density(commands::density::DensityArgs),
        /// Sample locations for embeddings with a trained model
        Sample(Box<commands::sample::Sample>),
        /// Print the script that completes commands and flags in a shell
        Completions(Completions) => described(),
        /// Print the manual page, or write one for every command
        Man(Man) => described(),
        /// Print the version, the build, and what is found here: CUDA, model, encoder
        Version(commands::version::Version),
    }
}

/// What `-h` shows first, and examples.
const EXAMPLES: &str = include_str!("examples.txt");

/// The description of the program, with its commands in groups and with examples.
fn described() -> clap::Command {
    examples::add(groups::list(Cli::command()), EXAMPLES)
}

/// Runs the command with the arguments of a process, the first of which is the program's name, and gives its exit code. Two calls share
/// nothing, and none ends the process; interrupts are the caller's, see [`interrupt`].
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let mut given: Vec<OsString> = arguments.into_iter().collect();
    let has = |names: [&str; 2]| given.iter().skip(1).any(|one| names.iter().any(|name| one == name));
    if given.len() == 3 && has(["--version", "-V"]) && has(["--verbose", "-v"]) {
        given.splice(1.., ["version".into()]);
    }
    locdiff_base::StandardOutput::on_failure(output::on_failure);
    let words: Vec<String> = given.iter().skip(1).map(|one| one.to_string_lossy().into_owned()).collect();
    let colours = verbosity::asked_colours(&words);
    match described().color(colours).try_get_matches_from(given).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(Cli { command, everywhere }) => program::run(&everywhere, || command.run()),
        Err(error) => program::refuse(&error, colours),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_whole() {
        let faults = examples::faults(&described(), EXAMPLES);
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    /// As a Python program calls it: help, bad usage and failures come back as codes, and a call leaves nothing to the next.
    #[test]
    fn codes_come_back_and_calls_share_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("codes.npy");
        let run = |words: &str| {
            let words = ["locdiff"].into_iter().chain(words.split_whitespace());
            run_command(words.map(OsString::from).chain(["--out".into(), file.clone().into()]))
        };
        let plain = |words: &str| run_command(words.split_whitespace().map(OsString::from));
        assert_eq!([plain("locdiff --help"), plain("locdiff frobnicate"), plain("locdiff compare")], [0, 2, 2]);
        assert_eq!(run("encode --at 1,2 -L 3 --threads 1 --quiet"), 0);
        assert_eq!(run("encode --at 1,2 -L 3"), 1, "it exists");
        assert_eq!(run("encode --at 1,2 -L 3 --force"), 0);
        assert_eq!(run("encode --at 1,2 -L 3"), 1, "--force was for the call before");
        // Standard output that one call took is free for the next.
        for _ in 0..2 {
            assert_eq!(plain("locdiff encode --at 1,2 -L 1 --out -"), 0);
        }
    }
}
