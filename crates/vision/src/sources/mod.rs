//! From the photos that a user names to embeddings on the disk.
//!
//! | you want | item |
//! |---|---|
//! | the photos of files, folders, lists, tables, tar and zip shards, Parquet files | [`Photos`], [`PhotoSource`], [`Skipped`] |
//! | those of a published list, whose pictures lie in folders and archives | [`PhotoList`], [`Photos::listed`] |
//! | the tables beside embeddings | [`EmbedTables`] |
//! | their embeddings and places in files, by a run that can be cut off and resumed | [`EmbedRun`], [`EmbedSettings`], [`EmbedFiles`] |
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
mod files;
mod folder;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod index;
mod journal;
mod list;
mod outcome;
mod parquet;
mod photos;
mod pipeline;
mod run;
mod settings;
mod shard;
mod source;
mod table;
mod tables;
#[cfg_attr(target_family = "wasm", path = "no_zip.rs")]
mod zipped;
mod zipped_bytes;

pub use error::{IngestError, Result};
pub use files::EmbedFiles;
pub use folder::{PassedOver, Skipped};
pub use list::{ListedPhoto, PhotoList};
pub use crate::PhotoLimits;
pub use parquet::ParquetError;
pub use photos::Photos;
pub use run::{EmbedRun, Progress};
pub use settings::{EmbedCounts, EmbedOutput, EmbedSettings};
pub use source::{PhotoSource, PlaceSource};
pub use tables::EmbedTables;
