//! Pictures in rows of Parquet files: the files that were read last stay open, with the page that was read last.

use super::file::{Column, ParquetFile};
use std::{collections::VecDeque, io, path::Path, path::PathBuf, sync::Mutex, sync::PoisonError};

/// Files that stay open: photos come in the order of their files.
const OPEN_FILES: usize = 3;

static OPEN: Mutex<VecDeque<(PathBuf, ParquetFile)>> = Mutex::new(VecDeque::new());

pub(super) fn column(file: &ParquetFile) -> Option<Column> {
    let names = "image.bytes jpg.bytes jpeg.bytes img.bytes photo.bytes image jpg jpeg bytes";
    file.bytes_column(&names.split(' ').collect::<Vec<_>>())
}

pub(crate) fn bytes(path: &Path, row: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = open.iter().position(|(other, _)| other == path);
    let mut this = match found.and_then(|k| open.remove(k)) {
        Some((_, file)) => file,
        None => ParquetFile::open(path).map_err(io::Error::other)?,
    };
    let column = column(&this).ok_or_else(|| io::Error::other("its file has no pictures any more"))?;
    let bytes = match this.bytes(column, row).map_err(io::Error::other) {
        Err(error) => Err(error),
        Ok(None) => Err(io::Error::other("its row has no picture")),
        Ok(Some(bytes)) if bytes.len() as u64 <= most => Ok(bytes.to_vec()),
        Ok(Some(bytes)) => Err(io::Error::other(format!("it has {} bytes, at most {most} are read", bytes.len()))),
    };
    open.push_front((path.to_owned(), this));
    open.truncate(OPEN_FILES);
    bytes
}
