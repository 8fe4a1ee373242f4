//! Inputs to locate: photos, or rows of a file of embeddings.

use crate::{Locator, Source, error::Result};
use locdiff_io::data::RowFile;
use locdiff_vision::sources::{PhotoSource, Photos};
use std::{path::Path, sync::Arc};

/// Photos, or embeddings with those for the retrieval if it has its own: sources for
/// [`Locator::locate_all`](crate::Locator::locate_all).
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Inputs {
    Photos(Photos),
    Embeddings { file: Arc<RowFile>, retrieval: Option<Arc<RowFile>> },
}

impl Inputs {
    /// Returns the number of photos or rows.
    pub fn count(&self) -> usize {
        match self {
            Self::Photos(photos) => photos.sources().len(),
            Self::Embeddings { file, .. } => file.rows(),
        }
    }

    /// Returns the files that no output may overwrite.
    pub fn files(&self) -> Vec<&Path> {
        match self {
            Self::Photos(photos) => photos.sources().iter().map(PhotoSource::path).collect(),
            Self::Embeddings { .. } => Vec::new(),
        }
    }

    /// Fails if embeddings do not fit the model or its gallery.
    pub fn check(&self, locator: &Locator) -> Result<()> {
        let model = locator.model().config();
        let own = locator.encoder().map(|encoder| &**encoder.fingerprint());
        let (name, columns, encoder) = match self {
            Self::Photos(_) => ("the encoder", model.embedding_dim, own),
            Self::Embeddings { file, retrieval } => {
                model.check_rows(file)?;
                let file = retrieval.as_ref().unwrap_or(file);
                (file.name(), file.columns(), file.encoder())
            }
        };
        locator.hybrid().map_or(Ok(()), |hybrid| hybrid.check_embeddings(name, columns, encoder))
    }

    /// Returns the sources one by one.
    pub fn into_sources(self) -> Box<dyn Iterator<Item = Source> + Send> {
        match self {
            Self::Photos(photos) => Box::new(photos.into_sources().into_iter().map(Source::from)),
            Self::Embeddings { file, retrieval } => {
                Box::new((0..file.rows()).map(move |row| Source::row(&file, row, retrieval.as_ref())))
            }
        }
    }
}
