//! Copies, sidecars and photos that are written into, on disk.

use crate::tags::journal::{hash, original_path};
use crate::tags::{GeoTag, Overwrite, PlaceNames, Result, TagError, TagJournal, adobe_sidecar_path, error::Refusal};
use crate::tags::{has_location, jpeg_names, merge::merged, raw_kind, sidecar_only, sidecar_path, tagged, xmp};
use locdiff_base::{AtomicFile, WriteError, ensure, make_folder, name_count};
use std::{fs, io::Write, path::Path, path::PathBuf};

/// A file ready to be written: all that can be in the way was looked at, nothing on disk has changed.
#[derive(Debug)]
#[must_use = "nothing is written yet"]
pub struct PreparedWrite {
    /// The file that writing makes.
    pub file: PathBuf,
    contents: Vec<u8>,
    /// The photo. Nobody may read the file who may not read it; a copy takes its times and permissions.
    like: fs::Metadata,
    /// The folder of the photo of a copy: folders that are made take its permissions at most.
    folder: Option<fs::Metadata>,
    /// What writing does to it.
    pub change: Change,
    /// The hash of the photo that is written into and stays beside it.
    original: Option<String>,
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
    /// The photo is written into, and stays beside it as NAME_original.
    InPlace,
}

impl Change {
    /// A word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Merge => "add to",
            Self::InPlace => "write into",
        }
    }
}

impl PreparedWrite {
    /// Writes the file, whole or not at all, after a line in the journal. A copy gets the photo's times and permissions.
    /// Fails if the file or the journal cannot be written, or the file is a link or outside the journal's folder.
    pub fn write(self, journal: Option<&mut TagJournal>) -> Result<PathBuf> {
        let failed = |reason| WriteError::new(&self.file.display().to_string(), reason);
        if let Some(journal) = journal {
            journal.record(&self.file, &self.contents, self.original.clone())?;
        }
        make_folder(parent(&self.file), self.folder.as_ref()).map_err(failed)?;
        let mut file = AtomicFile::create_like(&self.file, &self.like)?;
        file.write_all(&self.contents).map_err(failed)?;
        if self.folder.is_some() || self.original.is_some() {
            file.take_attributes(&self.like)?;
        }
        if self.original.is_some() {
            put_aside(&self.file, &self.like)?;
        }
        file.commit()?;
        Ok(self.file)
    }
}

/// Gives a photo its second name, [`original_path`], which is free; a copy where the file system has no such names.
fn put_aside(photo: &Path, like: &fs::Metadata) -> Result<()> {
    let original = original_path(photo);
    let name = original.display().to_string();
    match fs::hard_link(photo, &original) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(TagError::HasOriginal { file: name }),
        Err(_) => {
            let mut copy = AtomicFile::create_like(&original, like)?;
            copy.write_all(&read(photo)?).map_err(|reason| WriteError::new(&name, reason))?;
            copy.take_attributes(like)?;
            Ok(copy.commit()?)
        }
    }
}

/// Makes a copy of a photo with the place in it ready. Fails as [`tagged`] does, and if the copy would be the photo
/// itself, or exists and may not be replaced.
pub fn prepare_copy(photo: &Path, copy: &Path, tag: &GeoTag, overwrite: Overwrite) -> Result<PreparedWrite> {
    let contents = with_tag(&read(photo)?, photo, tag, overwrite)?;
    prepare_file(photo, copy, contents, overwrite)
}

/// Makes a copy of a file ready, as it is. Fails if the file cannot be read, or the copy would be the file itself, or
/// exists and may not be replaced.
pub fn prepare_plain_copy(photo: &Path, copy: &Path, overwrite: Overwrite) -> Result<PreparedWrite> {
    prepare_file(photo, copy, read(photo)?, overwrite)
}

/// Makes a photo ready to be written into. It stays beside itself as NAME_original, the name that exiftool gives it.
/// Fails as [`tagged`] does, and if the photo is a link or has a second name, or NAME_original is there already, which is never replaced:
/// except where it `is_left` by an interrupted run, and removed before anything is written.
pub fn prepare_in_place(photo: &Path, tag: &GeoTag, overwrite: Overwrite, is_left: bool) -> Result<PreparedWrite> {
    let like = attributes(photo)?;
    let unfit = |reason: String| TagError::Unfit { file: photo.display().to_string(), reason };
    if fs::symlink_metadata(photo).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(unfit("it is a link: give the photo itself".to_owned()));
    }
    let old = read(photo)?;
    let contents = with_tag(&old, photo, tag, overwrite)?;
    let original = original_path(photo);
    if !is_left && fs::symlink_metadata(&original).is_ok() {
        return Err(TagError::HasOriginal { file: original.display().to_string() });
    }
    let names = name_count(&like) - u64::from(is_left);
    ensure!(names <= 1, unfit(format!("it has {names} names (hard links), and only this one would be changed")));
    let (file, original) = (photo.to_owned(), Some(hash(&old)));
    Ok(PreparedWrite { file, contents, like, folder: None, change: Change::InPlace, original })
}

/// The photo with the tag, and with the names of the place where it has room for them.
fn with_tag(contents: &[u8], photo: &Path, tag: &GeoTag, overwrite: Overwrite) -> Result<Vec<u8>> {
    let name = photo.display().to_string();
    if sidecar_only(photo) {
        // Also where its content does not tell: RAW files are never changed.
        return Err(TagError::SidecarOnly { file: name, kind: raw_kind(contents).unwrap_or("by its name") });
    }
    let contents = tagged(contents, &name, tag, overwrite)?;
    let named = Some(&tag.names).filter(|names| **names != PlaceNames::default());
    let named = named.and_then(|names| jpeg_names::in_jpeg(&contents, names));
    Ok(named.unwrap_or(contents))
}

fn prepare_file(photo: &Path, copy: &Path, contents: Vec<u8>, overwrite: Overwrite) -> Result<PreparedWrite> {
    let change = target_change(photo, copy, overwrite)?;
    let (like, folder) = (attributes(photo)?, Some(attributes(parent(photo))?));
    Ok(PreparedWrite { file: copy.to_owned(), contents, like, folder, change, original: None })
}

/// What writing a copy does. Fails if it would be the photo itself, or exists and may not be replaced.
pub(crate) fn target_change(photo: &Path, copy: &Path, overwrite: Overwrite) -> Result<Change> {
    let target = || copy.display().to_string();
    match (fs::canonicalize(photo), fs::canonicalize(copy)) {
        (Ok(from), Ok(to)) if from == to => Err(TagError::IsOriginal { file: target() }),
        (Ok(_), Ok(_)) if !overwrite.files => Err(TagError::Exists { file: target() }),
        (Ok(_), Ok(_)) => Ok(Change::Replace),
        _ => Ok(Change::Create),
    }
}

/// The folder of a file.
pub(crate) fn parent(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn attributes(photo: &Path) -> Result<fs::Metadata> {
    fs::metadata(photo).map_err(|source| TagError::Read { file: photo.display().to_string(), source })
}

/// Makes [`sidecar_path`] with the place ready, or [`adobe_sidecar_path`] of a RAW file that has that one. An existing
/// sidecar keeps its other properties. Fails for an unreadable photo, a location that stays, or a sidecar that is no XMP.
pub fn prepare_sidecar(photo: &Path, tag: &GeoTag, overwrite: Overwrite) -> Result<PreparedWrite> {
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
    let refused = |refusal| match refusal {
        Refusal::HasLocation => TagError::HasLocation { file: name() },
        Refusal::Unfit(reason) => TagError::Sidecar { file: name(), reason },
    };
    let (contents, change) = if let Ok(there) = fs::symlink_metadata(&file) {
        if there.is_file() && name_count(&there) > 1 {
            return Err(refused(Refusal::Unfit("it has a second name (a hard link)".to_owned())));
        }
        (merged(&read(&file)?, tag, overwrite).map_err(refused)?, Change::Merge)
    } else {
        (xmp::packet(tag).into_bytes(), Change::Create)
    };
    Ok(PreparedWrite { file, contents, like: attributes(photo)?, folder: None, change, original: None })
}

/// Writes a copy of a photo with the place in it. The copy appears whole or not at all. Fails as [`prepare_copy`] and
/// [`PreparedWrite::write`] do.
pub fn write_copy(photo: &Path, copy: &Path, tag: &GeoTag, overwrite: Overwrite) -> Result<()> {
    prepare_copy(photo, copy, tag, overwrite)?.write(None).map(|_| ())
}

/// Writes the place into [`sidecar_path`], and returns that path. Fails as [`prepare_sidecar`] and [`PreparedWrite::write`]
/// do.
pub fn write_sidecar(photo: &Path, tag: &GeoTag, overwrite: Overwrite) -> Result<PathBuf> {
    prepare_sidecar(photo, tag, overwrite)?.write(None)
}

fn read(photo: &Path) -> Result<Vec<u8>> {
    fs::read(photo).map_err(|source| TagError::Read { file: photo.display().to_string(), source })
}
