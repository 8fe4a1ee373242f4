//! The photos that a user names, found but not decoded yet.
//!
//! | you want | item |
//! |---|---|
//! | the photos of files, folders, lists, tables, tar and zip shards, Parquet files | [`Photos`], [`PhotoSource`], [`Skipped`] |
//! | those of a published list, whose pictures lie in folders and archives | [`PhotoList`], [`Photos::listed`] |
//! | what went wrong, in one line | [`IngestError`], [`ParquetError`] |
//!
//! ```
//! use locdiff_vision::sources::{PhotoLimits, Photos};
//! let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision");
//! let photos = Photos::gather(&[folder], None)?;
//! let decoded = photos.sources().iter().filter(|source| source.read(&PhotoLimits::default()).is_ok()).count();
//! assert!(decoded > 10);
//! # Ok::<(), locdiff_vision::sources::IngestError>(())
//! ```

mod error;
mod folder;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod index;
mod list;
mod parquet;
mod photos;
mod shard;
mod source;
mod table;
#[cfg_attr(target_family = "wasm", path = "no_zip.rs")]
mod zipped;

pub use crate::PhotoLimits;
pub use error::{IngestError, Result};
pub use folder::{PassedOver, Skipped};
pub use list::{ListedPhoto, PhotoList};
pub use parquet::ParquetError;
pub use photos::Photos;
pub use source::{PhotoSource, PlaceSource};
