//! What can be wrong with the photos a user names or with a run over them: each message is one line.

use crate::EmbedOutput;
use locdiff_data::DataError;
use locdiff_vision::VisionError;
use std::{io, path::PathBuf};
use thiserror::Error;

/// Why photos could not be found, read or embedded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The arguments name no picture.
    #[error(
        "no photos: the arguments name {other_files} files and none is a picture{}; give photos, folders or lists of them",
        passed_over(*skipped)
    )]
    NoPhotos {
        /// Files that are no pictures.
        other_files: usize,
        /// Paths that were passed over.
        skipped: usize,
    },
    /// A file that cannot be read.
    #[error("cannot read {file}: {reason}; check the path and its permissions")]
    Read {
        /// The file.
        file: String,
        /// The system's reason.
        reason: io::Error,
    },
    /// A list of paths that cannot be read.
    #[error("cannot read the list {list}: give a text file with a path a line: {reason}", list = list.display())]
    List {
        /// The list.
        list: PathBuf,
        /// The system's reason.
        reason: io::Error,
    },
    /// An archive that cannot be read where it lies.
    #[error("{path} is compressed: unpack it to a folder or a plain .tar first", path = path.display())]
    Compressed {
        /// The archive.
        path: PathBuf,
    },
    /// A tar file that is cut off or none.
    #[error(
        "{path} is not a whole tar file: copy or download it again: {}", locdiff_base::excerpt(&reason.to_string()),
        path = path.display()
    )]
    Shard {
        /// The file.
        path: PathBuf,
        /// The reader's reason.
        reason: io::Error,
    },
    /// A zip file that is cut off or none.
    #[error(
        "{path} is not a whole zip file: copy or download it again: {}", locdiff_base::excerpt(reason),
        path = path.display()
    )]
    Zip {
        /// The file.
        path: PathBuf,
        /// The reader's reason.
        reason: String,
    },
    /// A Parquet file without a column of pictures.
    #[error(
        "{path} has no pictures: they are sought in a column 'image' of bytes, among {}", locdiff_base::excerpt(columns),
        path = path.display()
    )]
    NoPictures {
        /// The file.
        path: PathBuf,
        /// The columns that it has.
        columns: String,
    },
    /// A Parquet file that cannot be read.
    #[error(transparent)]
    Parquet(#[from] crate::parquet::ParquetError),
    /// A list of photos without names for them.
    #[error("{list} is no list of photos that is known here: {reason}", list = list.display())]
    NoList {
        /// The list.
        list: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A table without a column of paths.
    #[error("name the column of paths: {0}")]
    PathColumn(DataError),
    /// Two outputs, or an output and an input, that are one file.
    #[error("{first} and {second} are both {path}: name two files", path = path.display())]
    SameFile {
        /// What the file is.
        first: EmbedOutput,
        /// What else it is.
        second: EmbedOutput,
        /// The file.
        path: PathBuf,
    },
    /// An output that would overwrite an input.
    #[error("{path} is a photo or list to read and {output} at once: name another file", path = path.display())]
    Overwrites {
        /// Which output.
        output: EmbedOutput,
        /// The file.
        path: PathBuf,
    },
    /// The journal of a run cannot be written or read.
    #[error("cannot use {path}: {reason}; free some space or its folder, what is finished is kept", path = path.display())]
    Journal {
        /// The journal.
        path: PathBuf,
        /// The system's reason.
        reason: io::Error,
    },
    /// Another run writes to the same output.
    #[error(transparent)]
    Locked(#[from] locdiff_base::LockError),
    /// The journal of a run that was cut off, where a new one was asked for.
    #[error("{path} holds an unfinished run: resume it, or delete it to begin anew", path = path.display())]
    Unfinished {
        /// The journal.
        path: PathBuf,
    },
    /// A file in the journal's place.
    #[error(
        "{path} is no journal of an unfinished run: delete it, or choose another output file",
        path = path.display()
    )]
    NoJournal {
        /// The file.
        path: PathBuf,
    },
    /// The journal of a run with other settings.
    #[error(
        "{path} is of a run with another {setting} ({before}, now {now}): give the same as before, or delete it to begin anew",
        path = path.display()
    )]
    OtherSetting {
        /// The journal.
        path: PathBuf,
        /// Which setting, in words.
        setting: String,
        /// Its value then.
        before: String,
        /// Its value now.
        now: String,
    },
    /// No photo was of use.
    #[error("none of the {photos} photos could be used, {first}; see {list}", list = list.display())]
    NoneUsable {
        /// How many there were.
        photos: usize,
        /// Where each is listed with the reason.
        list: PathBuf,
        /// The first one's reason.
        first: String,
    },
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
