//! What can go wrong with a server: each message is one line, and none holds a key.

use std::path::PathBuf;
use thiserror::Error;

/// Why the server or a file could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImmichError {
    /// An address that is none.
    #[error("'{address}' is no address of an immich server: {reason}")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// No key, or one that cannot be sent.
    #[error("{reason}")]
    Key {
        /// What is missing.
        reason: String,
    },
    /// A server that does not answer.
    #[error("{server} does not answer: {reason}")]
    Network {
        /// The server.
        server: String,
        /// The reason.
        reason: String,
    },
    /// A server that answers with an error.
    #[error("{server} answers {status} to {what}{hint}")]
    Refused {
        /// The server.
        server: String,
        /// The HTTP status.
        status: u16,
        /// What was asked.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// An answer that is not immich's.
    #[error("the answer of {server} to {what} is not immich's: {reason}")]
    Answer {
        /// The server.
        server: String,
        /// What was asked.
        what: String,
        /// What is wrong.
        reason: String,
    },
    /// A file that cannot be read.
    #[error("{file}: {reason}", file = file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A file that cannot be written.
    #[error(transparent)]
    Write(#[from] locdiff_base::WriteError),
    /// Suggestions or a journal of another server.
    #[error("{file} is about {theirs}, not {ours}: give the address it was made for", file = file.display())]
    OtherServer {
        /// The file.
        file: PathBuf,
        /// The server in it.
        theirs: String,
        /// The server that was given.
        ours: String,
    },
}
