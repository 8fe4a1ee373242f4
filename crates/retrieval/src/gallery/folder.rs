//! A gallery's folder: what it is (`gallery.json`), where its rows lie (`index.bin`), their vectors in one byte per number
//! (`codes.bin`) and in full (`vectors.bin`). All rows are in the order of the index.

use crate::gallery::{GalleryError, Result, cells::Entry, quantised::QuantisedQuery, quantised::RowBound};
use half::{f16, slice::HalfFloatSliceExt};
use locdiff_base::{ensure, named, one_line};
use locdiff_io::data::{Fingerprint, PositionedFile};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::{ops::Range, path::Path};

/// The list of a gallery's photos in its folder, where it was made of photos.
pub const PHOTO_LIST: &str = "photos.csv";

/// The file that says what a gallery is; it is written last, so a folder without it is no gallery.
pub const GALLERY_FILE: &str = "gallery.json";
pub(crate) const INDEX_FILE: &str = "index.bin";
pub(crate) const CODES_FILE: &str = "codes.bin";
pub(crate) const VECTORS_FILE: &str = "vectors.bin";

/// The version of the folder's layout.
pub(crate) const VERSION: u32 = 1;
/// Bytes of a row of the index.
pub(crate) const INDEX_ROW: usize = Entry::BYTES + RowBound::BYTES;
/// Larger files are no description: its mean vector has the most numbers.
const LARGEST_FILE_BYTES: u64 = 16 << 20;
/// The checksum of full vectors is compared up to this size; a larger file would take longer to read than to use.
pub(crate) const LARGEST_CHECKED: u64 = 64 << 20;
/// Codes up to this size are held in memory, larger ones are read where they lie.
pub(crate) const LARGEST_IN_MEMORY: u64 = 512 << 20;
/// Bytes that a thread reads or sums at a time.
const PART: usize = 4 << 20;

/// What a gallery's vectors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Embeddings of photos: a query is an embedding by the same encoder.
    Photos,
    /// GeoCLIP's vectors of places: a query is a photo's CLIP features through GeoCLIP's image head.
    Geoclip,
}

named! {
    /// The number type of a gallery's vectors.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum VectorType: "type of the vectors" {
        F16 = "f16", "2 bytes per number; cosines are right to about 1e-5";
        F32 = "f32", "4 bytes per number";
    }
}

impl VectorType {
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
        }
    }

    pub(crate) fn push(self, vector: &[f32], bytes: &mut Vec<u8>) {
        match self {
            Self::F16 => bytes.extend(vector.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes())),
            Self::F32 => bytes.extend(vector.iter().flat_map(|value| value.to_le_bytes())),
        }
    }

    pub(crate) fn decode(self, bytes: &[u8], out: &mut [f32]) {
        match self {
            Self::F16 => {
                let halves: Vec<f16> = bytes.as_chunks().0.iter().map(|b| f16::from_le_bytes(*b)).collect();
                halves.convert_to_f32_slice(out);
            }
            Self::F32 => out.iter_mut().zip(bytes.as_chunks().0).for_each(|(out, b)| *out = f32::from_le_bytes(*b)),
        }
    }
}

/// What `gallery.json` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    pub(crate) version: u32,
    pub(crate) kind: Kind,
    pub(crate) rows: usize,
    pub(crate) dimension: usize,
    pub(crate) vectors: VectorType,
    /// A hash of what it was made from.
    pub(crate) key: String,
    /// What was subtracted from embeddings before they were brought to length 1; empty for nothing.
    pub(crate) mean: Vec<f32>,
    /// The encoder that made the embeddings, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) encoder: Option<Fingerprint>,
    /// Of the other files; galleries of before have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) checksums: Option<Checksums>,
}

/// CRC-32 of each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Checksums {
    pub(crate) index: u32,
    pub(crate) codes: u32,
    pub(crate) vectors: u32,
}

impl Description {
    /// Reads and checks a description; `None` where there is none.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(GALLERY_FILE);
        let bad = |reason: String| GalleryError::folder(&path, one_line(&reason));
        let text = match locdiff_base::read_text_bounded(&path, LARGEST_FILE_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(bad(error.to_string())),
        };
        let this: Self = serde_json::from_str(&text).map_err(|e| bad(format!("not a gallery's description: {e}")))?;
        let (version, dimension, most) = (this.version, this.dimension, QuantisedQuery::MOST_NUMBERS);
        if version != VERSION {
            let remedy = "build the gallery again";
            return Err(bad(format!("version {version}, but this program reads version {VERSION}; {remedy}")));
        }
        ensure!((1..=most).contains(&dimension), bad(format!("dimension = {dimension} is out of range: 1 … {most}")));
        if !(1..=u32::MAX as usize).contains(&this.rows)
            || !(this.mean.is_empty() || this.mean.len() == this.dimension)
            || !this.mean.iter().all(|value| value.is_finite())
        {
            return Err(bad("its numbers do not fit together; build the gallery again".to_owned()));
        }
        Ok(Some(this))
    }
}

/// Rows of bytes, in memory or in their file.
#[derive(Debug)]
pub(crate) enum Store {
    Memory(Vec<u8>),
    Disk(PositionedFile),
}

impl Store {
    /// Opens a file of rows; up to `most_in_memory` bytes are held in memory.
    pub(crate) fn open(path: &Path, rows: usize, row_bytes: usize, most_in_memory: u64) -> Result<Self> {
        let file = PositionedFile::open(path)?;
        let wanted = rows as u64 * row_bytes as u64;
        if file.bytes() != wanted {
            let reason = format!("it has {} bytes, its gallery needs {wanted}; build it again", file.bytes());
            return Err(GalleryError::folder(path, reason));
        }
        if wanted > most_in_memory {
            return Ok(Self::Disk(file));
        }
        let mut bytes = vec![0; wanted as usize];
        let parts = bytes.par_chunks_mut(PART).enumerate();
        parts.try_for_each(|(number, part)| file.read_at((number * PART) as u64, part))?;
        Ok(Self::Memory(bytes))
    }

    /// Calls `read` with the bytes of a range.
    pub(crate) fn with<T>(&self, range: Range<usize>, read: impl FnOnce(&[u8]) -> T) -> Result<T> {
        match self {
            Self::Memory(bytes) => Ok(read(&bytes[range])),
            Self::Disk(file) => {
                let mut bytes = vec![0; range.len()];
                file.read_at(range.start as u64, &mut bytes)?;
                Ok(read(&bytes))
            }
        }
    }

    pub(crate) fn bytes_in_memory(&self) -> usize {
        match self {
            Self::Memory(bytes) => bytes.len(),
            Self::Disk(_) => 0,
        }
    }
}

/// Fails where a file's bytes are not those that were written.
pub(crate) fn check_sum(path: &Path, bytes: &[u8], expected: u32) -> Result<()> {
    let sum = |part: &[u8]| {
        let mut sum = crc32fast::Hasher::new();
        sum.update(part);
        sum
    };
    let sums: Vec<crc32fast::Hasher> = bytes.par_chunks(PART).map(sum).collect();
    let whole = |mut whole: crc32fast::Hasher, part: &crc32fast::Hasher| {
        whole.combine(part);
        whole
    };
    let found = sums.iter().fold(crc32fast::Hasher::new(), whole).finalize();
    if found == expected {
        return Ok(());
    }
    let reason = format!("its checksum is {found:08x}, not {expected:08x}: it is damaged; build the gallery again");
    Err(GalleryError::folder(path, reason))
}
