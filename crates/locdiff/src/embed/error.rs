//! What can be wrong with a run that embeds photos: each message is one line.

use super::EmbedOutput;
use crate::LocateError;
use std::{io, path::PathBuf};

/// Why photos could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum EmbedError {
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
    /// A file of data cannot be written.
    #[error(transparent)]
    Data(#[from] locdiff_io::data::DataError),
    /// The encoder failed.
    #[error(transparent)]
    Locate(#[from] LocateError),
}

/// A result whose error is [`EmbedError`].
pub(crate) type Result<T> = std::result::Result<T, EmbedError>;
