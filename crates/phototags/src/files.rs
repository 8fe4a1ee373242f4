//! Copies and sidecars on disk.

use crate::merge::{self, merged};
use crate::{
    GeoTag, Journal, Overwrite, Result, TagError, adobe_sidecar_path, has_location, sidecar_only, sidecar_path, tagged,
    xmp,
};
use locdiff_base::{AtomicFile, WriteError};
use std::path::{Path, PathBuf};
use std::{fs, io::Write};

/// A file ready to be written: all that can be in the way was looked at, nothing on disk has changed.
#[derive(Debug)]
#[must_use = "nothing is written yet"]
pub struct Prepared {
    file: PathBuf,
    contents: Vec<u8>,
    /// The photo whose times and permissions a copy takes.
    like: Option<fs::Metadata>,
    change: Change,
}

/// What writing would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The file is new.
    Create,
    /// A file of the name is replaced.
    Replace,
    /// The place is added to a sidecar.
    Merge,
}

impl Prepared {
    /// The file that writing makes.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What writing does to it.
    pub fn change(&self) -> Change {
        self.change
    }

    /// Writes the file, whole or not at all, after a line in the journal. A copy gets the photo's times and permissions.
    ///
    /// # Errors
    /// When the file or the journal cannot be written.
    pub fn write(self, journal: Option<&mut Journal>) -> Result<PathBuf> {
        if let Some(journal) = journal {
            journal.record(&self.file, &self.contents)?;
        }
        let mut file = AtomicFile::create(&self.file)?;
        let failed = |reason| WriteError::new(&self.file.display().to_string(), reason);
        file.write_all(&self.contents).map_err(failed)?;
        if let Some(like) = &self.like {
            file.take_attributes(like)?;
        }
        file.commit()?;
        Ok(self.file)
    }
}

/// Makes a copy of a photo with the place in it ready.
///
/// # Errors
/// As [`tagged`]; and when the copy would be the photo itself, or exists and may not be replaced.
pub fn prepare_copy(photo: &Path, copy: &Path, tag: &GeoTag, overwrite: Overwrite) -> Result<Prepared> {
    let contents = read(photo)?;
    let target = || copy.display().to_string();
    let mut change = Change::Create;
    if let (Ok(from), Ok(to)) = (fs::canonicalize(photo), fs::canonicalize(copy)) {
        if from == to {
            return Err(TagError::IsOriginal { file: target() });
        }
        change = Change::Replace;
    }
    let contents = tagged(&contents, &photo.display().to_string(), tag, overwrite)?;
    if change == Change::Replace && !overwrite.files {
        return Err(TagError::Exists { file: target() });
    }
    let like = fs::metadata(photo).map_err(|source| TagError::Read { file: photo.display().to_string(), source })?;
    Ok(Prepared { file: copy.to_owned(), contents, like: Some(like), change })
}

/// Makes [`sidecar_path`] with the place in it ready, or [`adobe_sidecar_path`] of a RAW file that has that one. An existing sidecar
/// keeps its other properties.
///
/// # Errors
/// When the photo cannot be read, or it or the sidecar has a location already and may not get another, or the sidecar is
/// no XMP.
pub fn prepare_sidecar(photo: &Path, tag: &GeoTag, overwrite: Overwrite) -> Result<Prepared> {
    let contents = read(photo)?;
    let mut file = sidecar_path(photo);
    let adobe = adobe_sidecar_path(photo);
    if sidecar_only(photo) && adobe.is_file() && fs::symlink_metadata(&file).is_err() {
        file = adobe;
    }
    let name = || file.display().to_string();
    if !overwrite.locations && has_location(&contents) {
        return Err(TagError::HasLocation { file: photo.display().to_string() });
    }
    let (contents, change) = if fs::symlink_metadata(&file).is_ok() {
        let merged = merged(&read(&file)?, tag, overwrite).map_err(|refusal| match refusal {
            merge::Refusal::HasLocation => TagError::HasLocation { file: name() },
            merge::Refusal::Unfit(reason) => TagError::Sidecar { file: name(), reason },
        })?;
        (merged, Change::Merge)
    } else {
        (xmp::packet(tag).into_bytes(), Change::Create)
    };
    Ok(Prepared { file, contents, like: None, change })
}

/// Writes a copy of a photo with the place in it. The copy appears whole or not at all.
///
/// # Errors
/// As [`prepare_copy`] and [`Prepared::write`].
pub fn write_copy(photo: &Path, copy: &Path, tag: &GeoTag, overwrite: Overwrite) -> Result<()> {
    prepare_copy(photo, copy, tag, overwrite)?.write(None).map(|_| ())
}

/// Writes the place into [`sidecar_path`], and returns that path.
///
/// # Errors
/// As [`prepare_sidecar`] and [`Prepared::write`].
pub fn write_sidecar(photo: &Path, tag: &GeoTag, overwrite: Overwrite) -> Result<PathBuf> {
    prepare_sidecar(photo, tag, overwrite)?.write(None)
}

fn read(photo: &Path) -> Result<Vec<u8>> {
    fs::read(photo).map_err(|source| TagError::Read { file: photo.display().to_string(), source })
}
