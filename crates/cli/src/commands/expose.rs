//! `locdiff expose`: what gives the location of a photo away, and copies without location metadata.

use crate::{output, request::GalleryArgs, request::ModelArgs, request::open, say};
use anyhow::{Result, ensure};
use clap::Args;
use locdiff::{LocateOptions, Locator};
use locdiff_io::tags::{LocationFinding, LocationScrub, Overwrite, copy_paths};
use locdiff_vision::sources::Photos;
use std::{io::Write, path::Path, path::PathBuf};

#[derive(Debug, Args)]
pub(crate) struct Expose {
    /// Photos and videos: files, folders, .csv with a column of paths, @list.txt
    #[arg(value_name = "PHOTOS", required = true)]
    photos: Vec<PathBuf>,
    /// Write copies without location metadata into a folder, with the same pixels, and check them
    #[arg(long, value_name = "FOLDER")]
    clean: Option<PathBuf>,
    /// Paint over text in the copies: text that names places, or all text; such copies are new JPEG files
    #[arg(long, value_name = "WHICH", value_parser = ["places", "all"], requires = "clean")]
    cover: Option<String>,
    /// Check only the metadata, not the picture
    #[arg(long, conflicts_with_all = ["cover", "parts", "gallery"])]
    tags_only: bool,
    /// Also show which parts of the picture give the location away
    #[arg(long)]
    parts: bool,
    /// Print one JSON object per file instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    gallery: GalleryArgs,
}

impl Expose {
    pub(crate) fn run(self) -> Result<()> {
        let (files, asked) = (Photos::media_files(&self.photos)?, LocateOptions::default());
        let mut options = self.model.options();
        (options.gallery, options.geoclip) = (self.gallery.gallery, self.gallery.geoclip);
        let locator = if self.tags_only { None } else { Some(open(&options, &asked)?) };
        let look = |file: &Path| -> Result<()> {
            let by_tags = || Locator::exposure_by_tags(file);
            let found = locator.as_ref().map_or_else(by_tags, |locator| locator.exposure(file, self.parts, &asked))?;
            Ok(output::Out.write_all(LocationFinding::report(file, &found, self.json).as_bytes())?)
        };
        let cover = locator.as_ref().zip(self.cover.map(|which| which == "all"));
        let clean = |file: &Path, copy: &Path| -> Result<()> {
            output::finish_files();
            let covered = cover.map_or(Ok(None), |(locator, all)| locator.covered(file, all, &asked))?;
            let overwrite = if output::is_forced() { Overwrite::FORCE } else { Overwrite::NEVER };
            look(&LocationScrub::read(file)?.write_clean(file, copy, overwrite, covered.as_deref())?)
        };
        self.clean.as_deref().map_or(Ok(()), output::check_folder)?;
        let copies = self.clean.map(|folder| copy_paths(&self.photos, &files, &folder)).unwrap_or_default();
        let mut bad = 0;
        for (k, file) in files.iter().enumerate() {
            let done = look(file).and_then(|()| copies.get(k).map_or(Ok(()), |copy| clean(file, copy)));
            bad += usize::from(done.inspect_err(|error| say::error(&format!("{error:#}"))).is_err());
        }
        ensure!(bad == 0, "{bad} of {} files cannot be read or cleaned: see above", files.len());
        Ok(())
    }
}
