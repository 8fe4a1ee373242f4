//! What can be wrong with a Parquet file: each message is one line.

use std::io;
use thiserror::Error;

/// Why a Parquet file could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum ParquetError {
    #[error("cannot read {file}: {reason}; check the path and its permissions")]
    Read { file: String, reason: io::Error },
    #[error("{file} is not a whole Parquet file ({reason}); copy or download it again")]
    Damaged { file: String, reason: String },
    #[error(
        "{file} {what}; write it again with pyarrow's usual settings, or unpack its pictures to a folder or a .tar"
    )]
    Unknown { file: String, what: String },
}

/// Why bytes could not be understood, before the file's name is known.
#[derive(Debug)]
pub(crate) enum Reason {
    Damaged(String),
    Unknown(String),
    Read(io::Error),
}

impl Reason {
    pub(crate) fn of(self, file: &str) -> ParquetError {
        let file = locdiff_base::one_line(file);
        match self {
            Self::Damaged(reason) => ParquetError::Damaged { file, reason },
            Self::Unknown(what) => ParquetError::Unknown { file, what },
            Self::Read(reason) => ParquetError::Read { file, reason },
        }
    }
}

impl From<io::Error> for Reason {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { cut_off() } else { Self::Read(error) }
    }
}

pub(crate) fn damaged(reason: impl Into<String>) -> Reason {
    Reason::Damaged(reason.into())
}

pub(crate) fn cut_off() -> Reason {
    damaged("it is cut off")
}
