//! An album's answers as files.

use crate::{commands::locate::tag_args::TagArgs, output::write_asked};
use anyhow::Result;
use clap::Args;
use locdiff::{AlbumAnswer, AlbumFiles};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct FileArgs {
    /// Print one JSON object per photo instead of text
    #[arg(long)]
    pub(super) json: bool,
    /// Write a table with one row per photo
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Write locations with radii, and the track
    #[arg(long, value_name = "FILE.geojson")]
    geojson: Option<PathBuf>,
    /// Write a KML file for Google Earth
    #[arg(long, value_name = "FILE.kml")]
    kml: Option<PathBuf>,
    /// Write the track with times
    #[arg(long, value_name = "FILE.gpx")]
    gpx: Option<PathBuf>,
    /// Write a map of all photos as a picture
    #[arg(long, value_name = "FILE.png")]
    png: Option<PathBuf>,
    /// Write a page with a map and a time slider: one file that works offline
    #[arg(long, value_name = "FILE.html")]
    pub(super) map: Option<PathBuf>,
    /// Leave thumbnails out of the page of --map
    #[arg(long, requires = "map")]
    pub(super) no_pictures: bool,
}

impl FileArgs {
    fn paths(&self) -> Vec<&Path> {
        let all = [&self.csv, &self.geojson, &self.kml, &self.gpx, &self.png, &self.map];
        all.into_iter().filter_map(|path| path.as_deref()).collect()
    }

    /// Whether the files can be written, before any work is done.
    pub(super) fn check(&self, photos: &[PathBuf], tags: &TagArgs) -> Result<()> {
        let outputs: Vec<&Path> = self.paths().into_iter().chain(tags.table()).collect();
        let own = [&self.csv, &self.geojson, &self.kml, &self.gpx, &self.png, &self.map];
        let photos: Vec<&Path> = photos.iter().map(PathBuf::as_path).collect();
        tags.claim(&outputs, ("csv geojson kml gpx png map", &own), &photos, self.json)
    }

    /// Writes them; returns their names.
    pub(super) fn write(&self, answers: &[AlbumAnswer], pictures: &[Option<&[u8]>]) -> Result<Vec<PathBuf>> {
        let files = AlbumFiles::new("album", answers);
        if let Some(path) = &self.csv {
            files.write_csv(path)?;
        }
        write_asked(self.geojson.as_ref(), || Ok(files.geojson().into_bytes()))?;
        write_asked(self.kml.as_ref(), || Ok(files.kml().into_bytes()))?;
        write_asked(self.gpx.as_ref(), || Ok(files.gpx().into_bytes()))?;
        write_asked(self.png.as_ref(), || Ok(files.png()?))?;
        write_asked(self.map.as_ref(), || Ok(files.html(pictures)))?;
        Ok(self.paths().into_iter().map(Path::to_owned).collect())
    }
}
