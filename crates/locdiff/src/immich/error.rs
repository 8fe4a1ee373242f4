//! What can go wrong with a server: each message is one line, and none holds a key.

use std::path::PathBuf;
use thiserror::Error;

/// Why the server or a file could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum ImmichError {
    /// An address that is none.
    #[error("'{address}' is no address of an immich server: {reason}")]
    Address { address: String, reason: &'static str },
    /// No key, or one that cannot be sent.
    #[error("{reason}")]
    Key { reason: String },
    /// A server that does not answer.
    #[error("{server} does not answer: {reason}")]
    Network { server: String, reason: String },
    /// A server that answers with an error.
    #[error("{server} answers {status} to {what}{hint}")]
    Refused { server: String, status: u16, what: String, hint: &'static str },
    /// An answer that is not immich's.
    #[error("the answer of {server} to {what} is not immich's: {reason}")]
    Answer { server: String, what: String, reason: String },
    /// A file that cannot be read.
    #[error("{file}: {reason}", file = file.display())]
    File { file: PathBuf, reason: String },
    /// A file that cannot be written.
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
    /// Another run writes there.
    #[error(transparent)]
    Lock(#[from] locdiff_base::LockError),
    /// A model that fails, or was stopped.
    #[error(transparent)]
    Locate(#[from] crate::LocateError),
    /// Suggestions or a journal of another server.
    #[error("{file} is about {theirs}, not {ours}: give the address it was made for", file = file.display())]
    OtherServer { file: PathBuf, theirs: String, ours: String },
}
