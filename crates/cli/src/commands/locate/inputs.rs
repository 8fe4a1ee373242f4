//! Photos or embeddings, a block at a time.

use anyhow::{Result, ensure};
use locdiff::{Locator, Photo, PhotoLimits, Session};
use locdiff_data::RowFile;
use locdiff_ingest::{PhotoStream, Photos, ReadPhoto};
use locdiff_sphere::LatLon;
use std::path::{Path, PathBuf};

/// What is to be located, and how far it is done.
pub(crate) enum Inputs {
    Photos { files: Vec<PathBuf>, stream: PhotoStream, good: u64 },
    Embeddings { file: RowFile, next: usize },
}

/// A block of embeddings, and the photos that gave none.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) names: Vec<String>,
    pub(crate) paths: Vec<Option<PathBuf>>,
    pub(crate) gps: Vec<Option<LatLon>>,
    pub(crate) embeddings: Vec<f32>,
    pub(crate) failures: Vec<String>,
}

impl Inputs {
    pub(crate) fn photos(arguments: &[PathBuf]) -> Result<Self> {
        let photos = Photos::gather(arguments, None)?;
        let files = photos.sources().iter().map(|source| source.path().to_owned()).collect();
        Ok(Self::Photos { files, stream: photos.into_stream(PhotoLimits::default()), good: 0 })
    }

    pub(crate) fn embeddings(path: &Path, tensor: Option<&str>) -> Result<Self> {
        Ok(Self::Embeddings { file: RowFile::open(path, tensor)?, next: 0 })
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
        if let Self::Embeddings { file, .. } = self {
            let wanted = locator.model().config().embedding_dim;
            ensure!(
                file.columns() == wanted,
                "{} has embeddings of {} numbers, the model takes {wanted}: use the encoder it was trained with",
                file.name(),
                file.columns()
            );
        }
        Ok(())
    }

    /// The next block; `None` at the end, or once `stopped`.
    pub(crate) fn next_batch(
        &mut self,
        session: &Session<'_>,
        stopped: impl Fn() -> bool,
    ) -> Result<Option<Batch>> {
        let (most, count) = (session.photos_per_block(), self.count());
        let mut batch = Batch::default();
        match self {
            Self::Embeddings { file, next } => {
                let rows = *next..(*next + most).min(count);
                *next = rows.end;
                batch.embeddings = vec![0.0; rows.len() * file.columns()];
                for (out, row) in batch.embeddings.chunks_exact_mut(file.columns()).zip(rows) {
                    file.read_row(row, out)?;
                    batch.names.push(format!("row {}", row + 1));
                    batch.paths.push(None);
                    batch.gps.push(None);
                }
            }
            Self::Photos { stream, good, .. } => {
                while batch.names.len() < most && !stopped() {
                    let Some(ReadPhoto { source, photo }) = stream.next() else { break };
                    let embedded = photo.map_err(Into::into).and_then(|photo: Photo| {
                        let embedding = session.embed(std::slice::from_ref(&photo), *good)?;
                        Ok::<_, locdiff::LocateError>((embedding, photo.gps()))
                    });
                    match embedded {
                        Ok((embedding, gps)) => {
                            *good += 1;
                            batch.embeddings.extend(embedding);
                            batch.names.push(source.name().to_owned());
                            batch.paths.push(source.file_path().map(Path::to_owned));
                            batch.gps.push(gps);
                        }
                        Err(error) => batch.failures.push(named(source.name(), &error.to_string())),
                    }
                }
            }
        }
        let empty = batch.names.is_empty() && batch.failures.is_empty();
        Ok((!empty).then_some(batch))
    }
}

/// An error that names its file, once.
fn named(name: &str, error: &str) -> String {
    if error.contains(name) { error.to_owned() } else { format!("{name}: {error}") }
}
