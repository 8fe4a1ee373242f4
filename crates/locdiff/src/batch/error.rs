//! What can be wrong with a job: each message is one line.

use std::path::PathBuf;
use thiserror::Error;

/// Why a job could not be planned, run or merged.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum BatchError {
    /// A folder that holds a job already.
    #[error("{folder} holds a job already: name another folder, or overwrite it", folder = folder.display())]
    Exists { folder: PathBuf },
    /// A photo that other machines could not read.
    #[error("{photo} is in no file: a job is made of files, folders, tables and tar shards")]
    NoFile { photo: String },
    /// A file of the job that cannot be read.
    #[error("cannot read {path}: {reason}; plan the job again, or copy it whole", path = path.display())]
    Read { path: PathBuf, reason: std::io::Error },
    /// A file of the job that is not what was written.
    #[error("{path} is damaged: {reason}; {remedy}", path = path.display())]
    Damaged { path: PathBuf, reason: String, remedy: &'static str },
    /// A shard that the job does not have.
    #[error("there is no shard {shard}: this job has {shards}, numbered from 0")]
    NoShard { shard: u64, shards: u32 },
    /// A choice of shards that cannot be read.
    #[error("'{text}' names no shards: give a number, a range such as 0-9, or 2/10 for every tenth from 2 on")]
    Choice { text: String },
    /// Parts that are missing.
    #[error(
        "{missing} of {shards} parts are missing or damaged, the first is shard {first}: run the job to its end first"
    )]
    Unfinished { missing: usize, shards: u32, first: u32 },
    /// Parts made by different programs or models.
    #[error(
        "shard {shard} was made by '{met}', the shards before it by '{expected}': delete its part and run it again"
    )]
    OtherMaker { shard: u32, met: String, expected: String },
    /// A file to merge into that does not fit the task.
    #[error("{path} cannot hold what the job makes: name {kinds}", path = path.display())]
    Format { path: PathBuf, kinds: &'static str },
    /// No photo of an embedding job was of use.
    #[error("no photo of {photos} could be used, {first}; see {list}", list = list.display())]
    NoneUsable { photos: u64, list: PathBuf, first: String },
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
    Data(#[from] locdiff_io::data::DataError),
    /// The photos.
    #[error(transparent)]
    Ingest(#[from] locdiff_vision::sources::IngestError),
    /// The locator.
    #[error(transparent)]
    Locate(#[from] crate::LocateError),
}

/// A result whose error is [`BatchError`].
pub type Result<T> = std::result::Result<T, BatchError>;
