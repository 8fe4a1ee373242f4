//! The folder of downloaded models, and their names.

use crate::{error::Failure, error::Result};
use std::{env, path::Component, path::Path, path::PathBuf};

/// Returns the data folder: `LOCDIFF_HOME`, else `locdiff` in `XDG_DATA_HOME`, else `~/.local/share/locdiff`
/// (Windows: in `LOCALAPPDATA`). `None` if none of these is set.
pub(crate) fn data_folder() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("LOCDIFF_HOME").or_else(|| {
        let shared = set("XDG_DATA_HOME").filter(|path| path.is_absolute()); // as its specification asks
        let own = || if cfg!(windows) { set("LOCALAPPDATA") } else { Some(set("HOME")?.join(".local/share")) };
        Some(shared.or_else(own)?.join("locdiff"))
    })
}

pub(crate) fn models_folder(home: &Path) -> PathBuf {
    home.join("models")
}

/// The models and encoders that are published under a name.
pub(crate) const PUBLISHED: [&str; 4] = ["geoclip", "clip-vit-large-patch14", "clip-vit-base-patch32", "dinov2-small"];

pub(crate) fn is_name(given: &Path) -> bool {
    matches!(given.components().collect::<Vec<_>>()[..], [Component::Normal(_)])
}

/// The folder that a user means, as [`by_name`] finds it. Fails on a published name that is not fetched.
pub(crate) fn found(given: &Path) -> Result<PathBuf> {
    let folder = by_name(given);
    let name = given.to_str().filter(|name| PUBLISHED.contains(name) && !folder.exists());
    name.map_or(Ok(folder), |name| Err(Failure::NotFetched { name: name.to_owned() }.into()))
}

/// Returns the folder that a user means: the path itself if it exists, else the model of that name in the data folder.
pub(crate) fn by_name(given: &Path) -> PathBuf {
    if !is_name(given) || given.exists() {
        return given.to_owned();
    }
    let found = data_folder().map(|home| models_folder(&home).join(given)).filter(|folder| folder.is_dir());
    found.unwrap_or_else(|| given.to_owned())
}
