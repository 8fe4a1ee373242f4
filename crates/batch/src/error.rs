//! What can be wrong with a job: each message is one line.

use std::path::PathBuf;
use thiserror::Error;

/// Why a job could not be planned, run or merged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A folder that holds a job already.
    #[error("{folder} holds a job already: name another folder, or overwrite it", folder = folder.display())]
    Exists {
        /// The folder.
        folder: PathBuf,
    },
    /// A photo that other machines could not read.
    #[error("{photo} is in no file: a job is made of files, folders, tables and tar shards")]
    NoFile {
        /// Its name.
        photo: String,
    },
    /// A file of the job that cannot be read.
    #[error("cannot read {path}: {reason}; plan the job again, or copy it whole", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// A file of the job that is not what was written.
    #[error("{path} is damaged: {reason}; {remedy}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A shard that the job does not have.
    #[error("there is no shard {shard}: this job has {shards}, numbered from 0")]
    NoShard {
        /// The number.
        shard: u64,
        /// How many there are.
        shards: u32,
    },
    /// A choice of shards that cannot be read.
    #[error(
        "'{text}' names no shards: give a number, a range such as 0-9, or 2/10 for every tenth from 2 on"
    )]
    Choice {
        /// The text.
        text: String,
    },
    /// Parts that are missing.
    #[error(
        "{missing} of {shards} parts are missing or damaged, the first is shard {first}: run the job to its end first"
    )]
    Unfinished {
        /// How many.
        missing: usize,
        /// Of how many.
        shards: u32,
        /// The first of them.
        first: u32,
    },
    /// Parts made by different programs or models.
    #[error(
        "shard {shard} was made by '{met}', the shards before it by '{expected}': delete its part and run it again"
    )]
    OtherMaker {
        /// The shard.
        shard: u32,
        /// Who made it.
        met: String,
        /// Who made the others.
        expected: String,
    },
    /// A file to merge into that does not fit the task.
    #[error("{path} cannot hold what the job makes: name {kinds}", path = path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What can.
        kinds: &'static str,
    },
    /// No photo of an embedding job was of use.
    #[error("none of the {photos} photos could be used, {first}; see {list}", list = list.display())]
    NoneUsable {
        /// How many there were.
        photos: u64,
        /// Where each is listed with the reason.
        list: PathBuf,
        /// The first one's reason.
        first: String,
    },
    /// Another run makes the same part.
    #[error(transparent)]
    Locked(#[from] locdiff_base::LockError),
    /// A setting out of range.
    #[error(transparent)]
    Setting(#[from] locdiff_base::BadSetting),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
    /// A table or embeddings cannot be read or written.
    #[error(transparent)]
    Data(#[from] locdiff_data::DataError),
    /// The photos.
    #[error(transparent)]
    Ingest(#[from] locdiff_ingest::IngestError),
    /// The locator.
    #[error(transparent)]
    Locate(#[from] locdiff::LocateError),
}

/// A result whose error is [`BatchError`].
pub type Result<T> = std::result::Result<T, BatchError>;
