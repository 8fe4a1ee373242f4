//! Where bytes come from: a file, standard input, or memory in tests.

use crate::{DataError, Format};
use locdiff_base::display_name;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

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

impl Input {
    /// Opens a path for a format; gives the input and its name for messages.
    pub(crate) fn open(path: &Path, format: Format) -> Result<(Self, String), DataError> {
        let file_name = display_name(path, "standard input");
        if path.as_os_str() == "-" {
            return if format.streams() {
                Ok((Self::Text(Box::new(std::io::stdin())), file_name))
            } else {
                Err(DataError::NeedsFile { file: file_name, format })
            };
        }
        let io_error = |source| DataError::read(&file_name, source);
        let file = File::open(path).map_err(io_error)?;
        let metadata = file.metadata().map_err(io_error)?;
        if metadata.is_dir() {
            return Err(io_error(std::io::ErrorKind::IsADirectory.into()));
        }
        let input = if format.streams() {
            Self::Text(Box::new(file))
        } else if metadata.is_file() {
            Self::Binary(Box::new(BufReader::new(file)), metadata.len())
        } else {
            return Err(DataError::NeedsFile { file: file_name, format });
        };
        Ok((input, file_name))
    }

    /// Takes bytes in memory.
    pub(crate) fn from_bytes(bytes: Vec<u8>, format: Format) -> Self {
        let len = bytes.len() as u64;
        let cursor = std::io::Cursor::new(bytes);
        if format.streams() { Self::Text(Box::new(cursor)) } else { Self::Binary(Box::new(cursor), len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_error(path: &str, format: Format) -> String {
        Input::open(Path::new(path), format).err().expect("an error").to_string()
    }

    #[test]
    fn missing_files_folders_pipes_and_devices_are_named() {
        assert_eq!(
            open_error("/nowhere/x.csv", Format::Csv),
            "cannot read /nowhere/x.csv: No such file or directory (os error 2); check the path"
        );
        assert!(open_error("/tmp", Format::Csv).contains("not a folder"));
        assert!(open_error("/tmp", Format::Npy).contains("not a folder"));
        assert!(open_error("-", Format::Npy).starts_with("standard input: npy needs a regular file"));
        assert!(
            open_error("/dev/zero", Format::Safetensors)
                .contains("/dev/zero: safetensors needs a regular file")
        );
    }
}
