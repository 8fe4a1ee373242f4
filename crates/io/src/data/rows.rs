//! Rows of a file in any of the four formats.

use crate::data::safetensors_header::TensorChoice;
use crate::data::{
    DataError, Format, Result, array_reader::ArrayReader, csv_text::CsvRows, error::At, input::Input,
    json_lines::JsonLines,
};

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
