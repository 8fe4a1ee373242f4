//! Where answers go, as the command line says it.

use super::tag_args::TagArgs;
use crate::output;
use anyhow::{Result, bail, ensure};
use clap::Args;
use locdiff::AnswerTargets;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print one JSON object per photo instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Print all details of each photo, even for more than 10 photos
    #[arg(long, conflicts_with = "json")]
    pub(crate) details: bool,
    /// Write a table with one row per photo
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Write locations with 50 and 90 % regions (up to 200 photos); a folder gets one file per photo
    #[arg(long, value_name = "FILE.geojson")]
    geojson: Option<PathBuf>,
    /// Write a KML file for Google Earth
    #[arg(long, value_name = "FILE.kml")]
    kml: Option<PathBuf>,
    /// Write waypoints for navigation programs: GPS tags and answers, without guesses
    #[arg(long, value_name = "FILE.gpx")]
    gpx: Option<PathBuf>,
    /// Write a page with a map: one file that works offline; a folder gets one file per photo
    #[arg(long, value_name = "FILE.html")]
    pub(crate) map: Option<PathBuf>,
    /// Write a map as a picture; a folder gets one file per photo
    #[arg(long, value_name = "FILE.png")]
    png: Option<PathBuf>,
    /// Write probabilities in cells of 0.25° as GeoTIFF; a folder (ending in /) gets one file per photo
    #[arg(long, value_name = "FILE.tif")]
    geotiff: Option<PathBuf>,
    /// Write an animation of one photo's sampling, from noise to the answer
    #[arg(long, value_name = "FILE.gif")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tags: TagArgs,
}

impl OutputArgs {
    /// Where answers go.
    pub(crate) fn targets(&self) -> AnswerTargets {
        let mut targets = AnswerTargets::default();
        let AnswerTargets { csv, geojson, kml, gpx, map, png, geotiff, trace, .. } = &mut targets;
        [*csv, *geojson, *kml, *gpx, *map, *png, *geotiff, *trace] =
            [&self.csv, &self.geojson, &self.kml, &self.gpx, &self.map, &self.png, &self.geotiff, &self.trace]
                .map(Clone::clone);
        targets
    }

    /// How many photos maps show, each with a small picture of it.
    pub(crate) fn thumbnails(&self, count: usize) -> usize {
        if self.map.is_some() || self.png.is_some() { count } else { 0 }
    }

    /// Whether the outputs can be written for so many photos in these files, before any work is done.
    pub(crate) fn check(&self, count: usize, photos: &[&Path]) -> Result<()> {
        if let Some(path) = self.geotiff.as_ref().filter(|path| !AnswerTargets::is_folder(path) && count > 1) {
            let path = path.display();
            bail!("--geotiff {path}: one file cannot hold {count} photos; name a folder: --geotiff {path}/");
        }
        if let Some(path) = &self.trace {
            let end = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
            ensure!(
                output::is_stdout(path) || end.as_deref() == Some("gif"),
                "--trace {}: name a .gif file",
                path.display()
            );
            ensure!(count == 1, "--trace {}: it shows one photo, but there are {count}", path.display());
        }
        let targets = [&self.geojson, &self.kml, &self.map, &self.png, &self.geotiff].into_iter().flatten();
        let targets = targets.map(PathBuf::as_path);
        let (folders, files): (Vec<&Path>, Vec<&Path>) = targets.partition(|path| AnswerTargets::is_folder(path));
        let own =
            [&self.csv, &self.gpx, &self.trace].into_iter().filter_map(|path| path.as_deref()).chain(self.tags.table());
        let outputs: Vec<&Path> = files.into_iter().chain(own).collect();
        let own = [&self.csv, &self.geojson, &self.kml, &self.map, &self.png, &self.geotiff];
        self.tags.claim(&outputs, ("csv geojson kml map png geotiff", &own), photos, self.json)?;
        let folders = folders.into_iter().filter(|_| !self.tags.dry_run);
        folders.into_iter().try_for_each(output::claim_folder)
    }
}
