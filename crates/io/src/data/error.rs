//! What can be wrong with a file: each message is one line that names the file, the row, the value and the remedy.

use locdiff_base::{WriteError, excerpt};
use locdiff_shdd::sphere::SphereError;
use std::{fmt, io};
use thiserror::Error;

/// A place in a file: its name, the row of data (from 1, a header not counted) and, in text formats, the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At {
    /// The file as the user named it; `standard input` for `-`.
    pub file: String,
    /// Row of data, from 1.
    pub row: u64,
    /// Line of the text, from 1.
    pub line: Option<u64>,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, row {}", self.file, self.row)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

/// Why a file could not be read or written.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
#[non_exhaustive]
pub enum DataError {
    /// The path has no extension that names a format.
    #[error("cannot tell the format of '{file}': use .csv, .jsonl, .ndjson, .npy or .safetensors, or give the format")]
    UnknownExtension { file: String },
    /// The name is not a format's.
    #[error("unknown format '{name}': choose csv, jsonl, npy or safetensors")]
    UnknownFormat { name: String },
    /// A binary format was asked for on a pipe.
    #[error("{file}: {format} needs a regular file, not a pipe or a device: give a file, or use csv or jsonl")]
    NeedsFile { file: String, format: crate::data::Format },
    /// A text that names no encoder.
    #[error("'{text}' is no encoder's fingerprint: expected NAME@ and 32 hexadecimal digits")]
    Fingerprint { text: String },
    /// An embedding without numbers.
    #[error("an embedding has no numbers: give at least one")]
    EmptyEmbedding,
    /// An embedding with a number that is not finite.
    #[error("number {} of the embedding is {value}: embeddings hold finite numbers", .index + 1)]
    EmbeddingNotFinite { index: usize, value: f32 },
    /// The file cannot be opened or read.
    #[error("cannot read {file}: {source}{}", read_remedy(.source))]
    Read { file: String, source: io::Error },
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The file has no bytes, or nothing but blank lines.
    #[error("{file} is empty: expected {expected}")]
    Empty { file: String, expected: &'static str },
    /// There is a header, but no row of data.
    #[error("{file} has a header but no rows of data: add at least one row")]
    NoRows { file: String },
    /// A CSV file lacks a column.
    #[error("{file} has no column {wanted}: its columns are {available}; rename one, or name the column to use")]
    MissingColumn { file: String, wanted: String, available: String },
    /// Two columns could both be meant.
    #[error("{file} has several columns for {wanted}: {available}; name the column to use")]
    AmbiguousColumn { file: String, wanted: String, available: String },
    /// A JSON object lacks a key.
    #[error("{at}: no key {wanted}: the keys are {available}; rename one, or name the key to use")]
    MissingKey { at: At, wanted: String, available: String },
    /// A field is not a number.
    #[error("{at}, column {column}: '{}' is not a number: write it like -12.5 or 1e-3", excerpt(.value))]
    Number { at: At, column: String, value: String },
    /// A line is not the JSON expected.
    #[error("{at}: {reason}: expected {expected} a line")]
    Json { at: At, reason: String, expected: &'static str },
    /// The numbers do not name a place on Earth.
    #[error("{at}: {source}; correct or remove the row")]
    Place { at: At, source: SphereError },
    /// A coefficient is NaN or infinite, or does not fit the output's type.
    #[error("{at}, column {column}: {value} is not a finite number of type {dtype}; correct or remove the row")]
    NotFinite { at: At, column: usize, value: f64, dtype: &'static str },
    /// A row has more or fewer numbers than the others.
    #[error("{at}: expected {expected} fields as in the first row or header, found {found}; every row needs the same")]
    RowLength { at: At, expected: usize, found: usize },
    /// The header of a binary file is damaged, cut off or made to mislead.
    #[error("{file} is not a sound {format} file: {reason}; save it again")]
    Header { file: String, format: crate::data::Format, reason: String },
    /// An array has the wrong shape.
    #[error("{file}: the array has shape {shape:?}: expected {expected}")]
    Shape { file: String, shape: Vec<u64>, expected: &'static str },
    /// An array has a type that cannot be read.
    #[error("{file}: elements of type '{dtype}' cannot be read: {remedy}")]
    ElementType { file: String, dtype: String, remedy: &'static str },
    /// A safetensors file lacks the tensor, or holds several and none was named.
    #[error("{file}: {wanted}: its tensors are {available}; name the tensor to use")]
    MissingTensor { file: String, wanted: String, available: String },
    /// The columns asked of a writer cannot be written.
    #[error("cannot write {file}: {reason}")]
    OutputColumns { file: String, reason: String },
}

impl DataError {
    /// Whether the reader of our output has gone away (`locdiff … | head`): no error worth a message.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.is_broken_pipe())
    }

    pub(crate) fn read(file: &str, source: io::Error) -> Self {
        Self::Read { file: file.to_owned(), source }
    }

    pub(crate) fn write(file: &str, source: io::Error) -> Self {
        Self::Write(WriteError::new(file, source))
    }
}

fn read_remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "; check the path",
        io::ErrorKind::PermissionDenied => "; ask for the right to read it",
        io::ErrorKind::IsADirectory => "; give a file, not a folder",
        io::ErrorKind::UnexpectedEof => "; it is shorter than its header says: save it again",
        _ => "",
    }
}

/// Names for a message: quoted, with commas, at most a dozen.
pub(crate) fn list_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 12;
    let mut quoted = Vec::new();
    let mut more = 0;
    for name in names {
        if quoted.len() < MOST { quoted.push(format!("'{}'", excerpt(name))) } else { more += 1 }
    }
    match (quoted.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (false, 0) => quoted.join(", "),
        (false, _) => format!("{} and {more} more", quoted.join(", ")),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Compares the errors of `read` with a table: each line is a text, with `\n` for a line's end, and its error.
    #[track_caller]
    pub(crate) fn assert_errors(table: &str, read: impl Fn(&str) -> String) {
        for line in table.lines() {
            let (text, expected) = line.split_once(" => ").expect("two columns");
            assert_eq!(read(&text.replace("\\n", "\n")), expected);
        }
    }

    #[test]
    fn name_lists_are_bounded() {
        assert_eq!(list_names([]), "none");
        assert_eq!(list_names(["a", "b"]), "'a', 'b'");
        assert!(list_names(["a"; 15]).ends_with("and 3 more"));
    }

    #[test]
    fn errors_stay_small() {
        assert!(std::mem::size_of::<DataError>() <= 128);
    }
}
