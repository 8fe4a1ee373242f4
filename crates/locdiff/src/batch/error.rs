//! What can be wrong with a job: each message is one line.

use std::path::PathBuf;
use thiserror::Error;

/// Reason why a [`Job`](crate::batch::Job) cannot be planned, run or merged.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum BatchError {
    #[error("{folder} already holds a job: name another folder, or overwrite it", folder = folder.display())]
    Exists { folder: PathBuf },
    #[error("{photo} is not in a file: a job needs files, folders, tables and tar shards")]
    NoFile { photo: String },
    #[error("cannot read {path}: {reason}; plan the job again, or copy the whole folder", path = path.display())]
    Read { path: PathBuf, reason: std::io::Error },
    #[error("{path} is damaged: {reason}; {remedy}", path = path.display())]
    Damaged { path: PathBuf, reason: String, remedy: &'static str },
    #[error("shard {shard} does not exist: this job has {shards}, numbered from 0")]
    NoShard { shard: u64, shards: u32 },
    #[error("'{text}' names no shards: give a number, a range such as 0-9, or 2/10 for every tenth from 2 on")]
    Choice { text: String },
    #[error(
        "{missing} of {shards} parts are missing or damaged, the first is shard {first}: run the job to its end first"
    )]
    Unfinished { missing: usize, shards: u32, first: u32 },
    #[error(
        "shard {shard} was made by '{met}', the shards before it by '{expected}': delete its part and run it again"
    )]
    OtherMaker { shard: u32, met: String, expected: String },
    #[error("{path} cannot hold what the job makes: name {kinds}", path = path.display())]
    Format { path: PathBuf, kinds: &'static str },
    #[error("none of {photos} photos can be used: {first}. See {list}", list = list.display())]
    NoneUsable { photos: u64, list: PathBuf, first: String },
    #[error(transparent)]
    Locked(#[from] locdiff_base::LockError),
    #[error(transparent)]
    Setting(#[from] locdiff_base::BadSetting),
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
    #[error(transparent)]
    Ingest(#[from] locdiff_vision::sources::IngestError),
    #[error(transparent)]
    Locate(#[from] crate::LocateError),
}
