//! `locdiff-lab`: rivals on the same photos, the paper's tables and figures.

mod compare;
mod embed_location;
mod experiment;
mod factors;
mod figures;
mod plot;
mod recipe;
mod reproduce;
mod terminal;

use clap::Parser;
use std::process::ExitCode;
use terminal::{Everywhere, subcommands::subcommands};

/// LocDiff's laboratory: rivals on the same photos, the paper's tables and figures; photos are located by `locdiff`
#[derive(Debug, Parser)]
#[command(name = "locdiff-lab", version, max_term_width = 100, propagate_version = true)]
struct Lab {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    everywhere: Everywhere,
}

subcommands! {
    enum Command {
        /// Train and test LocDiff and its rivals on the same embeddings
        Compare(Box<compare::Compare>),
        /// Measure what map factors (towns, coast, climate) are worth to the bundled model and to its rivals
        Factors(Box<factors::Factors>),
        /// Regenerate a table of the paper
        #[command(subcommand)]
        Reproduce(reproduce::Reproduce),
        /// Parts of `lab/recipe.sh`, which makes the paper's main tables from the published data
        #[command(subcommand)]
        Recipe(recipe::Recipe),
        /// Draw pictures that explain codes and densities (the backward process of a photo: `locdiff locate --trace`)
        #[command(subcommand)]
        Plot(plot::Plot),
        /// Turn places into GeoCLIP's vectors
        EmbedLocation(embed_location::EmbedLocation),
    }
}

fn main() -> ExitCode {
    let Lab { command, everywhere } = Lab::parse();
    terminal::begin(everywhere);
    terminal::exit_code(command.run()).into()
}
