//! What is to be located: photos, or rows of a file of embeddings.

use crate::photos::PhotoArgs;
use anyhow::{Result, ensure};
use locdiff::{Locator, Source, parts::check_rows};
use locdiff_data::RowFile;
use locdiff_ingest::Photos;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) enum Inputs {
    Photos(Photos),
    Embeddings { file: Arc<RowFile>, retrieval: Option<Arc<RowFile>> },
}

impl Inputs {
    pub(super) fn photos(arguments: &[PathBuf], reading: &PhotoArgs) -> Result<Self> {
        Ok(Self::Photos(reading.gather(arguments)?))
    }

    /// Embeddings, and those for the retrieval, where it has its own.
    pub(super) fn embeddings(
        (path, tensor): (&Path, Option<&str>),
        retrieval: Option<(&Path, Option<&str>)>,
    ) -> Result<Self> {
        let file = Arc::new(RowFile::open(path, tensor)?);
        let retrieval = retrieval.map(|(path, tensor)| RowFile::open(path, tensor)).transpose()?;
        if let Some(own) = &retrieval {
            ensure!(
                own.rows() == file.rows(),
                "{} has {} rows, {} has {}: row k of both must be the same photo",
                own.name(),
                own.rows(),
                file.name(),
                file.rows()
            );
        }
        Ok(Self::Embeddings { file, retrieval: retrieval.map(Arc::new) })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Photos(photos) => photos.sources().len(),
            Self::Embeddings { file, .. } => file.rows(),
        }
    }

    /// The files that no output may overwrite.
    pub(super) fn files(&self) -> Vec<&Path> {
        match self {
            Self::Photos(photos) => photos.sources().iter().map(locdiff_ingest::PhotoSource::path).collect(),
            Self::Embeddings { .. } => Vec::new(),
        }
    }

    /// Whether they fit the model, and its gallery.
    pub(super) fn check(&self, locator: &Locator) -> Result<()> {
        let model = locator.model().config();
        let own = locator.encoder().map(|encoder| &**encoder.fingerprint());
        let (name, columns, encoder) = match self {
            Self::Photos(_) => ("the encoder", model.embedding_dim, own),
            Self::Embeddings { file, retrieval } => {
                check_rows(file, model)?;
                let file = retrieval.as_ref().unwrap_or(file);
                (file.name(), file.columns(), file.encoder())
            }
        };
        match locator.hybrid() {
            Some(hybrid) => Ok(hybrid.check_embeddings(name, columns, encoder)?),
            None => Ok(()),
        }
    }

    pub(super) fn into_sources(self) -> Box<dyn Iterator<Item = Source> + Send> {
        match self {
            Self::Photos(photos) => Box::new(photos.into_sources().into_iter().map(Source::from)),
            Self::Embeddings { file, retrieval } => {
                Box::new((0..file.rows()).map(move |row| Source::row(&file, row, retrieval.as_ref())))
            }
        }
    }
}
