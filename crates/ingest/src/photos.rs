//! Which photos: files, folders, lists, tables and shards as one list in an order that is always the same.

use crate::{IngestError, PhotoLimits, PhotoSource, PhotoStream, Result, folder, shard, table};
use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The photos that a user named, found but not read.
#[derive(Debug, Clone, Default)]
pub struct Photos {
    sources: Vec<PhotoSource>,
    other_files: usize,
}

impl Photos {
    /// The photos that arguments name: files, folders (searched by name), `.csv` tables with a column of paths (and lat,
    /// lon), `.tar` shards, and `@list.txt` with a path a line. `path_column` names a table's column of paths; without
    /// it the usual names are tried.
    ///
    /// # Errors
    /// Arguments that cannot be read or name no picture, and photos that come twice. A photo that cannot be read is
    /// none: it fails when its turn comes.
    pub fn gather(arguments: &[impl AsRef<Path>], path_column: Option<&str>) -> Result<Self> {
        let mut photos = Self::default();
        for argument in arguments {
            photos.add(argument.as_ref(), path_column)?;
        }
        if photos.sources.is_empty() {
            return Err(IngestError::NoPhotos { other_files: photos.other_files });
        }
        photos.refuse_doubles()?;
        Ok(photos)
    }

    fn add(&mut self, path: &Path, path_column: Option<&str>) -> Result<()> {
        if let Some(list) = path.to_str().and_then(|text| text.strip_prefix('@')) {
            self.sources.extend(table::list(Path::new(list))?);
            return Ok(());
        }
        let metadata = fs::metadata(path)
            .map_err(|reason| IngestError::Read { file: path.display().to_string(), reason })?;
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let (found, others) = match extension.as_deref() {
            _ if metadata.is_dir() => folder::photos(path)?,
            Some("gz" | "tgz" | "zst" | "xz" | "bz2" | "zip") => {
                return Err(IngestError::Compressed { path: path.to_owned() });
            }
            Some("csv") => (table::table(path, path_column)?, 0),
            Some("tar") => shard::photos(path)?,
            _ => (vec![PhotoSource::file(path)], 0),
        };
        self.sources.extend(found);
        self.other_files += others;
        Ok(())
    }

    fn refuse_doubles(&self) -> Result<()> {
        let mut seen = HashMap::new();
        for (number, photo) in self.sources.iter().enumerate() {
            if let Some(first) = seen.insert(plain(Path::new(photo.name())), number + 1) {
                let (name, second) = (photo.name().to_owned(), number + 1);
                return Err(IngestError::Twice { name, first, second });
            }
        }
        Ok(())
    }

    /// The photos, in their order.
    pub fn sources(&self) -> &[PhotoSource] {
        &self.sources
    }

    /// Files in folders and shards that are no pictures by their names.
    pub fn other_files(&self) -> usize {
        self.other_files
    }

    /// All photos decoded one after the other.
    pub fn into_stream(self, limits: PhotoLimits) -> PhotoStream {
        PhotoStream::new(self.sources, limits)
    }
}

/// The path without `.` in it.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
