//! What can be wrong with a run that embeds photos: each message is one line.

use crate::LocateError;
use std::{io, path::PathBuf};

/// Reason why an [`EmbedRun`](super::EmbedRun) fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum EmbedError {
    #[error("{first} and {second} are both {path}: name two files", path = path.display())]
    SameFile { first: &'static str, second: &'static str, path: PathBuf },
    #[error("{path} is a photo or list to read and {output} at once: name another file", path = path.display())]
    Overwrites { output: &'static str, path: PathBuf },
    #[error("cannot use {path}: {reason}; finished work is kept. Free some space, or make its folder writable", path = path.display())]
    Journal { path: PathBuf, reason: io::Error },
    #[error(transparent)]
    Locked(#[from] locdiff_base::LockError),
    #[error("{path} holds an unfinished run: resume it, or delete it to start again", path = path.display())]
    Unfinished { path: PathBuf },
    #[error("{path} is not a journal of an unfinished run: delete it, or choose another output file", path = path.display())]
    NoJournal { path: PathBuf },
    #[error(
        "{path} is of a run with another {setting} ({before}, now {now}): give the same as before, or delete it to start again",
        path = path.display()
    )]
    OtherSetting { path: PathBuf, setting: String, before: String, now: String },
    #[error("none of {photos} photos can be used: {first}. See {list}", list = list.display())]
    NoneUsable { photos: usize, list: PathBuf, first: String },
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
    #[error(transparent)]
    Locate(#[from] LocateError),
}

pub(crate) type Result<T> = std::result::Result<T, EmbedError>;
