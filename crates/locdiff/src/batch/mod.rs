//! Photos by the million, on as many machines as there are.
//!
//! A **job** is a folder: `job.json` (what to do), `manifest/00042.jsonl` (the photos of a shard) and `parts/00042` (what came of
//! them). Shards are made by whoever has time: the command, a SLURM array, Ray, Spark. A part appears whole or not at all, one
//! that is there and whole is not made again, and a photo's answer does not depend on the shard it is in.
//!
//! | you want | item |
//! |---|---|
//! | a job from photos | [`plan`], [`locdiff::FlatOptions`], [`Task`] |
//! | a job that was planned | [`Job::open`] |
//! | which shards | [`ShardChoice`] |
//! | their parts | [`Worker`], [`Run`] |
//! | one file of all parts | [`merge`], [`merge_as`], [`Merged`] |
//! | what went wrong, in one line | [`BatchError`] |
//!
//! ```
//! # #[cfg(feature = "bundled")] {
//! use locdiff::{DeviceSpec, FlatOptions};
//! use locdiff::batch::{Run, Task, Worker, merge, plan};
//! use locdiff_vision::sources::Photos;
//! use std::sync::atomic::AtomicBool;
//! # let folder = tempfile::tempdir().unwrap();
//! let photo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/china.jpg");
//! let photos = Photos::gather(&[photo], None)?;
//! let job = plan(&photos, &folder.path().join("job"), Task::Locate, FlatOptions::default(), 1000)?;
//! let worker = Worker::open(&job, DeviceSpec::Cpu)?;
//! let done = Run::new(&job, &worker).shards(0..job.shards(), &AtomicBool::new(false), |_| {})?;
//! assert_eq!(done.made, 1);
//! let table = folder.path().join("answers.csv");
//! assert_eq!(merge(&job, &table)?.answered, 1);
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
mod plan;
mod run;
mod sealed;
mod task;
mod worker;

pub use choice::ShardChoice;
pub use error::{BatchError, Result};
pub use job::{JOB_FILE, Job, MOST_PHOTOS_A_SHARD};
pub use merge::{Merged, merge, merge_as};
pub use plan::plan;
pub use run::{Progress, Run, Runs};
pub use task::Task;
pub use worker::Worker;
