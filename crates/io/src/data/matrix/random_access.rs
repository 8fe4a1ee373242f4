//! Reading any row of a binary matrix at any time.

use crate::data::{DataError, Embedding, Fingerprint, Format, PositionedFile};
use crate::{data::array::ArrayLayout, data::error::At, data::input::Input, data::safetensors_header::TensorChoice};
use locdiff_base::{Element, excerpt};
use std::{io::Read, io::Seek, io::SeekFrom, path::Path, sync::Arc};

/// Files up to this size are read into memory once.
const SMALL_BYTES: u64 = 256 << 20;

/// A `.npy` or safetensors matrix whose rows can be read in any order and from many threads at once.
///
/// Small files are held in memory; of larger ones every row is read where it lies, as by [`PositionedFile`].
#[derive(Debug)]
pub struct RowFile {
    name: String,
    layout: ArrayLayout,
    /// Shared by all embeddings.
    encoder: Option<Arc<Fingerprint>>,
    store: Store,
}

#[derive(Debug)]
enum Store {
    Memory(Vec<u8>),
    Disk(PositionedFile),
}

impl RowFile {
    /// Opens a file; of a safetensors file the tensor of that name, or else the only one. Fails if the file cannot be
    /// read, is neither `.npy` nor safetensors, or its header is unsound.
    pub fn open(path: &Path, tensor: Option<&str>) -> Result<Self, DataError> {
        let is_stdin = path.as_os_str() == "-";
        let (input, format, name) = Input::open(path, None)?;
        let Input::Binary(mut bytes, length) = input else {
            let remedy = "save the embeddings as .safetensors or .npy";
            return Err(DataError::ElementType { file: name, dtype: "text".to_owned(), remedy });
        };
        if let (Format::Npy, Some(tensor)) = (format, tensor) {
            let wanted = format!("a .npy file holds one array, not a tensor '{}'", excerpt(tensor));
            return Err(DataError::MissingTensor { file: name, wanted, available: "nameless".to_owned() });
        }
        let choice = TensorChoice { given: tensor, preferred: "embeddings" };
        let layout = ArrayLayout::read(&mut bytes, length, &name, format, choice)?;
        let (begin, size) = layout.bytes();
        let store = if is_stdin || size <= SMALL_BYTES {
            let mut content = vec![0; size as usize];
            let read = bytes.seek(SeekFrom::Start(begin)).and_then(|_| bytes.read_exact(&mut content));
            read.map_err(|source| DataError::read(&name, source))?;
            Store::Memory(content)
        } else {
            Store::Disk(PositionedFile::open(path)?)
        };
        let name = tensor.map_or(name.clone(), |tensor| format!("{name} (tensor {tensor})"));
        let encoder = layout.encoder.clone().map(Arc::new);
        Ok(Self { name, layout, encoder, store })
    }

    /// The file's name in messages, with the tensor's.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.layout.rows as usize
    }

    /// Numbers a row.
    pub fn columns(&self) -> usize {
        self.layout.columns
    }

    /// Whether its numbers are f16: they are kept as such wherever there are many.
    pub fn is_half(&self) -> bool {
        self.layout.element == Element::F16
    }

    /// The encoder that made the embeddings in the file, where the file says so.
    pub fn encoder(&self) -> Option<&Fingerprint> {
        self.encoder.as_deref()
    }

    /// Row `index`, from 0, as an embedding. Fails and panics as [`RowFile::read_row`] does.
    pub fn embedding(&self, index: usize) -> Result<Embedding, DataError> {
        let mut values = vec![0.0; self.columns()];
        self.read_row(index, &mut values)?;
        Embedding::new(values, self.encoder.clone())
    }

    /// Reads row `index`, from 0. Fails if the file fails or the row holds NaN or infinity. Panics if there is no such
    /// row, or `out` has not one value a column.
    pub fn read_row(&self, index: usize, out: &mut [f32]) -> Result<(), DataError> {
        assert!(index < self.rows() && out.len() == self.columns(), "row {index} of {}", self.rows());
        let bytes = self.layout.row_bytes();
        match &self.store {
            Store::Memory(content) => self.layout.decode_f32(&content[index * bytes..(index + 1) * bytes], out),
            Store::Disk(file) => {
                let mut row = vec![0; bytes];
                file.read_at(self.layout.bytes().0 + (index * bytes) as u64, &mut row)?;
                self.layout.decode_f32(&row, out);
            }
        }
        let Some(column) = out.iter().position(|value| !value.is_finite()) else { return Ok(()) };
        let at = At { file: self.name.clone(), row: index as u64 + 1, line: None };
        let (value, dtype) = (out[column].into(), self.layout.element.name());
        Err(DataError::NotFinite { at, column: column + 1, value, dtype })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dtype, MatrixWriter};

    #[test]
    fn rows_come_in_any_order_from_memory_and_from_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        let mut writer = MatrixWriter::create(&path, None, 3, Dtype::F32, "t").unwrap();
        for k in 0..5 {
            writer.write_row(&[f64::from(k), 0.5, -1.0]).unwrap();
        }
        writer.finish().unwrap();
        let mut file = RowFile::open(&path, Some("t")).unwrap();
        let mut row = [0.0; 3];
        for k in [4, 0, 2] {
            file.read_row(k, &mut row).unwrap();
            assert_eq!(row, [k as f32, 0.5, -1.0]);
        }
        file.store = Store::Disk(PositionedFile::open(&path).unwrap());
        file.read_row(3, &mut row).unwrap();
        assert_eq!(row, [3.0, 0.5, -1.0]);
        // The file shrinks under us.
        let other = folder.path().join("short");
        std::fs::write(&other, b"x").unwrap();
        file.store = Store::Disk(PositionedFile::open(&other).unwrap());
        assert!(file.read_row(3, &mut row).unwrap_err().to_string().contains("cannot read"));
        assert!(RowFile::open(&path, Some("u")).unwrap_err().to_string().contains("no tensor 'u'"));
    }

    #[test]
    fn a_row_with_nan_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let mut bytes = crate::data::npy::header_bytes(Dtype::F32, 2, 2);
        for value in [1.0_f32, 2.0, 3.0, f32::NAN] {
            bytes.extend(value.to_le_bytes());
        }
        std::fs::write(&path, bytes).unwrap();
        let file = RowFile::open(&path, None).unwrap();
        let mut row = [0.0; 2];
        file.read_row(0, &mut row).unwrap();
        let message = file.read_row(1, &mut row).unwrap_err().to_string();
        assert!(message.contains("row 2") && message.contains("x.npy"), "{message}");
        let message = RowFile::open(&path, Some("t")).unwrap_err().to_string();
        assert!(message.contains("not a tensor 't'"), "{message}");
    }
}
