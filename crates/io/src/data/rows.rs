//! Rows of a file in any of the four formats.

use crate::data::input::{Header, Input, ReadSeek};
use crate::data::{DataError, Format, Result, npy, safetensors_header, safetensors_header::TensorChoice};
use crate::{data::array::ArrayLayout, data::csv_text::CsvRows, data::error::At, data::json_lines::JsonLines};
use std::io::SeekFrom;

/// An opened file: its records, lines or rows, one after another.
pub(crate) enum Rows {
    Csv(CsvRows),
    Jsonl(JsonLines),
    Array(ArrayReader),
}

impl Rows {
    pub(crate) fn open(input: Input, file: String, format: Format, choice: TensorChoice<'_>) -> Result<Self> {
        Ok(match input {
            Input::Text(text) if format == Format::Csv => Self::Csv(CsvRows::new(text, file)),
            Input::Text(text) => Self::Jsonl(JsonLines::new(text, file)),
            Input::Binary(bytes, length) => Self::Array(ArrayReader::open(bytes, length, file, format, choice)?),
        })
    }

    pub(crate) fn at(&self) -> At {
        match self {
            Self::Csv(rows) => rows.at(),
            Self::Jsonl(lines) => lines.at(),
            Self::Array(reader) => reader.at(),
        }
    }

    /// How many rows there are, if the format says so up front.
    pub(crate) fn count(&self) -> Option<u64> {
        if let Self::Array(reader) = self { Some(reader.layout.rows) } else { None }
    }

    /// The error for a file without rows; `expected` says what a line of JSON holds.
    pub(crate) fn without_rows(&self, expected: &'static str) -> DataError {
        match self {
            Self::Csv(rows) => DataError::NoRows { file: rows.file.clone() },
            Self::Jsonl(lines) => DataError::Empty { file: lines.file.clone(), expected },
            Self::Array(reader) => DataError::NoRows { file: reader.file.clone() },
        }
    }
}

impl ArrayLayout {
    pub(crate) fn read(
        input: &mut Box<dyn ReadSeek>,
        file_bytes: u64,
        file: &str,
        format: Format,
        choice: TensorChoice<'_>,
    ) -> Result<Self, DataError> {
        let header = Header::new(input, file_bytes, file, format)?;
        if format == Format::Npy { npy::read_header(header) } else { safetensors_header::read_header(header, choice) }
    }
}

pub(crate) struct ArrayReader {
    input: Box<dyn ReadSeek>,
    pub(crate) layout: ArrayLayout,
    pub(crate) file: String,
    rows_read: u64,
    bytes: Vec<u8>,
}

impl ArrayReader {
    /// Reads the header of a `.npy` or safetensors file of so many bytes, and goes to its array's first row.
    pub(crate) fn open(
        mut input: Box<dyn ReadSeek>,
        file_bytes: u64,
        file: String,
        format: Format,
        choice: TensorChoice<'_>,
    ) -> Result<Self, DataError> {
        let layout = ArrayLayout::read(&mut input, file_bytes, &file, format, choice)?;
        input.seek(SeekFrom::Start(layout.offset)).map_err(|source| DataError::read(&file, source))?;
        let bytes = vec![0; layout.row_bytes()];
        Ok(Self { input, layout, file, rows_read: 0, bytes })
    }

    pub(crate) fn at(&self) -> At {
        At { file: self.file.clone(), row: self.rows_read, line: None }
    }

    /// Appends the next row to `values`; false at the end.
    pub(crate) fn next_row(&mut self, values: &mut Vec<f64>) -> Result<bool, DataError> {
        if self.rows_read == self.layout.rows {
            return Ok(false);
        }
        self.input.read_exact(&mut self.bytes).map_err(|source| DataError::read(&self.file, source))?;
        if self.layout.big_endian {
            self.layout.element.swap_bytes(&mut self.bytes);
        }
        self.layout.element.decode_f64(&self.bytes, values);
        self.rows_read += 1;
        Ok(true)
    }
}
