//! The one walk through a folder: regular files only, every folder once, and what cannot be used is named.

use crate::sources::PhotoSource;
use locdiff_base::special_kind;
use locdiff_io::tags::MediaKind;
use std::{collections::HashSet, fmt, fs, path::Path, path::PathBuf};

/// A path that was skipped. It does not stop the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The path.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// Files that were skipped because they are not photos, by kind.
///
/// ```
/// use locdiff_vision::sources::PassedOver;
/// let mut files = PassedOver::default();
/// assert!(files.is_empty());
/// files.videos.push("a.mov".into());
/// files.others = 2;
/// files.sidecars = 5; // read with their photos, so not told
/// assert_eq!(files.to_string(), "1 video, 2 other files");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PassedOver {
    /// Films, whose places and times an album can use (`PhotoFacts::of_video`).
    pub videos: Vec<PathBuf>,
    /// XMP files.
    pub sidecars: usize,
    /// Other files.
    pub others: usize,
}

impl PassedOver {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.videos.is_empty() && self.others == 0
    }

    /// How many files they are.
    pub fn count(&self) -> usize {
        self.videos.len() + self.sidecars + self.others
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.videos.extend(more.videos);
        self.sidecars += more.sidecars;
        self.others += more.others;
    }
}

impl fmt::Display for PassedOver {
    /// "3 videos, 2 other files".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [(self.videos.len(), "video"), (self.others, "other file")].into_iter();
        let parts = parts.filter(|(count, _)| *count > 0).map(|(count, what)| locdiff_base::counted(count, what));
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) photos: Vec<PhotoSource>,
    pub(crate) passed: PassedOver,
    /// Those of them that may hold pictures: `.zip`, `.tar` and `.parquet` files.
    pub(crate) archives: Vec<PathBuf>,
    pub(crate) skipped: Vec<Skipped>,
    /// Folders that were entered, by their true paths.
    entered: HashSet<PathBuf>,
}

/// Every picture below a folder; links are followed, hidden files are not.
pub(crate) fn walk(folder: &Path) -> Walk {
    let mut walk = Walk::default();
    // A stack instead of calls: links make paths as deep as the system allows.
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        if let Some(inner) = walk.visit(&path) {
            waiting.extend(inner.into_iter().rev());
        }
    }
    walk
}

impl Walk {
    /// Takes one path; gives what lies in it where it is a folder that was not seen before.
    fn visit(&mut self, path: &Path) -> Option<Vec<PathBuf>> {
        let kind = match fs::metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) => return self.skip(path, describe(path, &error)),
        };
        if let Some(kind) = special_kind(kind) {
            return self.skip(path, format!("it is {kind}, not a regular file"));
        }
        if kind.is_file() {
            match MediaKind::of(path) {
                kind if kind.is_photo() => self.photos.push(PhotoSource::file(path)),
                MediaKind::Video => self.passed.videos.push(path.to_owned()),
                MediaKind::Sidecar => self.passed.sidecars += 1,
                _ => self.passed.others += 1,
            }
            if matches!(path.extension().and_then(|end| end.to_str()), Some("zip" | "tar" | "parquet")) {
                self.archives.push(path.to_owned());
            }
            return None;
        }
        let true_path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !self.entered.insert(true_path) {
            return self.skip(path, "it is a link to a folder that was searched already".to_owned());
        }
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => return self.skip(path, format!("the folder cannot be read: {error}")),
        };
        let mut inner = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) if entry.file_name().as_encoded_bytes().starts_with(b".") => {}
                Ok(entry) => inner.push(entry.path()),
                Err(error) => _ = self.skip(path, format!("a part of the folder cannot be read: {error}")),
            }
        }
        inner.sort();
        Some(inner)
    }

    fn skip(&mut self, path: &Path, reason: String) -> Option<Vec<PathBuf>> {
        self.skipped.push(Skipped { path: path.to_owned(), reason });
        None
    }
}

fn describe(path: &Path, error: &std::io::Error) -> String {
    match fs::symlink_metadata(path) {
        Ok(link) if link.is_symlink() && error.kind() == std::io::ErrorKind::NotFound => {
            format!("it is a link to {}, which does not exist", fs::read_link(path).unwrap_or_default().display())
        }
        Ok(link) if link.is_symlink() => format!("it is a link that leads nowhere: {error}"),
        _ => error.to_string(),
    }
}
