//! LocDiff's training: embeddings and locations in, a model folder out, with checkpoints that resume bit for bit.
//!
//! | you want | item |
//! |---|---|
//! | named sets of choices | [`TrainPreset`], [`RunConfig`], [`TrainSettings`] |
//! | embedding files with locations | [`Dataset`], [`EmbeddingSource`], [`Rows`] |
//! | a validation split without neighbours | [`split_by_blocks`] |
//! | the loop | [`train`], [`TrainingJob`], [`Event`], [`Outcome`], [`clear_run`] |
//!
//! A run's folder: `config.json` and `model.safetensors` (the model, once finished), `best/` (the model of the best
//! validation), `run.json` (every choice), `metrics.jsonl`, `checkpoints/`.

mod batches;
mod checkpoint;
mod course;
mod dataset;
mod error;
mod run;
mod settings;
mod split;
mod step;

pub use course::{BEST_FOLDER, Event, Outcome};
pub use dataset::{Dataset, EmbeddingSource, Rows};
pub(crate) use error::Result;
pub use error::TrainError;
pub use run::{TrainingJob, clear_run, train};
pub use settings::{RateKind, RunConfig, TrainPreset, TrainSettings};
pub use split::{Split, split_by_blocks};
