//! Folders of downloaded models: in the data folder under their names, complete or not there.

use super::{error::GetError, error::unreadable, error::unwritable, table::Published};
use crate::home::{data_folder, models_folder};
use locdiff_base::{AtomicFile, OutputLock, ensure};
use serde::{Deserialize, Serialize};
use std::{fs, fs::File, path::Path, path::PathBuf};

/// What the folder of a fetched thing says of its origin.
const ORIGIN_FILE: &str = "origin.json";

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) name: String,
    pub(super) origin: String,
    pub(super) version: Option<String>,
    pub(super) sha256: String,
}

#[derive(Serialize, Deserialize)]
struct OriginFile {
    name: String,
    licence: String,
    program: String,
    files: Vec<Kept>,
}

/// A downloaded model or encoder, see [`Installed::all`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Installed {
    /// Name.
    pub name: String,
    /// Folder.
    pub folder: PathBuf,
    /// Size of its files in bytes.
    pub bytes: u64,
}

/// A folder for an incomplete download. Nothing reads it before it is complete.
pub(super) struct Stage {
    folder: PathBuf,
    pub(super) whole: PathBuf,
    target: PathBuf,
    /// Held until the folder has its name.
    lock: Option<OutputLock>,
}

/// Whether a thing is here and stays. Fails if a folder that was not fetched would be replaced.
pub(super) fn is_here(home: &Path, name: &str, replace: bool) -> Result<bool, GetError> {
    let folder = models_folder(home).join(name);
    ensure!(!replace || !folder.is_dir() || folder.join(ORIGIN_FILE).is_file(), GetError::Own { folder });
    Ok(folder.is_dir() && !replace)
}

impl Stage {
    pub(super) fn of(home: &Path, name: &str) -> Self {
        let models = models_folder(home);
        let folder = models.join(format!(".{name}.part"));
        Self { whole: folder.join("whole"), folder, target: models.join(name), lock: None }
    }

    /// With its folders, for this run alone.
    pub(super) fn begin(home: &Path, name: &str) -> Result<Self, GetError> {
        let mut stage = Self::of(home, name);
        let is_link = fs::symlink_metadata(&stage.folder).is_ok_and(|there| there.is_symlink());
        if is_link {
            let reason = std::io::Error::other("it is a link, which leads elsewhere: remove it");
            return Err(unwritable(&stage.folder)(reason));
        }
        fs::create_dir_all(&stage.folder).map_err(unwritable(&stage.folder))?;
        stage.lock = Some(OutputLock::file(&stage.folder)?);
        // What an earlier run made of its parts is made again: it is soon done.
        match fs::remove_dir_all(&stage.whole) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(unwritable(&stage.whole)(error)),
            _ => fs::create_dir(&stage.whole).map_err(unwritable(&stage.whole))?,
        }
        Ok(stage)
    }

    pub(super) fn part(&self, file: &str) -> PathBuf {
        self.folder.join(format!("{file}.part"))
    }

    /// Removes all that came.
    pub(super) fn discard(self) -> Result<(), GetError> {
        fs::remove_dir_all(&self.folder).map_err(unwritable(&self.folder))
    }

    /// Everything is there: the folder gets its name.
    pub(super) fn finish(self, what: &Published, files: Vec<Kept>) -> Result<(), GetError> {
        let program = concat!("locdiff ", env!("CARGO_PKG_VERSION")).to_owned();
        let origin = OriginFile { name: what.name.to_owned(), licence: what.licence.to_owned(), program, files };
        let text = serde_json::to_string_pretty(&origin).expect("plain data") + "\n";
        AtomicFile::write_whole(&self.whole.join(ORIGIN_FILE), text.as_bytes())?;
        // Copies are put on the disk before they get their name.
        for entry in fs::read_dir(&self.whole).map_err(unreadable(&self.whole))? {
            let path = entry.map_err(unreadable(&self.whole))?.path();
            if path.is_file() {
                File::open(&path).and_then(|file| file.sync_all()).map_err(unwritable(&path))?;
            }
        }
        let old = self.folder.join("old");
        let _ = fs::remove_dir_all(&old); // of a run that was cut off here
        match fs::rename(&self.target, &old) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(unwritable(&self.target)(error)),
            _ => fs::rename(&self.whole, &self.target).map_err(unwritable(&self.target))?,
        }
        fs::remove_dir_all(&self.folder).map_err(unwritable(&self.folder))?;
        drop(self.lock);
        Ok(())
    }
}

impl Installed {
    /// Returns the data folder: `LOCDIFF_HOME`, otherwise `locdiff` in `XDG_DATA_HOME`, otherwise `~/.local/share/locdiff` (Windows: in
    /// `LOCALAPPDATA`). `None` if none of these is set.
    pub fn data_folder() -> Option<PathBuf> {
        data_folder()
    }

    /// Returns the folder of models in a data folder.
    pub fn models_folder(home: &Path) -> PathBuf {
        models_folder(home)
    }

    /// Lists what is installed in a data folder, by name. Fails if the folder cannot be read.
    pub fn all(home: &Path) -> Result<Vec<Self>, GetError> {
        let models = models_folder(home);
        let entries = match fs::read_dir(&models) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(unreadable(&models))?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let folder = entry.map_err(unreadable(&models))?.path();
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if folder.is_dir() && !name.starts_with('.') {
                found.push(Self { bytes: bytes_below(&folder), name, folder });
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Removes a downloaded model and partial downloads of it. Returns the number of bytes freed. Fails if nothing of that name was downloaded,
    /// or a folder cannot be removed.
    pub fn remove(home: &Path, name: &str) -> Result<u64, GetError> {
        let models = models_folder(home);
        let fetched = Self::all(home)?.into_iter().filter(|one| one.folder.join(ORIGIN_FILE).is_file());
        let fetched: Vec<String> = fetched.map(|one| one.name).collect();
        let begun = Stage::of(home, name).folder;
        // Names of the table are names of folders, and nothing else is removed.
        let is_begun = Published::all().iter().any(|what| what.name == name) && begun.is_dir();
        let is_fetched = fetched.iter().any(|known| known == name);
        let mut bytes = None;
        for (folder, _) in [(models.join(name), is_fetched), (begun, is_begun)].into_iter().filter(|(_, is)| *is) {
            *bytes.get_or_insert(0) += bytes_below(&folder);
            fs::remove_dir_all(&folder).map_err(unwritable(&folder))?;
        }
        bytes.ok_or_else(|| {
            let present = if fetched.is_empty() { "none".to_owned() } else { fetched.join(", ") };
            GetError::NotHere { name: name.to_owned(), folder: models, present }
        })
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_below(&entry.path()),
        _ => entry.metadata().map_or(0, |there| there.len()),
    };
    entries.map(size).sum()
}
