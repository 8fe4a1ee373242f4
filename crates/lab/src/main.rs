//! `locdiff-lab`: rivals on the same photos, the paper's tables and figures.

mod compare;
mod curves;
mod embed_location;
mod experiment;
mod figures;
mod plot;
mod plot_study;
mod recipe;
mod reproduce;

use clap::{Parser, Subcommand};
use locdiff_model::report::terminal::manual::{Completions, Man};
use locdiff_model::report::terminal::program::{self, Everywhere, Program, described};
use std::process::ExitCode;

/// LocDiff's laboratory: rivals on the same photos, the paper's tables and figures; photos are located by `locdiff`
#[derive(Debug, Parser)]
#[command(name = "locdiff-lab", version, max_term_width = 100, propagate_version = true)]
struct Lab {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    everywhere: Everywhere,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train and test LocDiff and its rivals on the same embeddings
    Compare(Box<compare::Compare>),
    /// Regenerate a table of the paper
    #[command(subcommand)]
    Reproduce(reproduce::Reproduce),
    /// Make the paper's main tables from the published data: a chain of stages that can be cut off and resumed
    #[command(subcommand)]
    Recipe(Box<recipe::Recipe>),
    /// Draw pictures that explain codes and densities (the backward process of a photo: `locdiff locate --trace`)
    #[command(subcommand)]
    Plot(plot::Plot),
    /// Turn places into GeoCLIP's vectors
    EmbedLocation(embed_location::EmbedLocation),
    /// Print what a shell needs to complete commands and flags
    Completions(Completions),
    /// Print the manual page, or write one for every command
    Man(Man),
}

impl Program for Lab {
    const EXAMPLES: &'static str = include_str!("examples.txt");

    fn everywhere(&self) -> &Everywhere {
        &self.everywhere
    }

    fn flag(error: &anyhow::Error) -> Option<&'static str> {
        locdiff_cli::hints::flag(error)
    }

    fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Compare(command) => command.run(),
            Command::Reproduce(command) => command.run(),
            Command::Recipe(command) => command.run(),
            Command::Plot(command) => command.run(),
            Command::EmbedLocation(command) => command.run(),
            Command::Completions(command) => command.run(described::<Self>()),
            Command::Man(command) => command.run(described::<Self>()),
        }
    }
}

fn main() -> ExitCode {
    // The handler has a thread of its own: from there nothing but this ends a command that cannot stop by itself.
    locdiff_model::report::terminal::interrupt::handle(|| std::process::exit(130));
    program::run::<Lab>(std::env::args_os()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_whole() {
        let faults = locdiff_model::report::terminal::examples::faults(&described::<Lab>(), Lab::EXAMPLES);
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
