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

pub(crate) type Result<T, E = DataError> = std::result::Result<T, E>;

/// Why a file could not be read or written.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
#[non_exhaustive]
pub enum DataError {
    #[error("cannot tell the format of '{file}': use .csv, .jsonl, .ndjson, .npy or .safetensors, or state the format")]
    UnknownExtension { file: String },
    #[error("unknown format '{name}': choose csv, jsonl, npy or safetensors")]
    UnknownFormat { name: String },
    #[error("{file}: {format} needs a regular file, not a pipe or a device: give a file, or use csv or jsonl")]
    NeedsFile { file: String, format: crate::data::Format },
    #[error("'{text}' is not an encoder's fingerprint: expected NAME@ and 32 hexadecimal digits")]
    Fingerprint { text: String },
    #[error("an embedding has no numbers: give at least one")]
    EmptyEmbedding,
    #[error("number {} of the embedding is {value}: embeddings hold finite numbers", .index + 1)]
    EmbeddingNotFinite { index: usize, value: f32 },
    #[error("cannot read {file}: {source}{}", read_remedy(.source))]
    Read { file: String, source: io::Error },
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("{file} is empty: expected {expected}")]
    Empty { file: String, expected: &'static str },
    #[error("{file} has a header but no rows of data: add at least one row")]
    NoRows { file: String },
    #[error("{file} has no column {wanted}: its columns are {available}; rename one, or name the column to use")]
    MissingColumn { file: String, wanted: String, available: String },
    #[error("{file} has several columns for {wanted}: {available}; name the column to use")]
    AmbiguousColumn { file: String, wanted: String, available: String },
    #[error("{at}: no key {wanted}: the keys are {available}; rename one, or name the key to use")]
    MissingKey { at: At, wanted: String, available: String },
    #[error("{at}, column {column}: '{}' is not a number: write it like -12.5 or 1e-3", excerpt(.value))]
    Number { at: At, column: String, value: String },
    #[error("{at}: {reason}: expected {expected} a line")]
    Json { at: At, reason: String, expected: &'static str },
    #[error("{at}: {source}; correct or remove the row")]
    Place { at: At, source: SphereError },
    #[error("{at}, column {column}: {value} is not a finite number of type {dtype}; correct or remove the row")]
    NotFinite { at: At, column: usize, value: f64, dtype: &'static str },
    #[error("{at}: expected {expected} fields as in the first row or header, found {found}; every row needs the same")]
    RowLength { at: At, expected: usize, found: usize },
    #[error("{file} is not a valid {format} file: {reason}; save it again")]
    Header { file: String, format: crate::data::Format, reason: String },
    #[error("{file}: the array has shape {shape:?}: expected {expected}")]
    Shape { file: String, shape: Vec<u64>, expected: &'static str },
    #[error("{file}: elements of type '{dtype}' cannot be read: {remedy}")]
    ElementType { file: String, dtype: String, remedy: &'static str },
    #[error("{file}: {wanted}: its tensors are {available}; name the tensor to use")]
    MissingTensor { file: String, wanted: String, available: String },
    #[error("cannot write {file}: {reason}")]
    OutputColumns { file: String, reason: String },
}

// Results stay small.
const _: () = assert!(size_of::<DataError>() <= 128);

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
        io::ErrorKind::PermissionDenied => "; change its permissions",
        io::ErrorKind::IsADirectory => "; give a file, not a folder",
        io::ErrorKind::UnexpectedEof => "; it is shorter than its header says: save it again",
        _ => "",
    }
}

/// Names for a message: quoted, with commas, at most a dozen.
pub(crate) fn list_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 12;
    let mut names = names.into_iter();
    let quoted: Vec<_> = names.by_ref().take(MOST).map(|name| format!("'{}'", excerpt(name))).collect();
    match (quoted.is_empty(), names.count()) {
        (true, _) => "none".to_owned(),
        (false, 0) => quoted.join(", "),
        (false, more) => format!("{} and {more} more", quoted.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_lists_are_bounded() {
        assert_eq!(list_names([]), "none");
        assert_eq!(list_names(["a", "b"]), "'a', 'b'");
        assert!(list_names(["a"; 15]).ends_with("and 3 more"));
    }
}
