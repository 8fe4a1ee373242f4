//! Which photos: files, folders, lists, tables, shards and standard input as one list in an order that is always the same.

use crate::sources::folder::{PassedOver, Skipped};
use crate::sources::zipped;
use crate::sources::{IngestError, PhotoLimits, PhotoSource, PlaceSource, Result, folder, parquet, shard, table};
use crate::{sources::index::PictureIndex, sources::list::PhotoList};
use locdiff_io::tags::MediaKind;
use rayon::prelude::*;
use std::{collections::HashSet, fs, io::Read, path::Component, path::Path, path::PathBuf};

/// The photos that a user named, found but not read.
#[derive(Debug, Clone, Default)]
pub struct Photos {
    sources: Vec<PhotoSource>,
    /// Files in folders and shards that are no pictures, by kind; its text is "3 videos, 2 other files".
    pub passed_over: PassedOver,
    skipped: Vec<Skipped>,
    /// The photos of a list whose pictures are not there, by name.
    pub absent: Vec<String>,
}

impl Photos {
    /// The photos that arguments name. An argument is a file, a folder (searched by name), a `.csv` table with a column of
    /// paths (and lat, lon), a `.tar` or `.zip` shard, or a `.parquet` file of images. `@list.txt` has a path a line, and
    /// `-` is a photo on standard input. `path_column` names a table's column of paths; else the usual names are tried.
    ///
    /// A photo that comes twice is taken once. Pipes, devices, links that lead nowhere or back, and folders that may not
    /// be read are [`Photos::skipped`]; videos and other files are [`Photos::passed_over`]. Fails for tables, lists and
    /// shards that cannot be read, and arguments that name no picture. A photo that cannot be read fails in its turn.
    pub fn gather(arguments: &[impl AsRef<Path>], path_column: Option<&str>) -> Result<Self> {
        let mut photos = Self::default();
        for argument in arguments {
            photos.add(argument.as_ref(), path_column)?;
        }
        photos.take_each_once();
        if photos.sources.is_empty() {
            let reason = |skipped: &Skipped| format!("{}: {}", skipped.path.display(), skipped.reason);
            let (other_files, skipped) = (photos.other_files(), photos.skipped.iter().map(reason).collect());
            return Err(IngestError::NoPhotos { other_files, skipped });
        }
        Ok(photos)
    }

    /// The photos of a published list, in its order, under its names and with its places. Their pictures are sought in
    /// folders and `.zip`, `.tar` and `.parquet` files. A row without a picture is among [`Photos::absent`], an unusable
    /// one among [`Photos::skipped`]. Fails for archives that cannot be read, and lists without any picture.
    pub fn listed(list: &PhotoList, pictures: &[impl AsRef<Path>]) -> Result<Self> {
        let index = PictureIndex::of(pictures)?;
        let mut photos = Self { skipped: list.bad.clone(), ..Self::default() };
        for photo in &list.photos {
            match index.find(photo) {
                Some(source) => {
                    let place = Some((photo.place, PlaceSource::Csv));
                    photos.sources.push(source.clone().called(&photo.id).at(place));
                }
                None => photos.absent.push(photo.id.clone()),
            }
        }
        photos.skipped.extend(index.skipped);
        if photos.sources.is_empty() {
            let reason = format!("none of the pictures of its {} photos is there", list.photos.len());
            return Err(IngestError::NoList { list: list.path.clone(), reason });
        }
        Ok(photos)
    }

    /// The files of photos and videos that arguments name, as [`Photos::gather`] finds them. Fails as that does.
    pub fn media_files(arguments: &[impl AsRef<Path>]) -> Result<Vec<PathBuf>> {
        let mut photos = Self::default();
        arguments.iter().try_for_each(|argument| photos.add(argument.as_ref(), None))?;
        photos.take_each_once();
        let files = photos.sources.iter().filter_map(PhotoSource::file_path).map(Path::to_owned);
        let files: Vec<PathBuf> = files.chain(photos.passed_over.videos.clone()).collect();
        let none = || IngestError::NoPhotos { other_files: photos.other_files(), skipped: Vec::new() };
        if files.is_empty() { Err(none()) } else { Ok(files) }
    }

    /// Leaves out the photos that nothing beside them gives a place; how many they were.
    pub fn keep_located(&mut self) -> usize {
        let before = self.sources.len();
        self.sources.retain(|photo| photo.place().is_some());
        before - self.sources.len()
    }

    fn add(&mut self, path: &Path, path_column: Option<&str>) -> Result<()> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        match (extension.as_deref(), path.to_str().and_then(|text| text.strip_prefix('@'))) {
            _ if path.as_os_str() == "-" => self.sources.push(from_standard_input()?),
            (_, Some(list)) => self.sources.extend(table::list(Path::new(list))?),
            _ if fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) => {
                let walk = folder::walk(path);
                self.sources.extend(walk.photos);
                self.passed_over.extend(walk.passed);
                self.skipped.extend(walk.skipped);
            }
            (Some("gz" | "tgz" | "zst" | "xz" | "bz2"), _) => {
                return Err(IngestError::Compressed { path: path.to_owned() });
            }
            (Some("csv"), _) => self.sources.extend(table::table(path, path_column)?),
            (Some("parquet"), _) => self.sources.extend(parquet::photos(path)?),
            (Some(end @ ("tar" | "zip")), _) => {
                let (found, others) = if end == "tar" { shard::photos(path)? } else { zipped::photos(path)? };
                self.sources.extend(found);
                self.passed_over.others += others;
            }
            _ if MediaKind::of(path) == MediaKind::Video => self.passed_over.videos.push(path.to_owned()),
            _ => self.sources.push(PhotoSource::file(path)),
        }
        Ok(())
    }

    /// Keeps the first of photos that are the same file, by whatever path or link.
    fn take_each_once(&mut self) {
        let mut paths = self.sources.par_iter().map(true_path).collect::<Vec<_>>().into_iter();
        let mut seen = HashSet::new();
        let skipped = &mut self.skipped;
        self.sources.retain(|photo| {
            let is_new = paths.next().is_none_or(|path| seen.insert(path));
            if !is_new {
                let reason = "it comes twice: it is taken once".to_owned();
                skipped.push(Skipped { path: photo.name().into(), reason });
            }
            is_new
        });
    }

    /// The photos, in their order.
    pub fn sources(&self) -> &[PhotoSource] {
        &self.sources
    }

    /// The same, given away.
    pub fn into_sources(self) -> Vec<PhotoSource> {
        self.sources
    }

    /// Files in folders and shards that are no pictures by their names.
    pub fn other_files(&self) -> usize {
        self.passed_over.count()
    }

    /// Paths that were passed over, and why.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }
}

/// The photo on standard input, no longer than the usual limit.
fn from_standard_input() -> Result<PhotoSource> {
    let max_bytes = PhotoLimits::default().max_bytes;
    let mut contents = Vec::new();
    let read = std::io::stdin().lock().take(max_bytes + 1).read_to_end(&mut contents);
    let file = "standard input".to_owned();
    read.map_err(|reason| IngestError::Read { file: file.clone(), reason })?;
    Ok(PhotoSource::memory(&file, contents))
}

/// The same path for the same photo: links resolved and `.` left out, as far as that goes.
fn true_path(photo: &PhotoSource) -> PathBuf {
    if let Some(row) = photo.row_number() {
        return photo.path().join(row.to_string());
    }
    let resolved = photo.file_path().and_then(|path| fs::canonicalize(path).ok());
    let plain = || Path::new(photo.name()).components().filter(|part| *part != Component::CurDir).collect();
    resolved.unwrap_or_else(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_files_are_photos_and_films_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["a.jpg", "b.CR2", "b.CR2.xmp", "c.MOV", "d/e.mp4", "d/f.raf", "d/notes.txt", "g.heic"];
        fs::create_dir(folder.path().join("d")).unwrap();
        for name in names {
            fs::write(folder.path().join(name), b"x").unwrap();
        }
        let photos = Photos::gather(&[folder.path()], None).unwrap();
        let found: Vec<&Path> =
            photos.sources().iter().map(|photo| photo.path().strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(found, ["a.jpg", "b.CR2", "d/f.raf", "g.heic"].map(Path::new));
        let passed = &photos.passed_over;
        assert_eq!((passed.to_string().as_str(), passed.sidecars), ("2 videos, 1 other file", 1));
        assert_eq!((photos.other_files(), photos.skipped().len()), (4, 0));
        let named = ["a.jpg", "c.MOV"].map(|name| folder.path().join(name));
        assert_eq!(Photos::gather(&named, None).unwrap().passed_over.videos, [named[1].clone()]);
        assert!(matches!(Photos::gather(&named[1..], None), Err(IngestError::NoPhotos { other_files: 1, .. })));
    }

    #[cfg(unix)]
    #[test]
    fn the_reason_for_no_photos_is_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("a.jpg")).unwrap();
        let message = Photos::gather(&[folder.path()], None).unwrap_err().to_string();
        assert!(message.contains("a.jpg: it is a link to nowhere, which does not exist)"), "{message}");
    }
}
