//! What can go wrong with a server: each message is one line, and none holds a key.

use std::path::PathBuf;
use thiserror::Error;

/// Reason why a server or a file of [`Immich`](crate::immich::Immich) cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum ImmichError {
    #[error("'{address}' is not an address of an immich server: {reason}")]
    Address { address: String, reason: &'static str },
    #[error("{reason}")]
    Key { reason: String },
    #[error("{server} does not answer: {reason}")]
    Network { server: String, reason: String },
    #[error("{server} answers {status} to {what}{hint}")]
    Refused { server: String, status: u16, what: String, hint: &'static str },
    #[error("the answer of {server} to {what} is not immich's: {reason}")]
    Answer { server: String, what: String, reason: String },
    #[error("{file}: {reason}", file = file.display())]
    File { file: PathBuf, reason: String },
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
    #[error(transparent)]
    Lock(#[from] locdiff_base::LockError),
    #[error(transparent)]
    Locate(#[from] crate::LocateError),
    #[error("{file} is about {theirs}, not {ours}: give the address it was made for", file = file.display())]
    OtherServer { file: PathBuf, theirs: String, ours: String },
}
