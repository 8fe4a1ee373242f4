//! Reading matrices row by row.

use crate::data::json_lines::{JsonLines, json_reason};
use crate::data::{DataError, Fingerprint, Format, safetensors_header::TensorChoice};
use crate::{data::csv_dialect::Dialect, data::csv_text::CsvRows, data::input::Input, data::rows::Rows};
use locdiff_base::{ensure, excerpt};
use std::path::Path;

const ARRAY_EXPECTED: &str = "one array of numbers";

/// Rows of numbers, all finite and all of the same length, read one by one: memory does not grow with the file.
///
/// A CSV file may begin with a header line: a first line without any number is one. In `.npy` and safetensors files an
/// array `[D]` is one row.
pub struct MatrixReader {
    source: Rows,
    columns: usize,
    rows_read: u64,
    /// Text: the first row, read to learn the number of columns.
    first: Option<Vec<f64>>,
    /// The file itself failed: there is nothing more to iterate over.
    failed: bool,
}

impl MatrixReader {
    /// Opens a file; `-` is standard input. Of a safetensors file the tensor of that name is read, or the only one. Fails
    /// if the file cannot be opened, its format is unknown, its header or first row is unsound, or it has no rows.
    pub fn open(path: &Path, format: Option<Format>, tensor: Option<&str>) -> Result<Self, DataError> {
        let (input, format, file) = Input::open(path, format)?;
        Self::new(input, file, format, tensor)
    }

    /// Reads a file that is in memory already; `file` is its name in messages. Fails as [`MatrixReader::open`] does.
    pub fn from_bytes(file: &str, bytes: Vec<u8>, format: Format, tensor: Option<&str>) -> Result<Self, DataError> {
        Self::new(Input::from_bytes(bytes, format), file.to_owned(), format, tensor)
    }

    fn new(input: Input, file: String, format: Format, tensor: Option<&str>) -> Result<Self, DataError> {
        let mut source = Rows::open(input, file, format, TensorChoice { given: tensor, preferred: "matrix" })?;
        if let Rows::Array(reader) = &source {
            let columns = reader.layout.columns;
            return Ok(Self { source, columns, rows_read: 0, first: None, failed: false });
        }
        if let Rows::Csv(rows) = &mut source {
            pass_header(rows)?;
        }
        let mut first = Vec::new();
        ensure!(read_row(&mut source, &mut first)?, source.without_rows(ARRAY_EXPECTED));
        Ok(Self { source, columns: first.len(), rows_read: 0, first: Some(first), failed: false })
    }

    /// Numbers a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many rows there are, where the format says so up front.
    pub fn rows(&self) -> Option<u64> {
        self.source.count()
    }

    /// The encoder that made the embeddings in the file, where the file says so.
    pub fn encoder(&self) -> Option<&Fingerprint> {
        if let Rows::Array(reader) = &self.source { reader.layout.encoder.as_ref() } else { None }
    }

    /// Appends the next row to `values`; false at the end. A row that is wrong appends nothing. Fails if the file
    /// fails, the row is not numbers, has another length than the first, or holds NaN or infinity.
    pub fn read_row(&mut self, values: &mut Vec<f64>) -> Result<bool, DataError> {
        if let Some(first) = self.first.take() {
            values.extend_from_slice(&first);
            self.rows_read += 1;
            return Ok(true);
        }
        let start = values.len();
        let result = read_row(&mut self.source, values).and_then(|more| {
            let (at, expected, found) = (|| self.source.at(), self.columns, values.len() - start);
            if more && found != expected { Err(DataError::RowLength { at: at(), expected, found }) } else { Ok(more) }
        });
        match result {
            Ok(more) => self.rows_read += u64::from(more),
            Err(_) => values.truncate(start),
        }
        result
    }

    /// Appends up to `most_rows` rows to `values`. Returns how many; 0 only at the end. Fails as
    /// [`MatrixReader::read_row`] does; the rows before the wrong one are in `values`.
    pub fn read_rows(&mut self, most_rows: usize, values: &mut Vec<f64>) -> Result<usize, DataError> {
        for done in 0..most_rows {
            if !self.read_row(values)? {
                return Ok(done);
            }
        }
        Ok(most_rows)
    }

    /// Rows read without an error.
    pub fn rows_read(&self) -> u64 {
        self.rows_read
    }
}

/// Rows as vectors. A wrong row is an error and does not end the iteration; when the file itself fails, it ends.
impl Iterator for MatrixReader {
    type Item = Result<Vec<f64>, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let mut row = Vec::with_capacity(self.columns);
        match self.read_row(&mut row) {
            Ok(true) => Some(Ok(row)),
            Ok(false) => None,
            Err(error) => {
                self.failed = matches!(error, DataError::Read { .. });
                Some(Err(error))
            }
        }
    }
}

/// Appends the next row, of any length; false at the end.
fn read_row(source: &mut Rows, values: &mut Vec<f64>) -> Result<bool, DataError> {
    let start = values.len();
    let (more, dtype) = match source {
        Rows::Csv(rows) => {
            let more = rows.advance()?;
            for index in 0..if more { rows.fields().count() } else { 0 } {
                values.push(rows.number(index, || (index + 1).to_string())?);
            }
            (more, "f64")
        }
        Rows::Jsonl(lines) => (lines.advance()? && json_row(lines, values)?, "f64"),
        Rows::Array(reader) => (reader.next_row(values)?, reader.layout.element.name()),
    };
    if let Some(index) = values[start..].iter().position(|value| !value.is_finite()) {
        let value = values[start + index];
        return Err(DataError::NotFinite { at: source.at(), column: index + 1, value, dtype });
    }
    Ok(more)
}

/// Reads the first line, and keeps it if it holds data.
fn pass_header(rows: &mut CsvRows) -> Result<(), DataError> {
    ensure!(rows.read()?, DataError::Empty { file: rows.file.clone(), expected: "one row of numbers a line" });
    // A line with at least one number is data: a typo in the first row must not make it a header.
    let is_data = rows.fields().any(|field| rows.parse(field).is_some());
    rows.put_back = is_data;
    Ok(())
}

/// Appends the numbers of a line; always true.
fn json_row(lines: &JsonLines, values: &mut Vec<f64>) -> Result<bool, DataError> {
    let structure = |reason| DataError::Json { at: lines.at(), reason, expected: ARRAY_EXPECTED };
    match serde_json::from_slice::<Vec<f64>>(lines.line()) {
        Ok(row) if row.is_empty() => return Err(structure("the array is empty".to_owned())),
        Ok(row) => values.extend_from_slice(&row),
        Err(error) => return Err(bad_element(lines).unwrap_or_else(|| structure(json_reason(&error)))),
    }
    Ok(true)
}

/// The error for the first element of a flat array that is no number.
fn bad_element(lines: &JsonLines) -> Option<DataError> {
    let inside = lines.line().strip_prefix(b"[")?.strip_suffix(b"]")?;
    let mut fields = (1..).zip(inside.split(|&byte| byte == b','));
    let (column, field) = fields.find(|(_, field)| serde_json::from_slice::<f64>(field).is_err())?;
    let (at, value) = (lines.at(), excerpt(&String::from_utf8_lossy(field.trim_ascii())));
    Some(match Dialect::COMMAS.number(field) {
        // Python's NaN and Infinity, and what overflows.
        Some(value) if !value.is_finite() => DataError::NotFinite { at, column, value, dtype: "f64" },
        _ => DataError::Number { at, column: column.to_string(), value },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::npy;

    fn read(bytes: &[u8], format: Format) -> Result<Vec<Vec<f64>>, String> {
        MatrixReader::from_bytes("x", bytes.to_vec(), format, None)
            .and_then(Iterator::collect)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn csv_with_and_without_a_header() {
        let expected = Ok(vec![vec![1.0, 2.0], vec![3.0, -4.0]]);
        assert_eq!(read(b"1,2\n3,-4\n", Format::Csv), expected);
        assert_eq!(read(b"a,b\n 1, 2\n3,-4", Format::Csv), expected);
        assert_eq!(read(b"[1,2e0]\n\n[3,-4.0]", Format::Jsonl), expected);
        let mut reader = MatrixReader::from_bytes("x", b"a,b\n1,2\n".to_vec(), Format::Csv, None).unwrap();
        assert_eq!((reader.columns(), reader.rows()), (2, None));
        let mut values = vec![9.0];
        assert_eq!(reader.read_rows(5, &mut values).unwrap(), 1);
        assert_eq!((values, reader.rows_read()), (vec![9.0, 1.0, 2.0], 1));
    }

    #[test]
    fn arrays_refuse_what_is_not_finite() {
        let mut bytes = npy::header_bytes(crate::data::Dtype::F32, 2, 2);
        for value in [1f32, 2.0, 3.0, f32::NEG_INFINITY] {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        assert_eq!(
            read(&bytes, Format::Npy).unwrap_err(),
            "x, row 2, column 2: -inf is not a finite number of type f32; correct or remove the row"
        );
    }

    #[test]
    fn a_wrong_row_appends_nothing_and_reading_goes_on() {
        let mut reader = MatrixReader::from_bytes("x", b"[1,2]\n[3]\n[5,6]".to_vec(), Format::Jsonl, None).unwrap();
        let mut values = Vec::new();
        assert!(reader.read_row(&mut values).unwrap());
        assert!(reader.read_row(&mut values).is_err());
        assert!(reader.read_row(&mut values).unwrap());
        assert_eq!((values, reader.rows_read()), (vec![1.0, 2.0, 5.0, 6.0], 2));
    }

    #[test]
    fn a_file_that_shrinks_is_one_error_then_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let mut bytes = npy::header_bytes(crate::data::Dtype::F64, 4, 20_000);
        bytes.resize(bytes.len() + 8 * 80_000, 0);
        std::fs::write(&path, &bytes).unwrap();
        let mut reader = MatrixReader::open(&path, None, None).unwrap();
        assert!(reader.next().unwrap().is_ok());
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1000).unwrap();
        let message = reader.next().unwrap().unwrap_err().to_string();
        assert!(message.contains("x.npy") && message.contains("shorter than its header says"), "{message}");
        assert!(reader.next().is_none());
    }
}
