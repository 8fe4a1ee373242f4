//! A gallery beside the model, as commands use it: LocDiff+kNN.

use crate::hybrid::{PHOTO_LIST, open_retriever};
use anyhow::{Context, Result};
use clap::Args;
use locdiff::{Answer, Device, MOST_NEIGHBOURS, Observation, Retriever, check_embeddings, neighbours};
use locdiff_data::{Fingerprint, TableReader};
use std::path::{Path, PathBuf};

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Gallery")]
pub(crate) struct GalleryArgs {
    /// Mix the model's density with a gallery's (LocDiff+kNN): a folder by `gallery build`, or, with --gallery-geoclip, a file of
    /// places; how much it counts is fitted by `calibrate --gallery`
    #[arg(long, value_name = "GALLERY")]
    pub(crate) gallery: Option<PathBuf>,
    /// GeoCLIP's folder, where the gallery's vectors are GeoCLIP's
    #[arg(long, value_name = "FOLDER", requires = "gallery")]
    gallery_geoclip: Option<PathBuf>,
}

impl GalleryArgs {
    /// The gallery, where one is given, for embeddings of so many numbers.
    pub(crate) fn open(
        &self,
        columns: usize,
        encoder: Option<&Fingerprint>,
        device: &Device,
    ) -> Result<Option<Box<dyn Retriever>>> {
        let Some(path) = &self.gallery else { return Ok(None) };
        let retriever = open_retriever(path, self.gallery_geoclip.as_deref(), device).context("--gallery")?;
        check_embeddings("the model", columns, encoder, retriever.as_ref())?;
        Ok(Some(retriever))
    }
}

/// Finds what a gallery has for photos.
pub(crate) fn observe(retriever: &dyn Retriever, photos: &mut [Observation]) -> Result<()> {
    let embeddings: Vec<Vec<f32>> = photos.iter().map(|seen| seen.embedding.clone()).collect();
    let found = retriever.retrieve_many(&embeddings, MOST_NEIGHBOURS)?;
    for (seen, hits) in photos.iter_mut().zip(found) {
        seen.neighbours = neighbours(&hits);
    }
    Ok(())
}

/// The names of a gallery's photos, where its folder has a list of them.
#[derive(Default)]
pub(crate) struct PhotoNames(Vec<String>);

impl PhotoNames {
    pub(crate) fn of(gallery: Option<&Path>) -> Result<Self> {
        let list = gallery.map(|folder| folder.join(PHOTO_LIST)).filter(|list| list.is_file());
        let Some(list) = list else { return Ok(Self::default()) };
        let mut table = TableReader::open(&list)?;
        let at = table.column(&["path"])?;
        let mut names = Vec::new();
        while let Some((_, mut fields)) = table.next_row()? {
            names.push(fields.swap_remove(at));
        }
        Ok(Self(names))
    }

    /// Names the photo that matched.
    pub(crate) fn complete(&self, answer: &mut Answer) {
        if let Some(found) = answer.gallery.as_mut().and_then(|word| word.matched.as_mut()) {
            found.name = self.0.get(found.row - 1).cloned();
        }
    }
}
