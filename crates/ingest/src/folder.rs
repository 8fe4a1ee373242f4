//! The pictures below a folder.

use crate::source::is_picture;
use crate::{IngestError, PhotoSource, Result};
use std::path::Path;

/// Every picture below a folder, by name, and how many other files there are; links are followed, hidden files are not.
pub(crate) fn photos(folder: &Path) -> Result<(Vec<PhotoSource>, usize)> {
    let hidden = |entry: &walkdir::DirEntry| {
        entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".")
    };
    let (mut found, mut others) = (Vec::new(), 0);
    let entries = walkdir::WalkDir::new(folder).follow_links(true).sort_by_file_name();
    for entry in entries.into_iter().filter_entry(|entry| !hidden(entry)) {
        let entry = entry.map_err(|reason| IngestError::Folder { folder: folder.to_owned(), reason })?;
        if entry.file_type().is_dir() {
            continue;
        }
        if is_picture(entry.path()) {
            found.push(PhotoSource::file(entry.into_path()));
        } else {
            others += 1;
        }
    }
    Ok((found, others))
}
