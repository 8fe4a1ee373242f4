//! Pictures by their names, wherever they lie: folders, and archives in them.

use crate::sources::folder::{self, Skipped};
use crate::sources::{IngestError, PhotoSource, Result, list::ListedPhoto, parquet, shard, source::is_picture, zipped};
use std::{collections::HashMap, path::Path};

/// Pictures by their names without folder and ending.
#[derive(Default)]
pub(crate) struct PictureIndex {
    pictures: Vec<PhotoSource>,
    by_name: HashMap<Box<str>, usize>,
    pub(crate) skipped: Vec<Skipped>,
}

impl PictureIndex {
    /// Of folders, `.zip`, `.tar` and `.parquet` files.
    pub(crate) fn of(roots: &[impl AsRef<Path>]) -> Result<Self> {
        let mut index = Self::default();
        for root in roots {
            let root = root.as_ref();
            if root.is_dir() {
                let walk = folder::walk(root);
                index.add(walk.photos);
                for archive in &walk.archives {
                    // One shard that is cut off does not lose the others.
                    if let Err(error) = index.archive(archive) {
                        index.skipped.push(Skipped { path: archive.clone(), reason: error.to_string() });
                    }
                }
                index.skipped.extend(walk.skipped);
            } else {
                index.archive(root)?;
            }
        }
        Ok(index)
    }

    fn archive(&mut self, path: &Path) -> Result<()> {
        let found = match path.extension().and_then(|end| end.to_str()) {
            Some("zip") => zipped::photos(path)?.0,
            Some("tar") => shard::photos(path)?.0,
            Some("parquet") => parquet::photos(path)?,
            _ => {
                let reason = std::io::Error::other("it is not a folder or a .zip, .tar or .parquet file");
                return Err(IngestError::Read { file: path.display().to_string(), reason });
            }
        };
        self.add(found);
        Ok(())
    }

    fn add(&mut self, pictures: Vec<PhotoSource>) {
        for picture in pictures {
            // The first of a name stays: copies lie side by side in some downloads.
            let name = stem(last(picture.name())).into();
            self.by_name.entry(name).or_insert(self.pictures.len());
            self.pictures.push(picture);
        }
    }

    /// The picture of a list's row: `ab/cd/12.jpg` may lie as `12.jpg` in a folder or as `ab_cd_12.jpg`.
    pub(crate) fn find(&self, photo: &ListedPhoto) -> Option<&PhotoSource> {
        let id = photo.id.trim_start_matches("./");
        let joined = id.replace('/', "_");
        let names = [Some(stem(&joined)), Some(stem(last(id))), photo.hash.as_deref().map(|hash| stem(last(hash)))];
        let found = names.into_iter().flatten().find_map(|name| self.by_name.get(name))?;
        self.pictures.get(*found)
    }
}

fn last(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

fn stem(name: &str) -> &str {
    let without = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if is_picture(Path::new(name)) { without } else { name }
}
