//! `locdiff import`: models of others into folders of ours.

use crate::output;
use crate::terminal::subcommands::subcommands;
use anyhow::Result;
use clap::Args;
use locdiff_retrieval::geoclip::{Sources, import};
use std::path::PathBuf;

subcommands! {
    pub(crate) enum Import {
        /// Convert GeoCLIP's weights and gallery from the wheel of its Python package
        Geoclip(ImportGeoclip),
    }
}

#[derive(Debug, Args)]
pub(crate) struct ImportGeoclip {
    /// The wheel (`pip download --no-deps geoclip`), a folder with the package's files, or the files
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Write the gallery into this folder
    #[arg(short, long, value_name = "FOLDER")]
    out: PathBuf,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
}

impl ImportGeoclip {
    fn run(self) -> Result<()> {
        output::claim_file(&self.out.join(locdiff_retrieval::geoclip::SETTINGS_FILE))?;
        let places = import(&Sources::open(&self.paths)?, &self.out)?;
        let gallery = places.map_or("no gallery".to_owned(), |places| format!("a gallery of {places} locations"));
        let summary = serde_json::json!({"out": self.out, "gallery_places": places});
        output::tell(self.json, &summary, &format!("GeoCLIP with {gallery} in {}", self.out.display()))
    }
}
