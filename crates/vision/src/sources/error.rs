//! What can be wrong with the photos a user names: each message is one line.

use locdiff_io::data::DataError;
use std::{io, path::PathBuf};
use thiserror::Error;

/// Why photos could not be found or read.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum IngestError {
    #[error(
        "no photos found among {other_files} files{}. Give photos, folders or lists of photos",
        passed_over(skipped)
    )]
    NoPhotos { other_files: usize, skipped: Vec<String> },
    #[error("cannot read {file}: {reason}; check the path and its permissions")]
    Read { file: String, reason: io::Error },
    #[error("cannot read the list {list}: give a text file with a path a line: {reason}", list = list.display())]
    List { list: PathBuf, reason: io::Error },
    #[error("{path} is compressed: unpack it to a folder or a plain .tar first", path = path.display())]
    Compressed { path: PathBuf },
    #[error(
        "{path} is not a whole tar file: copy or download it again: {}", locdiff_base::excerpt(&reason.to_string()),
        path = path.display()
    )]
    Shard { path: PathBuf, reason: io::Error },
    #[error(
        "{path} is not a whole zip file: copy or download it again: {}", locdiff_base::excerpt(reason),
        path = path.display()
    )]
    Zip { path: PathBuf, reason: String },
    #[error(
        "{path} has no pictures: they are sought in a column 'image' of bytes, among {}", locdiff_base::excerpt(columns),
        path = path.display()
    )]
    NoPictures { path: PathBuf, columns: String },
    #[error(transparent)]
    Parquet(#[from] crate::sources::parquet::ParquetError),
    #[error("{list} is not a known list of photos: {reason}", list = list.display())]
    NoList { list: PathBuf, reason: String },
    #[error("name the column of paths: {0}")]
    PathColumn(DataError),
    #[error(transparent)]
    Data(#[from] DataError),
}

/// The first reason why something was passed over, and how many more there are.
fn passed_over(skipped: &[String]) -> String {
    match skipped {
        [] => String::new(),
        [one] => format!(" ({one})"),
        [first, rest @ ..] => format!(" ({first}; and {} more cannot be used)", rest.len()),
    }
}

/// A result whose error is [`IngestError`].
pub type Result<T> = std::result::Result<T, IngestError>;
