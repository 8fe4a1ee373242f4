//! Parquet files of pictures, as Hugging Face publishes them: a structure `image` of `bytes` and `path`, and columns of numbers.
//!
//! A reader of its own, because the files come from anywhere: every size is compared with what is there before anything is allocated.
//! It knows plain and dictionary values in pages of both versions, Snappy, gzip and no packing, which is what pyarrow writes
//! unless it is told otherwise; anything else is refused by name.

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
