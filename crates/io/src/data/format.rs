//! The four file formats and how a path names one.

use crate::data::DataError;
use std::{fmt, path::Path, str::FromStr};

/// A file format for points and matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Comma-separated text.
    Csv,
    /// One JSON value a line.
    Jsonl,
    /// `NumPy`'s binary array.
    Npy,
    /// Named binary arrays.
    Safetensors,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 4] = [Self::Csv, Self::Jsonl, Self::Npy, Self::Safetensors];

    /// The format that the path's extension names, in any case. Fails if the extension is missing or unknown; `-` has
    /// none.
    pub fn from_path(path: &Path) -> Result<Self, DataError> {
        let format = path.extension().and_then(|extension| extension.to_str()).and_then(Self::from_name);
        format.ok_or_else(|| DataError::UnknownExtension { file: locdiff_base::display_name(path, "-") })
    }

    /// The format given, or else the path's. Fails if none is given and the path names none.
    pub fn resolve(path: &Path, given: Option<Self>) -> Result<Self, DataError> {
        given.map_or_else(|| Self::from_path(path), Ok)
    }

    /// The format that a file's first nine bytes speak of; text that is no JSON is CSV.
    pub(crate) fn of_bytes(begin: &[u8]) -> Self {
        let text = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin).trim_ascii_start();
        match begin {
            _ if begin.starts_with(b"\x93NUMPY") => Self::Npy,
            _ if matches!(text.first(), Some(b'{' | b'[')) => Self::Jsonl,
            [length @ .., b'{'] if length.len() == 8 && length.contains(&0) => Self::Safetensors,
            _ => Self::Csv,
        }
    }

    /// The format of an output: the one given, or else the path's, or else, on standard output, `stream`. Fails as
    /// [`Format::resolve`] does.
    pub(crate) fn of_output(path: &Path, given: Option<Self>, stream: Self) -> Result<Self, DataError> {
        let given = given.or_else(|| (path.as_os_str() == "-").then_some(stream));
        Self::resolve(path, given)
    }

    /// The name that [`FromStr`] reads: `csv`, `jsonl`, `npy` or `safetensors`.
    pub const fn name(self) -> &'static str {
        ["csv", "jsonl", "npy", "safetensors"][self as usize]
    }

    /// Whether the format can go through a pipe: text can, binary arrays need their file's size.
    pub const fn streams(self) -> bool {
        matches!(self, Self::Csv | Self::Jsonl)
    }

    fn from_name(name: &str) -> Option<Self> {
        let name = if name.eq_ignore_ascii_case("ndjson") { "jsonl" } else { name };
        Self::ALL.into_iter().find(|format| format.name().eq_ignore_ascii_case(name))
    }
}

impl FromStr for Format {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        Self::from_name(name).ok_or_else(|| DataError::UnknownFormat { name: locdiff_base::excerpt(name) })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_round_trip() {
        for format in Format::ALL {
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
            assert_eq!(Format::from_path(Path::new(&format!("dir.csv/x.{format}"))).unwrap(), format);
        }
        assert_eq!(Format::from_path(Path::new("x.ndjson")).unwrap(), Format::Jsonl);
        assert_eq!(Format::from_path(Path::new("places.CSV")).unwrap(), Format::Csv);
    }

    #[test]
    fn the_first_bytes_tell_the_format_of_a_stream() {
        for (begin, format) in [
            (&b"\x93NUMPY\x01\x00v"[..], Format::Npy),
            (b"[1, 2.5]\n", Format::Jsonl),
            (b" {\"lat\":1", Format::Jsonl),
            (b"\x40\0\0\0\0\0\0\0{", Format::Safetensors),
            (b"lat,lon\n1", Format::Csv),
            (b"", Format::Csv),
        ] {
            assert_eq!(Format::of_bytes(begin), format);
        }
        let output = |path: &str| Format::of_output(Path::new(path), None, Format::Jsonl).ok();
        assert_eq!((output("-"), output("x.csv"), output("x")), (Some(Format::Jsonl), Some(Format::Csv), None));
    }
}
