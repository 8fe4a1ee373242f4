//! What can be wrong with the photos a user names or with a run over them: each message is one line.

use crate::sources::EmbedOutput;
use locdiff_io::data::DataError;
use crate::VisionError;
use std::{io, path::PathBuf};
use thiserror::Error;

/// Why photos could not be found, read or embedded.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum IngestError {
    /// The arguments name no picture.
    #[error(
        "no photos: the arguments name {other_files} files and none is a picture{}; give photos, folders or lists of them",
        passed_over(*skipped)
    )]
    NoPhotos { other_files: usize, skipped: usize },
    /// A file that cannot be read.
    #[error("cannot read {file}: {reason}; check the path and its permissions")]
    Read { file: String, reason: io::Error },
    /// A list of paths that cannot be read.
    #[error("cannot read the list {list}: give a text file with a path a line: {reason}", list = list.display())]
    List { list: PathBuf, reason: io::Error },
    /// An archive that cannot be read where it lies.
    #[error("{path} is compressed: unpack it to a folder or a plain .tar first", path = path.display())]
    Compressed { path: PathBuf },
    /// A tar file that is cut off or none.
    #[error(
        "{path} is not a whole tar file: copy or download it again: {}", locdiff_base::excerpt(&reason.to_string()),
        path = path.display()
    )]
    Shard { path: PathBuf, reason: io::Error },
    /// A zip file that is cut off or none.
    #[error(
        "{path} is not a whole zip file: copy or download it again: {}", locdiff_base::excerpt(reason),
        path = path.display()
    )]
    Zip { path: PathBuf, reason: String },
    /// A Parquet file without a column of pictures.
    #[error(
        "{path} has no pictures: they are sought in a column 'image' of bytes, among {}", locdiff_base::excerpt(columns),
        path = path.display()
    )]
    NoPictures { path: PathBuf, columns: String },
    /// A Parquet file that cannot be read.
    #[error(transparent)]
    Parquet(#[from] crate::sources::parquet::ParquetError),
    /// A list of photos without names for them.
    #[error("{list} is no list of photos that is known here: {reason}", list = list.display())]
    NoList { list: PathBuf, reason: String },
    /// A table without a column of paths.
    #[error("name the column of paths: {0}")]
    PathColumn(DataError),
    /// Two outputs, or an output and an input, that are one file.
    #[error("{first} and {second} are both {path}: name two files", path = path.display())]
    SameFile { first: EmbedOutput, second: EmbedOutput, path: PathBuf },
    /// An output that would overwrite an input.
    #[error("{path} is a photo or list to read and {output} at once: name another file", path = path.display())]
    Overwrites { output: EmbedOutput, path: PathBuf },
    /// The journal of a run cannot be written or read.
    #[error("cannot use {path}: {reason}; free some space or its folder, what is finished is kept", path = path.display())]
    Journal { path: PathBuf, reason: io::Error },
    /// Another run writes to the same output.
    #[error(transparent)]
    Locked(#[from] locdiff_base::LockError),
    /// The journal of a run that was cut off, where a new one was asked for.
    #[error("{path} holds an unfinished run: resume it, or delete it to begin anew", path = path.display())]
    Unfinished { path: PathBuf },
    /// A file in the journal's place.
    #[error(
        "{path} is no journal of an unfinished run: delete it, or choose another output file",
        path = path.display()
    )]
    NoJournal { path: PathBuf },
    /// The journal of a run with other settings.
    #[error(
        "{path} is of a run with another {setting} ({before}, now {now}): give the same as before, or delete it to begin anew",
        path = path.display()
    )]
    OtherSetting { path: PathBuf, setting: String, before: String, now: String },
    /// No photo was of use.
    #[error("no photo of {photos} could be used, {first}; see {list}", list = list.display())]
    NoneUsable { photos: usize, list: PathBuf, first: String },
    /// A file cannot be created or written.
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
    /// A file of data cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The encoder failed.
    #[error(transparent)]
    Vision(#[from] VisionError),
}

fn passed_over(skipped: usize) -> String {
    if skipped == 0 { String::new() } else { format!(" ({skipped} more were passed over)") }
}

/// A result whose error is [`IngestError`].
pub type Result<T> = std::result::Result<T, IngestError>;
