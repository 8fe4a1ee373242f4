//! A binary file's header while it is read.

use crate::data::{DataError, Format, Result};
use std::io::Read;

/// The bytes at the start of a binary file, and what is known about the file before they are believed.
pub(crate) struct Header<'a> {
    pub(crate) input: &'a mut dyn Read,
    /// The file's size, against which everything is checked.
    pub(crate) file_bytes: u64,
    pub(crate) file: &'a str,
    pub(crate) format: Format,
}

impl<'a> Header<'a> {
    /// The header of a file of so many bytes, which must not be empty.
    pub(crate) fn new(input: &'a mut dyn Read, file_bytes: u64, file: &'a str, format: Format) -> Result<Self> {
        if file_bytes == 0 {
            return Err(DataError::Empty { file: file.to_owned(), expected: "an array" });
        }
        Ok(Self { input, file_bytes, file, format })
    }

    /// The next bytes. The memory taken grows with what is there, not with what was asked for.
    pub(crate) fn take(&mut self, count: u64) -> Result<Vec<u8>, DataError> {
        let mut bytes = Vec::new();
        let read = (&mut *self.input).take(count).read_to_end(&mut bytes);
        read.map_err(|source| DataError::read(self.file, source))?;
        if bytes.len() as u64 == count { Ok(bytes) } else { Err(self.unsound("it ends inside its header")) }
    }

    /// A little-endian number of up to 8 bytes.
    pub(crate) fn number(&mut self, bytes: u64) -> Result<u64, DataError> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    }

    pub(crate) fn unsound(&self, reason: impl Into<String>) -> DataError {
        DataError::Header { file: self.file.to_owned(), format: self.format, reason: reason.into() }
    }
}
