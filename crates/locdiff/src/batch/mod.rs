//! Millions of photos, on any number of machines.
//!
//! A **job** is a folder: `job.json` (what to do), `manifest/00042.jsonl` (the photos of a shard) and `parts/00042` (their
//! results). Any runner works on shards: the command, a SLURM array, Ray, Spark. A part is complete or absent. A complete
//! part is not made again. A photo's answer does not depend on its shard.
//!
//! | you want | item |
//! |---|---|
//! | a job from photos | [`Job::plan`], [`FlatOptions`](crate::FlatOptions), [`Task`] |
//! | a job that was planned | [`Job::open`] |
//! | which shards | [`ShardChoice`] |
//! | their parts | [`Worker::run`], [`Runs`] |
//! | one file of all parts | [`Job::merge`], [`Merged`] |
//! | what went wrong, in one line | [`BatchError`] |
//!
//! ```
//! # #[cfg(feature = "bundled")] {
//! use locdiff::{DeviceSpec, FlatOptions};
//! use locdiff::batch::{Job, Task, Worker};
//! use locdiff_io::data::Dtype;
//! use locdiff_vision::sources::Photos;
//! use std::sync::atomic::AtomicBool;
//! # let folder = tempfile::tempdir().unwrap();
//! let photo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/china.jpg");
//! let photos = Photos::gather(&[photo], None)?;
//! let job = Job::plan(&photos, &folder.path().join("job"), Task::Locate, FlatOptions::default(), 1000)?;
//! let worker = Worker::open(&job, DeviceSpec::Cpu)?;
//! let done = worker.run(&job, 0..job.shards(), &AtomicBool::new(false), |_| {})?;
//! assert_eq!(done.made, 1);
//! let table = folder.path().join("answers.csv");
//! assert_eq!(job.merge(&table, Dtype::F32)?.answered, 1);
//! # }
//! # Ok::<(), locdiff::batch::BatchError>(())
//! ```

mod choice;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod job;
mod manifest;
mod merge;
mod part;
mod run;
mod sealed;
mod worker;

pub use choice::ShardChoice;
pub use error::BatchError;
pub use job::{Job, Task};
pub use merge::Merged;
pub use run::Runs;
pub use worker::Worker;

pub(crate) type Result<T> = std::result::Result<T, BatchError>;
