//! What can go wrong while something is fetched: each message is one line that names the file and the remedy.

use std::{io, path::PathBuf};

/// Why something was not fetched by a [`GetPlan`](super::GetPlan). What came is kept, and a second call goes on from there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum GetError {
    #[error("nothing is published as '{name}': known are {known}")]
    Unknown { name: String, known: String },
    #[error("no folder to keep models in: set LOCDIFF_HOME")]
    NoHome,
    #[error(
        "cannot reach {address} ({reason}); without a network copy {by_hand} into one folder, and fetch from there"
    )]
    Unreachable { address: String, reason: String, by_hand: String },
    #[error("{address}: {reason}")]
    Answer { address: String, reason: String },
    #[error("{address} broke off after {done} of {bytes} bytes ({reason}): what came is kept, fetch again to go on")]
    BrokeOff { address: String, done: u64, bytes: u64, reason: String },
    #[error(
        "{address} has the SHA-256 {met}, {whose} says {wanted}: nothing of it was kept; fetch again, or from elsewhere"
    )]
    Hash { address: String, met: String, wanted: String, whose: &'static str },
    #[error("{folder} has no {file}: copy it there", folder = folder.display())]
    Missing { folder: PathBuf, file: String },
    #[error("there is no folder {folder}: name the one that has the files", folder = folder.display())]
    NoFolder { folder: PathBuf },
    #[error(
        "{name} does not work ({reason}): it was not installed, and what came was removed; fetch it from elsewhere"
    )]
    Broken { name: String, reason: String },
    #[error("{folder} was not fetched but made by hand: move it away, then fetch again", folder = folder.display())]
    Own { folder: PathBuf },
    #[error("cannot read {path}: {source}", path = path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {path}: {source}; what was fetched before is kept", path = path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("'{name}' was not fetched: of what is in {folder} these were: {present}", folder = folder.display())]
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
    #[error("stopped: what was fetched is kept, fetch again to go on")]
    Stopped,
}

pub(super) fn unreadable(path: &std::path::Path) -> impl Fn(io::Error) -> GetError {
    move |source| GetError::Read { path: path.to_owned(), source }
}

pub(super) fn unwritable(path: &std::path::Path) -> impl Fn(io::Error) -> GetError {
    move |source| GetError::Write { path: path.to_owned(), source }
}
