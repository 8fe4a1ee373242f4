//! What the headers of `.npy` and safetensors files have in common.

use crate::array::{ArrayLayout, ArrayReader};
use crate::input::ReadSeek;
use crate::{DataError, Format, npy, safetensors_header};
use std::io::Read;

/// Which tensor of a safetensors file to read: the one that is called `given`; or else the one that is called
/// `preferred`; or else the only one.
#[derive(Clone, Copy)]
pub(crate) struct TensorChoice<'a> {
    pub(crate) given: Option<&'a str>,
    pub(crate) preferred: &'a str,
}

/// Reads a binary file's header and goes to its array's first row.
pub(crate) fn open_array(
    mut input: Box<dyn ReadSeek>,
    file_bytes: u64,
    file: &str,
    format: Format,
    choice: TensorChoice<'_>,
) -> Result<ArrayReader, DataError> {
    let layout = read_layout(&mut input, file_bytes, file, format, choice)?;
    ArrayReader::new(input, layout).map_err(|source| DataError::read(file, source))
}

/// Reads a binary file's header.
pub(crate) fn read_layout(
    input: &mut Box<dyn ReadSeek>,
    file_bytes: u64,
    file: &str,
    format: Format,
    choice: TensorChoice<'_>,
) -> Result<ArrayLayout, DataError> {
    if file_bytes == 0 {
        return Err(DataError::Empty { file: file.to_owned(), expected: "an array" });
    }
    let header = Header { input, file_bytes, file, format };
    if format == Format::Npy {
        npy::read_header(header)
    } else {
        safetensors_header::read_header(header, choice)
    }
}

/// A header while it is read.
pub(crate) struct Header<'a> {
    pub(crate) input: &'a mut Box<dyn ReadSeek>,
    /// The file's size, against which everything is checked.
    pub(crate) file_bytes: u64,
    pub(crate) file: &'a str,
    pub(crate) format: Format,
}

impl Header<'_> {
    /// The next bytes. The memory taken grows with what is there, not with what was asked for.
    pub(crate) fn take(&mut self, count: u64) -> Result<Vec<u8>, DataError> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(count).read_to_end(&mut bytes);
        read.map_err(|source| DataError::read(self.file, source))?;
        if bytes.len() as u64 == count { Ok(bytes) } else { Err(self.unsound("it ends inside its header")) }
    }

    /// A little-endian number of up to 8 bytes.
    pub(crate) fn number(&mut self, bytes: u64) -> Result<u64, DataError> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    }

    /// The error for a header that cannot be.
    pub(crate) fn unsound(&self, reason: impl Into<String>) -> DataError {
        DataError::Header { file: self.file.to_owned(), format: self.format, reason: reason.into() }
    }
}
