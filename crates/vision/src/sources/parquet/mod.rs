//! Parquet files of pictures, as Hugging Face publishes them: a structure `image` of `bytes` and `path`, and columns of
//! numbers. Every size is compared with what is there before anything is allocated. Plain and dictionary values in pages
//! of both versions, Snappy, gzip and no packing are read, which pyarrow writes by default; all else is refused by name.

mod codec;
mod error;
mod file;
mod footer;
mod page;
mod photos;
mod pictures;
#[cfg(test)]
mod pyarrow;
mod thrift;

pub use error::ParquetError;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use file::ParquetFile;
pub(crate) use photos::photos;
pub(crate) use pictures::bytes as picture;
