//! A gallery from its folder.

use crate::gallery::folder::{CODES_FILE, Description, GALLERY_FILE, INDEX_FILE, INDEX_ROW, LARGEST_CHECKED};
use crate::gallery::folder::{LARGEST_IN_MEMORY, Store, VECTORS_FILE, check_sum};
use crate::gallery::{Gallery, GalleryError, Result, cells::Cells, cells::Entry, quantised::RowBound};
use locdiff_io::data::PositionedFile;
use std::path::Path;

impl Gallery {
    /// Opens a folder that a builder made. Fails for files that are missing, damaged or do not fit together.
    pub fn open(folder: &Path) -> Result<Self> {
        let none = || format!("no {GALLERY_FILE} there: make a gallery with `locdiff gallery build`");
        let description = Description::read(folder)?.ok_or_else(|| GalleryError::folder(folder, none()))?;
        let (rows, dimension) = (description.rows, description.dimension);
        let path = folder.join(INDEX_FILE);
        let file = PositionedFile::open(&path)?;
        let damaged = |reason: &str| GalleryError::folder(&path, reason);
        if file.bytes() != rows as u64 * INDEX_ROW as u64 {
            return Err(damaged("its number of rows differs from the gallery's; build the gallery again"));
        }
        let mut entries = Vec::with_capacity(rows);
        let mut bounds = Vec::with_capacity(rows);
        let mut sum = crc32fast::Hasher::new();
        const BLOCK: usize = 65_536;
        let mut bytes = Vec::new();
        for start in (0..rows).step_by(BLOCK) {
            let count = BLOCK.min(rows - start);
            bytes.resize(count * INDEX_ROW, 0);
            file.read_at((start * INDEX_ROW) as u64, &mut bytes)?;
            sum.update(&bytes);
            for row in bytes.as_chunks::<INDEX_ROW>().0 {
                let (entry, bound) = row.split_at(Entry::BYTES);
                entries.push(Entry::from_bytes(entry.try_into().unwrap_or(&[0; Entry::BYTES])));
                bounds.push(RowBound::from_bytes(bound.try_into().unwrap_or([0; RowBound::BYTES])));
            }
        }
        if !bounds.iter().all(|bound| bound.scale.is_finite() && bound.error.is_finite()) {
            return Err(damaged("it holds invalid numbers; build the gallery again"));
        }
        let cells =
            Cells::from_sorted(entries).ok_or_else(|| damaged("its rows are out of order; build the gallery again"))?;
        let (codes_path, vectors_path) = (folder.join(CODES_FILE), folder.join(VECTORS_FILE));
        let codes = Store::open(&codes_path, rows, dimension, LARGEST_IN_MEMORY)?;
        let row_bytes = dimension * description.vectors.bytes();
        if let Some(sums) = description.checksums {
            if sum.finalize() != sums.index {
                return Err(damaged("its checksum is another: it is damaged; build the gallery again"));
            }
            if let Store::Memory(bytes) = &codes {
                check_sum(&codes_path, bytes, sums.codes)?;
            }
            if rows as u64 * row_bytes as u64 <= LARGEST_CHECKED
                && let Store::Memory(bytes) = Store::open(&vectors_path, rows, row_bytes, LARGEST_CHECKED)?
            {
                check_sum(&vectors_path, &bytes, sums.vectors)?;
            }
        }
        // Few of the full vectors are ever asked for: they stay where they lie.
        let vectors = Store::open(&vectors_path, rows, row_bytes, 0)?;
        Ok(Self { description, cells, bounds, codes, vectors })
    }
}
