//! Where bytes come from: a file, standard input, or memory in tests.

use crate::data::{DataError, Format};
use locdiff_base::display_name;
use std::io::{BufReader, Cursor, Read, Seek};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs::File, path::Path};

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
        if metadata.is_dir() {
            return Err(io_error(std::io::ErrorKind::IsADirectory.into()));
        }
        if !format.streams() && !metadata.is_file() {
            return Err(DataError::NeedsFile { file: file_name, format });
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_folders_pipes_and_devices_are_named() {
        let none = "cannot read /nowhere/x.csv: No such file or directory (os error 2); check the path";
        for (path, format, part) in [
            ("/nowhere/x.csv", Format::Csv, none),
            ("/tmp", Format::Csv, "not a folder"),
            ("/tmp", Format::Npy, "not a folder"),
            ("/dev/zero", Format::Safetensors, "/dev/zero: safetensors needs a regular file"),
        ] {
            let message = Input::open(Path::new(path), Some(format)).err().expect("an error").to_string();
            assert!(message.contains(part) && (part != none || message == none), "{message}");
        }
    }
}
