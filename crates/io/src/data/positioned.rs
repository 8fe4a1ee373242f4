//! Reading any part of a file at any time.

use crate::data::DataError;
use locdiff_base::{display_name, ensure};
use std::{fs::File, path::Path};

/// A regular file of which any part can be read at any time, from many threads at once: the system's page cache does what
/// a memory map would, without `unsafe`, and a file that shrinks meanwhile is an error instead of a crash.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("x.bin");
/// std::fs::write(&path, b"0123456789").unwrap();
/// let file = locdiff_io::data::PositionedFile::open(&path)?;
/// let mut part = [0; 3];
/// file.read_at(4, &mut part)?;
/// assert_eq!((file.bytes(), &part), (10, b"456"));
/// assert!(file.read_at(8, &mut part).is_err());
/// # Ok::<(), locdiff_io::data::DataError>(())
/// ```
#[derive(Debug)]
pub struct PositionedFile {
    name: String,
    file: File,
    bytes: u64,
}

impl PositionedFile {
    /// Opens a file. Fails if it cannot be opened or is a folder.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let name = display_name(path, "standard input");
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = opened.map_err(|source| DataError::read(&name, source))?;
        ensure!(!metadata.is_dir(), DataError::read(&name, std::io::ErrorKind::IsADirectory.into()));
        Ok(Self { name, file, bytes: metadata.len() })
    }

    /// The file's name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its size when it was opened.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Fills `out` with the bytes from `offset` on. Fails if the file fails or ends before.
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<(), DataError> {
        read_at(&self.file, out, offset).map_err(|source| DataError::read(&self.name, source))
    }
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut out: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, offset)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            count => (out, offset) = (&mut out[count..], offset + count as u64),
        }
    }
    Ok(())
}

/// There are no files in a browser.
#[cfg(not(any(unix, windows)))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
