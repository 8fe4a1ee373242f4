//! Parquet files of pictures, as Hugging Face publishes them: a structure `image` of `bytes` and `path`, and columns of numbers.
//!
//! | you want | item |
//! |---|---|
//! | a file and its columns | [`ParquetFile`], [`Column`] |
//! | any row's bytes or number | [`ParquetFile::bytes`], [`ParquetFile::number`] |
//! | what went wrong, in one line | [`ParquetError`] |
//!
//! A reader of its own, because the files come from anywhere: every size is compared with what is there before anything is allocated.
//! It knows plain and dictionary values in pages of both versions, Snappy, gzip and no packing, which is what pyarrow writes
//! unless it is told otherwise; anything else is refused by name.
//!
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("photos.parquet");
//! std::fs::write(&path, "PAR1 and no more PAR1").unwrap();
//! let message = locdiff_parquet::ParquetFile::open(&path).err().unwrap().to_string();
//! assert!(message.contains("is not a whole Parquet file"), "{message}");
//! ```

mod codec;
mod error;
mod file;
mod footer;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod page;
mod thrift;

pub use error::ParquetError;
pub use file::{Column, ParquetFile};
