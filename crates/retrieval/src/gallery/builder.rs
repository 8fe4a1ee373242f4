//! Making a gallery's folder.

use crate::gallery::folder::{CODES_FILE, Checksums, Description, GALLERY_FILE, INDEX_FILE, VECTORS_FILE, VERSION};
use crate::gallery::quantised::{QuantisedQuery, quantise_row};
use crate::gallery::{GalleryError, Kind, Result, VectorType, cells::Cells};
use locdiff_base::{AtomicFile, OutputLock, setting};
use locdiff_io::data::{Fingerprint, RowFile};
use locdiff_shdd::sphere::LatLon;
use rayon::prelude::*;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Rows that are made and written at a time: memory stays at one block.
const BLOCK: usize = 2048;

/// Makes a gallery from places and a vector for each; vectors are asked for in blocks, in the gallery's own order.
///
/// ```
/// use locdiff_retrieval::gallery::{Gallery, GalleryBuilder, Kind, VectorType};
/// use locdiff_shdd::sphere::LatLon;
/// let places = [LatLon::new(48.9, 2.4)?, LatLon::new(-12.0, -77.0)?];
/// let vectors = [[1.0, 0.0], [0.6, 0.8]];
/// let folder = tempfile::tempdir().unwrap();
/// GalleryBuilder { kind: Kind::Photos, dimension: 2, vectors: VectorType::F32, key: String::new(), mean: Vec::new(), encoder: None }
///     .build(folder.path(), &places, |rows, out| {
///         for (out, row) in out.chunks_exact_mut(2).zip(rows) {
///             out.copy_from_slice(&vectors[*row as usize]);
///         }
///         Ok(())
///     })?;
/// let gallery = Gallery::open(folder.path())?;
/// let best = gallery.search(&[0.0, 3.0], None, 1)?[0];
/// assert_eq!(best.row, 1);
/// assert!((best.score - 0.8).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        Self {
            kind: Kind::Photos,
            dimension: embeddings.columns(),
            vectors,
            key: String::new(),
            mean: Vec::new(),
            encoder: embeddings.encoder().cloned(),
        }
    }

    /// Writes the folder with row k of `embeddings` for place k; `progress` is told how many rows were read each time.
    /// Fails as [`GalleryBuilder::build`] does, or if the file cannot be read.
    ///
    /// # Panics
    /// When there are more places than rows.
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
        if places.is_empty() {
            return Err(GalleryError::Empty);
        }
        if !(1..=QuantisedQuery::MOST_NUMBERS).contains(&dimension) {
            return Err(setting("dimension", dimension, "1 to 8192"));
        }
        let failed = |path: &Path, error: std::io::Error| GalleryError::Folder {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        let _lock = OutputLock::folder(folder)?;
        match std::fs::remove_file(folder.join(GALLERY_FILE)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(folder, error)),
            _ => {}
        }
        let cells = Cells::new(places);
        let create = |name: &str| AtomicFile::create(&folder.join(name)).map(Summed::new);
        let (mut index, mut codes, mut vectors) = (create(INDEX_FILE)?, create(CODES_FILE)?, create(VECTORS_FILE)?);
        let mut values = Vec::new();
        for block in cells.entries().chunks(BLOCK) {
            let rows: Vec<u32> = block.iter().map(|entry| entry.row).collect();
            values.resize(rows.len() * dimension, 0.0_f32);
            fill(&rows, &mut values)?;
            let written: Vec<_> = values
                .par_chunks_exact_mut(dimension)
                .zip(&rows)
                .map(|(vector, row)| {
                    unit(vector, &self.mean).ok_or(GalleryError::NoDirection { row: *row as usize + 1 })?;
                    let mut full = Vec::with_capacity(dimension * self.vectors.bytes());
                    self.vectors.push(vector, &mut full);
                    // The bound is about the vector as it is kept.
                    self.vectors.decode(&full, vector);
                    let mut code = vec![0_i8; dimension];
                    let bound = quantise_row(vector, &mut code);
                    Ok((bound, code.iter().map(|value| *value as u8).collect::<Vec<u8>>(), full))
                })
                .collect::<Result<_>>()?;
            for (entry, (bound, code, full)) in block.iter().zip(written) {
                let row = index.write_all(&entry.to_bytes()).and_then(|()| index.write_all(&bound.to_bytes()));
                row.map_err(|error| failed(&folder.join(INDEX_FILE), error))?;
                codes.write_all(&code).map_err(|error| failed(&folder.join(CODES_FILE), error))?;
                vectors.write_all(&full).map_err(|error| failed(&folder.join(VECTORS_FILE), error))?;
            }
        }
        let finish = |file: Summed, name: &str| {
            let (file, sum) = file.finish().map_err(|error| failed(&folder.join(name), error))?;
            file.commit()?;
            Result::Ok(sum)
        };
        let checksums = Checksums {
            index: finish(index, INDEX_FILE)?,
            codes: finish(codes, CODES_FILE)?,
            vectors: finish(vectors, VECTORS_FILE)?,
        };
        let description = Description {
            version: VERSION,
            kind: self.kind,
            rows: places.len(),
            dimension,
            vectors: self.vectors,
            key: self.key.clone(),
            mean: self.mean.clone(),
            encoder: self.encoder.clone(),
            checksums: Some(checksums),
        };
        let text = serde_json::to_string(&description).expect("a description is plain data");
        Ok(AtomicFile::write_whole(&folder.join(GALLERY_FILE), text.as_bytes())?)
    }
}

/// A file whose CRC-32 is taken as it is written.
struct Summed {
    file: BufWriter<AtomicFile>,
    sum: crc32fast::Hasher,
}

impl Summed {
    fn new(file: AtomicFile) -> Self {
        Self { file: BufWriter::new(file), sum: crc32fast::Hasher::new() }
    }

    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.sum.update(bytes);
        self.file.write_all(bytes)
    }

    fn finish(self) -> std::io::Result<(AtomicFile, u32)> {
        Ok((self.file.into_inner().map_err(std::io::IntoInnerError::into_error)?, self.sum.finalize()))
    }
}

/// Subtracts the mean and brings a vector to length 1; `None` where it has no direction.
pub(crate) fn unit(vector: &mut [f32], mean: &[f32]) -> Option<()> {
    for (value, mean) in vector.iter_mut().zip(mean) {
        *value -= mean;
    }
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if !(length > 1e-30 && length.is_finite()) {
        return None;
    }
    for value in vector.iter_mut() {
        *value = (f64::from(*value) / length) as f32;
    }
    Some(())
}
