//! Where bytes come from: a file, standard input, or memory in tests; and a binary file's header while it is read.

use crate::data::{DataError, Format, Result};
use locdiff_base::{display_name, ensure};
use std::io::{BufReader, Cursor, Read, Seek};
use std::{fs::File, path::Path, sync::atomic::AtomicBool, sync::atomic::Ordering};

/// A source that can jump, for binary formats.
pub(crate) trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// An opened input, as its format needs it.
pub(crate) enum Input {
    /// Text, read once from front to back.
    Text(Box<dyn Read + Send>),
    /// A binary array with its size in bytes, against which its header is checked.
    Binary(Box<dyn ReadSeek>, u64),
}

/// Binary arrays on standard input are held in memory, up to this size.
const MOST_FROM_STDIN: u64 = 4 << 30;

impl Input {
    /// Opens a path; without a format the path's extension says it, or the first bytes of standard input do. Gives the input,
    /// its format and its name for messages.
    pub(crate) fn open(path: &Path, format: Option<Format>) -> Result<(Self, Format, String), DataError> {
        let file_name = display_name(path, "standard input");
        if path.as_os_str() == "-" {
            let (input, format) = from_stdin(format).map_err(|source| DataError::read(&file_name, source))?;
            return Ok((input, format, file_name));
        }
        let format = Format::resolve(path, format)?;
        let io_error = |source: std::io::Error| DataError::read(&file_name, source);
        // A binary array needs a regular file; to open a pipe would wait for its other end.
        let metadata = std::fs::metadata(path).map_err(io_error)?;
        ensure!(!metadata.is_dir(), io_error(std::io::ErrorKind::IsADirectory.into()));
        ensure!(format.streams() || metadata.is_file(), DataError::NeedsFile { file: file_name, format });
        let file = File::open(path).map_err(io_error)?;
        let bytes = file.metadata().map_err(io_error)?.len();
        let binary = |file| Self::Binary(Box::new(BufReader::new(file)), bytes);
        Ok((if format.streams() { Self::Text(Box::new(file)) } else { binary(file) }, format, file_name))
    }

    pub(crate) fn from_bytes(bytes: Vec<u8>, format: Format) -> Self {
        let (length, cursor) = (bytes.len() as u64, Cursor::new(bytes));
        if format.streams() { Self::Text(Box::new(cursor)) } else { Self::Binary(Box::new(cursor), length) }
    }
}

/// Standard input, once; its first bytes tell the format where none is given.
fn from_stdin(format: Option<Format>) -> std::io::Result<(Input, Format)> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::SeqCst) {
        let reason = "it is read already, and can be read once: give a file for one of the two";
        return Err(std::io::Error::other(reason));
    }
    let mut stdin = std::io::stdin();
    let mut begin = Vec::new();
    stdin.by_ref().take(9).read_to_end(&mut begin)?;
    let format = format.unwrap_or_else(|| Format::of_bytes(&begin));
    let mut whole = Cursor::new(begin).chain(stdin);
    if format.streams() {
        return Ok((Input::Text(Box::new(whole)), format));
    }
    let mut bytes = Vec::new();
    whole.by_ref().take(MOST_FROM_STDIN + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_FROM_STDIN {
        return Err(std::io::Error::other("it has more than 4 GiB: write it to a file first"));
    }
    Ok((Input::from_bytes(bytes, format), format))
}

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
        ensure!(file_bytes != 0, DataError::Empty { file: file.to_owned(), expected: "an array" });
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
