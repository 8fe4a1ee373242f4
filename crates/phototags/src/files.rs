//! Copies and sidecars on disk.

use crate::{GeoTag, Overwrite, Result, TagError, has_location, tagged, xmp};
use locdiff_base::AtomicFile;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a copy of a photo with the place in it. The copy appears whole or not at all.
///
/// # Errors
/// As [`tagged`]; and when the copy would be the photo itself, or exists and may not be replaced.
pub fn write_copy(photo: &Path, copy: &Path, tag: &GeoTag, overwrite: Overwrite) -> Result<()> {
    let contents = read(photo)?;
    let target = || copy.display().to_string();
    if let (Ok(from), Ok(to)) = (fs::canonicalize(photo), fs::canonicalize(copy)) {
        if from == to {
            return Err(TagError::IsOriginal { file: target() });
        }
        if overwrite == Overwrite::Never {
            return Err(TagError::Exists { file: target() });
        }
    }
    let contents = tagged(&contents, &photo.display().to_string(), tag, overwrite)?;
    Ok(AtomicFile::write_whole(copy, &contents)?)
}

/// Writes the place into [`sidecar_path`], and returns that path.
///
/// # Errors
/// When the photo cannot be read or has a location already, or the sidecar exists: it may hold someone's work. Forced,
/// it is replaced.
pub fn write_sidecar(photo: &Path, tag: &GeoTag, overwrite: Overwrite) -> Result<PathBuf> {
    let contents = read(photo)?;
    let sidecar = sidecar_path(photo);
    if overwrite == Overwrite::Never {
        if has_location(&contents) {
            return Err(TagError::HasLocation { file: photo.display().to_string() });
        }
        if fs::symlink_metadata(&sidecar).is_ok() {
            return Err(TagError::Exists { file: sidecar.display().to_string() });
        }
    }
    AtomicFile::write_whole(&sidecar, xmp::packet(tag).as_bytes())?;
    Ok(sidecar)
}

/// The photo's path with `.xmp` after it, as darktable and digiKam look for it.
///
/// ```
/// use std::path::Path;
/// assert_eq!(locdiff_phototags::sidecar_path(Path::new("a/b.jpg")), Path::new("a/b.jpg.xmp"));
/// ```
pub fn sidecar_path(photo: &Path) -> PathBuf {
    let mut path: OsString = photo.as_os_str().to_owned();
    path.push(".xmp");
    path.into()
}

fn read(photo: &Path) -> Result<Vec<u8>> {
    fs::read(photo).map_err(|source| TagError::Read { file: photo.display().to_string(), source })
}
