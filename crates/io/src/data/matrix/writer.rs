//! Writing matrices row by row.

use crate::data::output::{Output, push_number, push_number_f32, push_numbers};
use crate::data::safetensors_header::{OutputTensor, file_header};
use crate::data::{DataError, Fingerprint, Format, Result, array::Dtype, error::At};
use half::f16;
use locdiff_base::{display_name, ensure};
use std::path::Path;

/// Writes rows one by one; their number need not be known. Nothing is left on the disk unless
/// [`MatrixWriter::finish`] succeeds.
#[derive(Debug)]
pub struct MatrixWriter {
    output: Output,
    format: Format,
    dtype: Dtype,
    columns: usize,
    /// Their rows follow one another, as many for each.
    tensors: Vec<String>,
    encoder: Option<Fingerprint>,
    rows: u64,
    buffer: Vec<u8>,
}

impl MatrixWriter {
    /// Opens the output for rows of `columns` numbers; `-` is standard output. `tensor` names the matrix in a safetensors
    /// file. Fails if neither `format` nor the path's extension names a format, or the output cannot be created.
    pub fn create(path: &Path, format: Option<Format>, columns: usize, dtype: Dtype, tensor: &str) -> Result<Self> {
        Self::new(path, format, columns, dtype, &[tensor], None)
    }

    /// As [`MatrixWriter::create`], for several matrices of embeddings of the same shape in one file: all rows of the first come
    /// first, then all of the second, and so on. A safetensors file says in its metadata which encoder made them. The other formats
    /// have no room for it. Fails also if a format other than safetensors shall hold several matrices.
    ///
    /// ```
    /// use locdiff_io::data::{Dtype, Fingerprint, MatrixWriter, RowFile};
    /// # let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("x.safetensors");
    /// let encoder = Fingerprint::new("mine", 7);
    /// let mut writer = MatrixWriter::create_embeddings(&path, 2, Dtype::F16, &["embeddings"], &encoder)?;
    /// writer.write_row(&[0.25, -1.0])?;
    /// writer.finish()?;
    /// assert_eq!(RowFile::open(&path, None)?.encoder(), Some(&encoder));
    /// # Ok::<(), locdiff_io::data::DataError>(())
    /// ```
    pub fn create_embeddings(
        path: &Path,
        columns: usize,
        dtype: Dtype,
        tensors: &[&str],
        encoder: &Fingerprint,
    ) -> Result<Self> {
        Self::new(path, None, columns, dtype, tensors, Some(encoder.clone()))
    }

    fn new(
        path: &Path,
        format: Option<Format>,
        columns: usize,
        dtype: Dtype,
        tensors: &[&str],
        encoder: Option<Fingerprint>,
    ) -> Result<Self> {
        let format = Format::of_output(path, format, Format::Jsonl)?;
        if tensors.len() != 1 && format != Format::Safetensors {
            let reason = format!("{format} holds one matrix, not {}: write a .safetensors file", tensors.len());
            return Err(DataError::OutputColumns { file: display_name(path, "standard output"), reason });
        }
        let output = Output::create(path, format)?;
        let tensors = tensors.iter().map(ToString::to_string).collect();
        let mut this = Self { output, format, dtype, columns, tensors, encoder, rows: 0, buffer: Vec::new() };
        if let Some(header) = this.header() {
            this.output.write(&header)?;
        }
        Ok(this)
    }

    /// Writes a row. Fails if the output fails, the row has another length than promised, or a number is not finite in
    /// the output's type.
    pub fn write_row(&mut self, row: &[f64]) -> Result<(), DataError> {
        let at = || At { file: self.output.name.clone(), row: self.rows + 1, line: None };
        ensure!(row.len() == self.columns, DataError::RowLength { at: at(), expected: self.columns, found: row.len() });
        if let Some(index) = row.iter().position(|&value| !self.dtype.holds(value)) {
            let (value, dtype) = (row[index], self.dtype.name());
            return Err(DataError::NotFinite { at: at(), column: index + 1, value, dtype });
        }
        self.rows += 1;
        self.buffer.clear();
        match self.format {
            Format::Csv => self.push_text(row, b"", b"\n"),
            Format::Jsonl => self.push_text(row, b"[", b"]\n"),
            Format::Npy | Format::Safetensors => row.iter().for_each(|&value| self.dtype.push(&mut self.buffer, value)),
        }
        self.output.write(&self.buffer)
    }

    /// Completes the file. Returns how many rows it holds. Fails if the output fails, or several matrices have not as
    /// many rows each; no file is left then.
    pub fn finish(mut self) -> Result<u64, DataError> {
        let count = self.tensors.len() as u64;
        if !self.rows.is_multiple_of(count) {
            let reason = format!("{} rows cannot be split into {count} matrices of the same length", self.rows);
            return Err(DataError::OutputColumns { file: self.output.name.clone(), reason });
        }
        if let Some(header) = self.header() {
            self.output.write_at_start(&header)?;
        }
        self.output.finish()?;
        Ok(self.rows)
    }

    fn header(&self) -> Option<Vec<u8>> {
        let shape = vec![self.rows / self.tensors.len() as u64, self.columns as u64];
        let tensor = |name| OutputTensor { name, dtype: self.dtype, shape: shape.clone() };
        let tensors: Vec<_> = self.tensors.iter().map(|name| tensor(name.as_str())).collect();
        file_header(self.format, &tensors, self.encoder.as_ref())
    }

    fn push_text(&mut self, row: &[f64], before: &[u8], after: &[u8]) {
        self.buffer.extend_from_slice(before);
        push_numbers(&mut self.buffer, row, |text, value| match self.dtype {
            Dtype::F16 => push_number_f32(text, f16::from_f64(value).to_f32()),
            Dtype::F32 => push_number_f32(text, value as f32),
            Dtype::F64 => push_number(text, value),
        });
        self.buffer.extend_from_slice(after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MatrixReader;
    use proptest::prelude::*;

    fn round_trip(format: Format, dtype: Dtype, columns: usize, rows: &[Vec<f64>]) -> (Vec<Vec<f64>>, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("x.{format}"));
        let mut writer = MatrixWriter::create(&path, None, columns, dtype, "codes").unwrap();
        for row in rows {
            writer.write_row(row).unwrap();
        }
        assert_eq!(writer.finish().unwrap(), rows.len() as u64);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let reader = MatrixReader::open(&path, None, None).unwrap();
        assert_eq!(reader.columns(), columns);
        assert_eq!(reader.rows().unwrap_or(rows.len() as u64), rows.len() as u64);
        (reader.collect::<Result<_, _>>().unwrap(), std::fs::read(&path).unwrap())
    }

    fn matrices() -> impl Strategy<Value = (usize, Vec<Vec<f64>>)> {
        let finite = prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO;
        (1usize..8).prop_flat_map(move |columns| {
            let row = prop::collection::vec(finite, columns);
            (Just(columns), prop::collection::vec(row, 1..12))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))] // each case waits for the disk several times

        #[test]
        fn f64_round_trips_to_the_last_bit_in_every_format((columns, rows) in matrices()) {
            for format in Format::ALL {
                prop_assert_eq!(&round_trip(format, Dtype::F64, columns, &rows).0, &rows, "{}", format);
            }
        }

        #[test]
        fn f32_round_trips_as_f32((columns, rows) in matrices()) {
            let rows: Vec<Vec<f64>> =
                rows.iter().map(|row| row.iter().map(|value| value % 3e38).collect()).collect();
            for format in Format::ALL {
                let back = round_trip(format, Dtype::F32, columns, &rows).0;
                for (&before, &after) in rows.iter().flatten().zip(back.iter().flatten()) {
                    prop_assert_eq!(before as f32, after as f32, "{}", format);
                }
            }
        }
    }

    #[test]
    fn text_is_short_and_safetensors_agree_with_the_reference() {
        let rows = [vec![0.1, -2.0], vec![1e-9, 3.5]];
        let bytes = |format, dtype| round_trip(format, dtype, 2, &rows).1;
        assert_eq!(bytes(Format::Csv, Dtype::F32), b"0.1,-2\n1e-9,3.5\n");
        assert_eq!(bytes(Format::Jsonl, Dtype::F64), b"[0.1,-2]\n[1e-9,3.5]\n");
        let file = bytes(Format::Safetensors, Dtype::F32);
        let file = safetensors::SafeTensors::deserialize(&file).unwrap();
        let tensor = file.tensor("codes").unwrap();
        assert_eq!((tensor.dtype(), tensor.shape()), (safetensors::Dtype::F32, &[2, 2][..]));
        assert_eq!(tensor.data()[..8], [0.1f32.to_le_bytes(), (-2f32).to_le_bytes()].concat());
    }

    #[test]
    fn several_tensors_of_f16_lie_one_after_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        let encoder = Fingerprint::new("mine", 7);
        let create = |path: &Path| {
            MatrixWriter::create_embeddings(path, 2, Dtype::F16, &["embeddings", "augmented_1"], &encoder)
        };
        let mut writer = create(&path).unwrap();
        for row in [[1.0, 0.1], [2.0, 3.0], [4.0, -5.0], [6.0, 1e-9]] {
            writer.write_row(&row).unwrap();
        }
        assert!(writer.write_row(&[7e4, 0.0]).unwrap_err().to_string().contains("finite number of type f16"));
        assert_eq!(writer.finish().unwrap(), 4);
        let bytes = std::fs::read(&path).unwrap();
        let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        for (name, expected) in [("embeddings", [1.0, 0.1, 2.0, 3.0]), ("augmented_1", [4.0, -5.0, 6.0, 0.0])] {
            let tensor = file.tensor(name).unwrap();
            assert_eq!((tensor.dtype(), tensor.shape()), (safetensors::Dtype::F16, &[2, 2][..]));
            let expected: Vec<u8> = expected.iter().flat_map(|&v| f16::from_f64(v).to_le_bytes()).collect();
            assert_eq!(tensor.data(), expected);
        }
        let mut odd = create(&path).unwrap();
        odd.write_row(&[1.0, 2.0]).unwrap();
        assert!(odd.finish().unwrap_err().to_string().contains("1 rows cannot be split into 2 matrices"));
        let message = create(&folder.path().join("x.npy")).unwrap_err().to_string();
        assert!(message.contains("npy holds one matrix, not 2: write a .safetensors file"), "{message}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn wrong_rows_are_errors_and_an_unfinished_file_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        for format in Format::ALL {
            let path = folder.path().join(format!("x.{format}"));
            let mut writer = MatrixWriter::create(&path, None, 2, Dtype::F32, "codes").unwrap();
            writer.write_row(&[1.0, 2.0]).unwrap();
            let (name, zeros) = (path.display(), "0".repeat(39));
            for (row, rest) in [
                (&[1.0][..], ": expected 2 fields as in the first row or header, found 1; every row needs the same"),
                (&[1.0, f64::NAN], ", column 2: NaN is not a finite number of type f32; correct or remove the row"),
                (
                    &[1e39, 2.0],
                    &format!(", column 1: 1{zeros} is not a finite number of type f32; correct or remove the row"),
                ),
            ] {
                assert_eq!(writer.write_row(row).unwrap_err().to_string(), format!("{name}, row 2{rest}"));
            }
            drop(writer);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
