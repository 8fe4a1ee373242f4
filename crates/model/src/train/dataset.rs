//! Embeddings with locations, read row by row.

use crate::{Standardisation, chance, report::places_of_rows, train::Result, train::TrainError};
use locdiff_base::setting;
use locdiff_io::data::{Embedding, Fingerprint, RowFile, tensor_names};
use locdiff_shdd::sphere::{LatLon, UnitVec};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Rows that one task reads in a pass over a file; fixed, so that sums do not depend on the number of threads.
const BLOCK: usize = 2048;

/// An embedding file, and the tensor of a safetensors file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingSource {
    /// The file.
    pub path: PathBuf,
    /// The tensor; the only one where absent.
    pub tensor: Option<String>,
}

impl EmbeddingSource {
    /// A file's photos, then their other copies: each a file, or else a tensor of the same file.
    pub fn with_copies(path: &Path, tensor: Option<&str>, augmented: &[String]) -> Vec<Self> {
        let own = Self { path: path.to_owned(), tensor: tensor.map(str::to_owned) };
        let others = augmented.iter().map(|name| match PathBuf::from(name) {
            file if file.is_file() => Self { path: file, tensor: None },
            _ => Self { path: path.to_owned(), tensor: Some(name.clone()) },
        });
        std::iter::once(own).chain(others).collect()
    }

    /// The copies that `embed` left in a safetensors file: `augmented_1`, `augmented_2` …. Fails if it cannot be read.
    pub fn copies_in(path: &Path) -> Result<Vec<String>> {
        if !path.extension().is_some_and(|end| end.eq_ignore_ascii_case("safetensors")) {
            return Ok(Vec::new());
        }
        let names = tensor_names(path)?;
        let copies = (1..).map(|k| format!("augmented_{k}"));
        Ok(copies.take_while(|name| names.contains(name)).collect())
    }
}

/// A file and the encoder that made it, where that is known.
type Made<'a> = (&'a str, Option<&'a Fingerprint>);

/// Fails where two files are known to be made by different encoders.
pub(crate) fn same_encoder((first, made_first): Made<'_>, (second, made_second): Made<'_>) -> Result<()> {
    let Some((a, b)) = made_first.zip(made_second).filter(|(a, b)| !a.is_same_encoder(b)) else { return Ok(()) };
    let (first, second) = (first.to_owned(), second.to_owned());
    Err(TrainError::Encoders { first, first_encoder: a.to_string(), second, second_encoder: b.to_string() })
}

pub(crate) fn same_columns((first, columns): (&str, usize), (second, others): (&str, usize)) -> Result<()> {
    let (first, second) = (first.to_owned(), second.to_owned());
    let differ = TrainError::Columns { first, first_columns: columns, second, second_columns: others };
    if columns == others { Ok(()) } else { Err(differ) }
}

/// Embeddings of photos, several copies of each where there are any, with the photos' locations.
#[derive(Debug)]
pub struct Dataset {
    columns: usize,
    copies: Vec<Copy>,
    places: Vec<LatLon>,
}

#[derive(Debug)]
enum Copy {
    File(RowFile),
    Memory(Vec<f32>),
}

impl Dataset {
    /// Opens embedding files (the first is the photo itself, the others augmented copies) and the file of locations, whose rows are
    /// found by name if both name their photos ([`places_of_rows`]).
    /// Fails on files that cannot be read, are empty, or differ in rows or columns.
    pub fn open(sources: &[EmbeddingSource], locations: &Path) -> Result<Self> {
        let open = |source: &EmbeddingSource| RowFile::open(&source.path, source.tensor.as_deref());
        let copies = sources.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = copies.first() else { return Err(setting("embeddings", "none", "give at least one file")) };
        for other in &copies[1..] {
            same_rows(first, other.name(), other.rows())?;
            same_columns((first.name(), first.columns()), (other.name(), other.columns()))?;
            same_encoder((first.name(), first.encoder()), (other.name(), other.encoder()))?;
        }
        let (places, _) = places_of_rows::<TrainError>(&sources[0].path, first.rows(), locations)?;
        same_rows(first, &locations.display().to_string(), places.len())?;
        let columns = first.columns();
        Ok(Self { columns, copies: copies.into_iter().map(Copy::File).collect(), places })
    }

    /// Embeddings that are in memory already: each copy row by row, the photos themselves first.
    /// Fails if there are no photos, no copies, or a number of values that does not fit.
    pub fn in_memory(columns: usize, copies: Vec<Vec<f32>>, places: Vec<LatLon>) -> Result<Self> {
        if places.is_empty() || columns == 0 || copies.is_empty() {
            return Err(setting("embeddings", "none", "give at least one photo"));
        }
        if let Some(copy) = copies.iter().find(|copy| copy.len() != columns * places.len()) {
            let remedy = format!("{} photos of {columns} numbers each", places.len());
            return Err(setting("embeddings", format!("{} numbers", copy.len()), remedy));
        }
        Ok(Self { columns, copies: copies.into_iter().map(Copy::Memory).collect(), places })
    }

    /// Number of photos.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no photo; never true for a data set that was opened.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Size of an embedding.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Copies of each photo's embedding, itself included.
    pub fn copies(&self) -> usize {
        self.copies.len()
    }

    /// Whether every number of every copy is an f16.
    pub fn is_half(&self) -> bool {
        self.copies.iter().all(|copy| matches!(copy, Copy::File(file) if file.is_half()))
    }

    /// The locations.
    pub fn places(&self) -> &[LatLon] {
        &self.places
    }

    /// The encoder that made the embeddings, where their file says so.
    pub fn encoder(&self) -> Option<&Fingerprint> {
        if let Some(Copy::File(file)) = self.copies.first() { file.encoder() } else { None }
    }

    /// Reads one copy of one photo's embedding. Fails if the file cannot be read.
    pub fn read(&self, row: usize, copy: usize, out: &mut [f32]) -> Result<()> {
        match &self.copies[copy] {
            Copy::File(file) => Ok(file.read_row(row, out)?),
            Copy::Memory(values) => {
                let _: () = out.copy_from_slice(&values[row * self.columns..(row + 1) * self.columns]);
                Ok(())
            }
        }
    }

    /// The first copy of one photo's embedding. Fails if the file cannot be read, or a number is not finite.
    pub fn embedding(&self, row: usize) -> Result<Embedding> {
        let mut values = vec![0.0; self.columns];
        self.read(row, 0, &mut values)?;
        Ok(Embedding::new(values, None)?)
    }

    /// One pass over the given rows of all copies: mean and deviation of every column, and a hash of everything.
    /// Fails on a row that holds NaN or infinity, named; or a file that fails.
    pub fn survey(&self, rows: &[u32]) -> Result<(Standardisation, String)> {
        let columns = self.columns();
        struct Part {
            sum: Vec<f64>,
            square: Vec<f64>,
            hash: u64,
        }
        let survey = |(copy, block): (usize, &[u32])| {
            let mut part = Part { sum: vec![0.0; columns], square: vec![0.0; columns], hash: 0 };
            let mut row = vec![0.0_f32; columns];
            for index in block.iter().map(|&index| index as usize) {
                self.read(index, copy, &mut row)?;
                for (k, value) in row.iter().enumerate() {
                    let exact = f64::from(*value);
                    part.sum[k] += exact;
                    part.square[k] += exact * exact;
                    part.hash = (part.hash ^ u64::from(value.to_bits())).wrapping_mul(0x0100_0000_01B3);
                }
                let place = self.places[index];
                part.hash = chance::hash(&[part.hash, place.lat_deg().to_bits(), place.lon_deg().to_bits()]);
            }
            Ok(part)
        };
        let blocks = (0..self.copies.len()).flat_map(|copy| rows.chunks(BLOCK).map(move |block| (copy, block)));
        let parts = blocks.collect::<Vec<_>>().into_par_iter().map(survey).collect::<Result<Vec<_>>>()?;
        let count = (self.copies.len() * rows.len()) as f64;
        let (mut mean, mut square) = (vec![0.0; columns], vec![0.0; columns]);
        let mut hash = chance::hash(&[rows.len() as u64, columns as u64, self.copies.len() as u64]);
        for part in parts {
            mean.iter_mut().zip(&part.sum).for_each(|(m, s)| *m += s / count);
            square.iter_mut().zip(&part.square).for_each(|(m, s)| *m += s / count);
            hash = chance::hash(&[hash, part.hash]);
        }
        let deviation = |(m, s): (&f64, &f64)| (((s - m * m).max(0.0)).sqrt() + 1e-6) as f32;
        let deviation = mean.iter().zip(&square).map(deviation).collect();
        let mean = mean.iter().map(|m| *m as f32).collect();
        Ok((Standardisation { mean, deviation }, format!("{hash:016x}")))
    }
}

fn same_rows(file: &RowFile, name: &str, second_rows: usize) -> Result<()> {
    let (first, first_rows, second) = (file.name().to_owned(), file.rows(), name.to_owned());
    let differ = TrainError::RowCounts { first, first_rows, second, second_rows };
    if first_rows == second_rows { Ok(()) } else { Err(differ) }
}

/// Some rows of a data set, to train on or to validate with.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// The data.
    pub data: &'a Dataset,
    /// The rows.
    pub rows: &'a [u32],
}

impl Rows<'_> {
    /// The rows' locations as unit vectors.
    pub fn points(&self) -> Vec<UnitVec> {
        self.rows.iter().map(|&row| self.data.places[row as usize].to_unit()).collect()
    }
}
