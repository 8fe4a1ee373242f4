//! What can go wrong while something is fetched: each message is one line that names the file and the remedy.

use std::{io, path::PathBuf};

/// Reason why a [`GetPlan`](super::GetPlan) fails. Received data is kept, and a second call continues from there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum GetError {
    #[error("'{name}' is not a published name: choose from {known}")]
    Unknown { name: String, known: String },
    #[error("no folder to keep models in: set LOCDIFF_HOME")]
    NoHome,
    #[error(
        "cannot reach {address} ({reason}); without a network, copy {by_hand} into one folder, and download from there"
    )]
    Unreachable { address: String, reason: String, by_hand: String },
    #[error("{address}: {reason}")]
    Answer { address: String, reason: String },
    #[error("{address} broke off after {done} of {bytes} bytes ({reason}): data is kept; repeat the command")]
    BrokeOff { address: String, done: u64, bytes: u64, reason: String },
    #[error(
        "{address} has the SHA-256 {met}, but {whose} says {wanted}: it is not kept; download it again, or from elsewhere"
    )]
    Hash { address: String, met: String, wanted: String, whose: &'static str },
    #[error("{folder} has no {file}: copy it there", folder = folder.display())]
    Missing { folder: PathBuf, file: String },
    #[error("the folder {folder} does not exist: name the one with the files", folder = folder.display())]
    NoFolder { folder: PathBuf },
    #[error(
        "{name} does not work ({reason}): it is not installed, and received data is removed; download it from elsewhere"
    )]
    Broken { name: String, reason: String },
    #[error("{folder} was not downloaded by LocDiff: move it away, then download again", folder = folder.display())]
    Own { folder: PathBuf },
    #[error("cannot read {path}: {source}", path = path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {path}: {source}; received data is kept", path = path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("'{name}' was not downloaded; downloaded in {folder}: {present}", folder = folder.display())]
    NotHere { name: String, folder: PathBuf, present: String },
    #[error("{file}: {reason}")]
    Tensors { file: String, reason: String },
    #[error(transparent)]
    Lock(#[from] locdiff_base::LockError),
    #[error(transparent)]
    GeoClip(#[from] locdiff_retrieval::geoclip::GeoClipError),
    #[error(transparent)]
    Gallery(#[from] locdiff_retrieval::gallery::GalleryError),
    #[error(transparent)]
    Whole(#[from] locdiff_base::WriteError),
    #[error("stopped: received data is kept; repeat the command to continue")]
    Stopped,
}

pub(super) fn unreadable(path: &std::path::Path) -> impl Fn(io::Error) -> GetError {
    move |source| GetError::Read { path: path.to_owned(), source }
}

pub(super) fn unwritable(path: &std::path::Path) -> impl Fn(io::Error) -> GetError {
    move |source| GetError::Write { path: path.to_owned(), source }
}
