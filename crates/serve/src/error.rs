//! Why a server does not start.

use std::{net::SocketAddr, path::PathBuf};

/// Why a server does not start or stops, in one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum ServeError {
    /// The address cannot be had.
    #[error("cannot listen on {address}: {source}; choose another address or port")]
    Bind { address: SocketAddr, source: std::io::Error },
    /// The system gives no thread, socket or timer.
    #[error("the server cannot run: {0}")]
    System(#[from] std::io::Error),
    /// A setting out of range.
    #[error(transparent)]
    Setting(#[from] locdiff_base::BadSetting),
    /// A file of keys that cannot be used.
    #[error("cannot read the keys in {}: {reason}", path.display())]
    Keys { path: PathBuf, reason: String },
    /// An address that others reach, and no key.
    #[error(
        "other machines can reach {address}, and no key is set: set a key, listen on 127.0.0.1, or allow open access"
    )]
    Open { address: SocketAddr },
    /// A locator that cannot see photos.
    #[error("this locator was opened without an encoder: a server needs one")]
    NoEncoder,
}
