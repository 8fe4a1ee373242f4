//! Photos into files of embeddings, by a run that can be cut off and resumed.
//!
//! The journal next to the output is not a cache: it is the unfinished output itself, record by record in the photos' order, so that a resumed
//! run ends with the same bytes. What may be forgotten is in `cache.rs`.

mod error;
mod files;
mod journal;
mod outcome;
mod run;
mod settings;

pub use error::EmbedError;
pub use files::EmbedFiles;
pub use run::EmbedRun;
pub(crate) use settings::EmbedTables;
pub use settings::{EmbedCounts, EmbedSettings};
