//! Making a gallery's folder.

use crate::gallery::folder::{CODES_FILE, Checksums, Description, GALLERY_FILE, INDEX_FILE, VECTORS_FILE, VERSION};
use crate::gallery::quantised::{QuantisedQuery, quantise_row};
use crate::gallery::{GalleryError, Kind, Result, VectorType, cells::Cells};
use locdiff_base::{AtomicFile, OutputLock, ensure, setting};
use locdiff_io::data::{Fingerprint, RowFile};
use locdiff_shdd::sphere::LatLon;
use rayon::prelude::*;
use std::{io::BufWriter, io::ErrorKind, io::Write, path::Path, path::PathBuf};

/// Rows that are made and written at a time: memory stays at one block.
const BLOCK: usize = 2048;

/// Makes a gallery from places and a vector for each; vectors are asked for in blocks, in the gallery's own order.
#[derive(Debug, Clone)]
pub struct GalleryBuilder {
    /// What the vectors are.
    pub kind: Kind,
    /// Numbers of a vector.
    pub dimension: usize,
    /// The number type they are kept in.
    pub vectors: VectorType,
    /// A hash of what the gallery is made from.
    pub key: String,
    /// Subtracted from every vector (and later from queries) before it is brought to length 1; empty for nothing.
    pub mean: Vec<f32>,
    /// The encoder that made the vectors, where it is known.
    pub encoder: Option<Fingerprint>,
}

impl GalleryBuilder {
    /// For a gallery of photos whose embeddings a file holds.
    pub fn of_photos(embeddings: &RowFile, vectors: VectorType) -> Self {
        let (dimension, encoder) = (embeddings.columns(), embeddings.encoder().cloned());
        Self { kind: Kind::Photos, dimension, vectors, key: String::new(), mean: Vec::new(), encoder }
    }

    /// Writes the folder with row k of `embeddings` for place k; `progress` gets how many rows were read each time.
    /// Fails as [`GalleryBuilder::build`] does, or if the file cannot be read. Panics if there are more places than rows.
    pub fn build_from_rows(
        &self,
        folder: &Path,
        places: &[LatLon],
        embeddings: &RowFile,
        mut progress: impl FnMut(usize),
    ) -> Result<()> {
        self.build(folder, places, |rows, values| {
            for (value, row) in values.chunks_exact_mut(self.dimension).zip(rows) {
                embeddings.read_row(*row as usize, value)?;
            }
            progress(rows.len());
            Ok(())
        })
    }

    /// Writes the folder. `fill` writes the vectors of the given rows of `places` one after the other; they need not have
    /// length 1. Fails for no places, a vector without a direction, a failure of `fill`, or a folder that cannot be
    /// written. There is no gallery then, and a former one in the folder is gone.
    pub fn build(
        &self,
        folder: &Path,
        places: &[LatLon],
        mut fill: impl FnMut(&[u32], &mut [f32]) -> Result<()>,
    ) -> Result<()> {
        let dimension = self.dimension;
        ensure!(!places.is_empty(), GalleryError::Empty);
        ensure!((1..=QuantisedQuery::MOST_NUMBERS).contains(&dimension), setting("dimension", dimension, "1 to 8192"));
        std::fs::create_dir_all(folder).map_err(|error| GalleryError::folder(folder, error))?;
        let _lock = OutputLock::folder(folder)?;
        match std::fs::remove_file(folder.join(GALLERY_FILE)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(GalleryError::folder(folder, error)),
            _ => {}
        }
        let cells = Cells::new(places);
        let create = |name: &str| Summed::create(folder.join(name));
        let (mut index, mut codes, mut vectors) = (create(INDEX_FILE)?, create(CODES_FILE)?, create(VECTORS_FILE)?);
        let mut values = Vec::new();
        for block in cells.entries().chunks(BLOCK) {
            let rows: Vec<u32> = block.iter().map(|entry| entry.row).collect();
            values.resize(rows.len() * dimension, 0.0_f32);
            fill(&rows, &mut values)?;
            let pack = |(vector, row): (&mut [f32], &u32)| {
                unit(vector, &self.mean).ok_or(GalleryError::NoDirection { row: *row as usize + 1 })?;
                let mut full = Vec::with_capacity(dimension * self.vectors.bytes());
                self.vectors.push(vector, &mut full);
                // The bound is about the vector as it is kept.
                self.vectors.decode(&full, vector);
                let mut code = vec![0_i8; dimension];
                let bound = quantise_row(vector, &mut code);
                Result::Ok((bound, code.iter().map(|value| *value as u8).collect::<Vec<u8>>(), full))
            };
            let packed: Vec<_> = values.par_chunks_exact_mut(dimension).zip(&rows).map(pack).collect::<Result<_>>()?;
            for (entry, (bound, code, full)) in block.iter().zip(packed) {
                index.write_all(&entry.to_bytes())?;
                index.write_all(&bound.to_bytes())?;
                codes.write_all(&code)?;
                vectors.write_all(&full)?;
            }
        }
        let checksums = Checksums { index: index.finish()?, codes: codes.finish()?, vectors: vectors.finish()? };
        let Self { kind, key, mean, encoder, .. } = self.clone();
        let (version, rows, vectors, checksums) = (VERSION, places.len(), self.vectors, Some(checksums));
        let description = Description { version, kind, rows, dimension, vectors, key, mean, encoder, checksums };
        let text = serde_json::to_string(&description).expect("a description is plain data");
        Ok(AtomicFile::write_whole(&folder.join(GALLERY_FILE), text.as_bytes())?)
    }
}

/// A file whose CRC-32 is taken as it is written.
struct Summed {
    path: PathBuf,
    file: BufWriter<AtomicFile>,
    sum: crc32fast::Hasher,
}

impl Summed {
    fn create(path: PathBuf) -> Result<Self> {
        Ok(Self { file: BufWriter::new(AtomicFile::create(&path)?), path, sum: crc32fast::Hasher::new() })
    }

    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.sum.update(bytes);
        self.file.write_all(bytes).map_err(|error| GalleryError::folder(&self.path, error))
    }

    fn finish(self) -> Result<u32> {
        let file = self.file.into_inner().map_err(|error| GalleryError::folder(&self.path, error.into_error()))?;
        file.commit()?;
        Ok(self.sum.finalize())
    }
}

/// Subtracts the mean and brings a vector to length 1; `None` where it has no direction.
pub(crate) fn unit(vector: &mut [f32], mean: &[f32]) -> Option<()> {
    vector.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if !(length > 1e-30 && length.is_finite()) {
        return None;
    }
    vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
    Some(())
}
