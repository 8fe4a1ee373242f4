//! Photos or embeddings, a block at a time.

use crate::hybrid::OpenHybrid;
use crate::photos::PhotoArgs;
use crate::sampling::check_columns;
use anyhow::Result;
use locdiff::{EmbeddedPhoto, LocateError, LocateOptions, Locator};
use locdiff_data::{Fingerprint, RowFile};
use locdiff_ingest::{PhotoStream, ReadPhoto};
use std::path::{Path, PathBuf};

/// The longer side of a thumbnail, in pixels.
const THUMBNAIL_SIDE: u32 = 160;
/// No thumbnail is larger.
const THUMBNAIL_BYTES: usize = 20_000;

/// What is to be located, and how far it is done.
pub(crate) enum Inputs {
    Photos { files: Vec<PathBuf>, stream: PhotoStream, next: usize, with_thumbnails: bool },
    Embeddings { file: RowFile, next: usize },
}

/// Where a photo comes from.
pub(crate) struct Input {
    /// Its number, from 0.
    pub(crate) row: usize,
    /// Its path, or "row 7".
    pub(crate) name: String,
    /// The file itself, where it is a file of its own.
    pub(crate) path: Option<PathBuf>,
    /// A small JPEG of it, where a map wants one.
    pub(crate) thumbnail: Option<Vec<u8>>,
}

/// Photos with their embeddings, or why they have none.
pub(crate) type Block = Vec<(Input, Result<EmbeddedPhoto, LocateError>)>;

impl Inputs {
    pub(crate) fn photos(arguments: &[PathBuf], reading: &PhotoArgs) -> Result<Self> {
        let photos = reading.gather(arguments)?;
        let files = photos.sources().iter().map(|source| source.path().to_owned()).collect();
        let stream = photos.into_stream(reading.limits());
        Ok(Self::Photos { files, stream, next: 0, with_thumbnails: false })
    }

    pub(crate) fn embeddings(path: &Path, tensor: Option<&str>) -> Result<Self> {
        Ok(Self::Embeddings { file: RowFile::open(path, tensor)?, next: 0 })
    }

    /// Makes thumbnails of the photos, too.
    pub(crate) fn make_thumbnails(&mut self) {
        if let Self::Photos { with_thumbnails, .. } = self {
            *with_thumbnails = true;
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Photos { files, .. } => files.len(),
            Self::Embeddings { file, .. } => file.rows(),
        }
    }

    /// The files that no output may overwrite.
    pub(crate) fn files(&self) -> Vec<&Path> {
        match self {
            Self::Photos { files, .. } => files.iter().map(PathBuf::as_path).collect(),
            Self::Embeddings { .. } => Vec::new(),
        }
    }

    /// Whether embeddings fit the model.
    pub(crate) fn check(&self, locator: &Locator) -> Result<()> {
        match self {
            Self::Embeddings { file, .. } => check_columns(file, locator.model().config()),
            Self::Photos { .. } => Ok(()),
        }
    }

    /// The encoder that makes or made the embeddings, where that is known.
    pub(crate) fn encoder<'a>(&'a self, locator: &'a Locator) -> Option<&'a Fingerprint> {
        match self {
            Self::Embeddings { file, .. } => file.encoder(),
            Self::Photos { .. } => locator.encoder().map(|encoder| &**encoder.fingerprint()),
        }
    }

    /// The next photos, embedded; `None` after the last. `taken` is called after each.
    pub(crate) fn next_block(
        &mut self,
        locator: &Locator,
        options: &LocateOptions,
        hybrid: Option<&OpenHybrid>,
        stopped: impl Fn() -> bool + Sync,
        taken: impl Fn() + Sync,
    ) -> Result<Option<Block>> {
        let most = locator.photos_per_block();
        let mut block = Block::new();
        match self {
            Self::Embeddings { file, next } => {
                for row in *next..(*next + most).min(file.rows()) {
                    let name = format!("row {}", row + 1);
                    let mut photo = EmbeddedPhoto::from(file.embedding(row)?).with_name(&*name);
                    if let Some(own) = hybrid.map(|hybrid| hybrid.own_embedding(row)).transpose()?.flatten() {
                        photo = photo.with_retrieval(own);
                    }
                    block.push((Input { row, name, path: None, thumbnail: None }, Ok(photo)));
                    taken();
                }
                *next += block.len();
            }
            Self::Photos { stream, next, with_thumbnails, .. } => {
                let embed = |ReadPhoto { source, photo }| {
                    if stopped() {
                        return None;
                    }
                    let small = |photo: &locdiff::Photo| photo.thumbnail(THUMBNAIL_SIDE, THUMBNAIL_BYTES);
                    let thumbnail = photo.as_ref().ok().filter(|_| *with_thumbnails).and_then(small);
                    let embedded = photo
                        .map_err(LocateError::from)
                        .and_then(|photo| Ok(locator.embed(&photo, options)?.with_name(source.name())));
                    taken();
                    let (name, path) = (source.name().to_owned(), source.file_path().map(Path::to_owned));
                    Some((Input { row: 0, name, path, thumbnail }, embedded))
                };
                for (mut input, embedded) in stream.work_on(most, embed).into_iter().map_while(|done| done) {
                    input.row = *next;
                    block.push((input, embedded));
                    *next += 1;
                }
            }
        }
        Ok((!block.is_empty()).then_some(block))
    }
}
