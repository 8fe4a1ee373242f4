//! A job's folder.

use crate::FlatOptions;
use crate::batch::sealed::{self, sum};
use crate::batch::{BatchError, Result, Task};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file that makes a folder a job.
pub const JOB_FILE: &str = "job.json";
pub(crate) const FORMAT: &str = "locdiff-job";
/// No job's description is longer.
const LONGEST: u64 = 1 << 20;
/// No shard has more photos: its part is held in memory.
pub const MOST_PHOTOS_A_SHARD: usize = 20_000;
/// No job has more shards.
pub(crate) const MOST_SHARDS: u32 = 10_000_000;

/// A job: photos in shards, and what is to be made of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    folder: PathBuf,
    about: About,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    task: Task,
    photos: u64,
    shards: u32,
    /// Where relative paths begin.
    base: PathBuf,
    /// All of it stands in the job, so that every runner makes the same; folders and files are those of the machine that runs a shard.
    settings: FlatOptions,
}

impl Job {
    /// The job in a folder.
    ///
    /// # Errors
    /// A folder without one, or one that is damaged.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let bytes = sealed::read(&folder.join(JOB_FILE), LONGEST)?;
        Self::parse(folder, bytes)
    }

    /// The job that bytes in the place of its file describe.
    pub(crate) fn parse(folder: &Path, bytes: Vec<u8>) -> Result<Self> {
        let path = folder.join(JOB_FILE);
        let opened = sealed::open::<serde_json::Value>(&path, FORMAT, bytes)?;
        let damaged = |error: serde_json::Error| sealed::damaged(&path, locdiff_base::excerpt(&error.to_string()));
        let mut body: serde_json::Value = serde_json::from_slice(&opened.body).map_err(damaged)?;
        // The name and unit of the first two releases.
        let settings = body.get_mut("settings").and_then(serde_json::Value::as_object_mut);
        if let Some((settings, pixels)) = settings.and_then(|all| all.remove("max_pixels").map(|old| (all, old))) {
            settings
                .insert("max_megapixels".to_owned(), pixels.as_u64().map_or(pixels, |old| (old / 1_000_000).into()));
        }
        let about: About = serde_json::from_value(body).map_err(damaged)?;
        if about.shards == 0 || about.shards > MOST_SHARDS {
            let reason = format!("it says that it has {} shards", about.shards);
            return Err(sealed::damaged(&path, reason));
        }
        Ok(Self { folder: folder.to_owned(), about })
    }

    pub(crate) fn create(
        folder: &Path,
        task: Task,
        settings: FlatOptions,
        (photos, shards): (u64, u32),
        base: PathBuf,
    ) -> Result<Self> {
        let about = About { task, photos, shards, base, settings };
        let body = serde_json::to_vec_pretty(&about).expect("settings of texts and numbers");
        sealed::write(&folder.join(JOB_FILE), FORMAT, serde_json::json!({}), &body)?;
        Ok(Self { folder: folder.to_owned(), about })
    }

    /// The same with another folder where relative paths begin.
    #[must_use]
    pub fn with_base(mut self, base: impl Into<PathBuf>) -> Self {
        self.about.base = base.into();
        self
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is made of the photos.
    pub fn task(&self) -> Task {
        self.about.task
    }

    /// How it is made.
    pub fn settings(&self) -> &FlatOptions {
        &self.about.settings
    }

    /// How many photos it has.
    pub fn photos(&self) -> u64 {
        self.about.photos
    }

    /// How many shards it has; they are numbered from 0.
    pub fn shards(&self) -> u32 {
        self.about.shards
    }

    /// Where relative paths begin.
    pub fn base(&self) -> &Path {
        &self.about.base
    }

    /// Task and settings as a checksum: a part of other settings is made again.
    pub(crate) fn key(&self) -> String {
        let text = serde_json::json!([self.about.task, self.about.settings]).to_string();
        sum(text.as_bytes())
    }

    pub(crate) fn manifest_path(&self, shard: u32) -> PathBuf {
        self.folder.join("manifest").join(format!("{shard:05}.jsonl"))
    }

    pub(crate) fn part_path(&self, shard: u32) -> PathBuf {
        self.folder.join("parts").join(format!("{shard:05}"))
    }

    /// Fails for a shard that there is not.
    pub(crate) fn check_shard(&self, shard: u32) -> Result<()> {
        let shards = self.shards();
        if shard < shards { Ok(()) } else { Err(BatchError::NoShard { shard: shard.into(), shards }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_an_earlier_release_is_read() {
        let body = br#"{"task":"locate","photos":1,"shards":1,"base":"/","settings":{"views":2,"max_pixels":7000000}}"#;
        let job = Job::parse(Path::new("x"), sealed::seal(FORMAT, serde_json::json!({}), body)).unwrap();
        assert_eq!((job.settings().locate.views, job.settings().locate.max_megapixels), (2, 7));
    }

    /// A job as 0.3 wrote it, with its checksum: parts that were made by it are not made again.
    #[test]
    fn a_job_of_0_3_has_the_same_key() {
        let body = br#"{"task":"locate","photos":1,"shards":1,"base":"/","settings":{"model":"/m","encoder":null,"views":1,"samples":16,"guidance":0.0,"seed":0,"hypotheses":5,"window_km":null,"within":["Japan"],"max_megapixels":100}}"#;
        let job = Job::parse(Path::new("x"), sealed::seal(FORMAT, serde_json::json!({}), body)).unwrap();
        assert_eq!(job.settings().locator.model.as_deref(), Some(Path::new("/m")), "another model is not ignored");
        let settings = serde_json::from_slice::<serde_json::Value>(body).unwrap()["settings"].take();
        assert_eq!(job.key(), sum(serde_json::json!([job.task(), settings]).to_string().as_bytes()));
    }
}
