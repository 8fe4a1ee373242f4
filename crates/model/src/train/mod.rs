//! LocDiff's training: [`train`] makes a model folder of a [`Dataset`], with checkpoints that resume bit for bit.
//! A run's folder: `config.json` and `model.safetensors` (the model, once finished), `best/` (the model of the best
//! validation), `run.json` (every choice), `metrics.jsonl`, `trained_rows.u64` (hashes of the rows), `checkpoints/`.

mod batches;
mod checkpoint;
mod course;
mod dataset;
mod error;
mod run;
mod settings;
mod split;
mod step;
mod trained;

pub use course::{BEST_FOLDER, Event, Outcome};
pub use dataset::{Dataset, EmbeddingSource, Rows};
pub(crate) use error::Result;
pub use error::TrainError;
pub use run::{TrainingJob, clear_run, train};
pub use settings::{RateKind, RunConfig, TrainPreset, TrainSettings};
pub use split::{Split, split_by_blocks};
pub use trained::trained_share;
