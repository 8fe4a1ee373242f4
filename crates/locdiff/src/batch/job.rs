//! A job's folder, and photos into shards.

use crate::{FlatOptions, batch::BatchError, batch::Result, batch::manifest, batch::sealed, batch::sealed::sum};
use locdiff_base::{OutputLock, WriteError, ensure, named, setting};
use locdiff_vision::sources::Photos;
use serde::{Deserialize, Serialize};
use std::{fs, path::Path, path::PathBuf};

pub(crate) const FORMAT: &str = "locdiff-job";
const LONGEST: u64 = 1 << 20;
const MOST_SHARDS: u32 = 10_000_000;

named! {
    /// Task of a job, see [`Job::plan`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Task: "task" {
        #[default]
        Locate = "locate", "where each photo was taken: the answers of `locate`";
        Embed = "embed", "the photos as embeddings: the rows of `embed`";
    }
}

/// A job: photos in shards, with task and options. The module has an [example](crate::batch).
#[derive(Debug, Clone, PartialEq)]
#[must_use]
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
    /// All settings. They are stored in the job, so that every machine answers alike. Folders and files are looked up on the machine.
    settings: FlatOptions,
}

impl Job {
    /// Name of the file that describes a job.
    pub const FILE: &'static str = "job.json";
    /// Most photos in a shard, whose part is held in memory.
    pub const MOST_PHOTOS_A_SHARD: usize = manifest::MOST_PHOTOS;

    /// Opens the job in a folder. Fails if there is none, or it is damaged.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        Self::parse(folder, sealed::read(&folder.join(Self::FILE), LONGEST)?)
    }

    pub(crate) fn parse(folder: &Path, bytes: Vec<u8>) -> Result<Self> {
        let path = folder.join(Self::FILE);
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
            return Err(sealed::damaged(&path, format!("it says that it has {} shards", about.shards)));
        }
        Ok(Self { folder: folder.to_owned(), about })
    }

    /// Sets the folder that relative paths start from.
    pub fn with_base(mut self, base: impl Into<PathBuf>) -> Self {
        self.about.base = base.into();
        self
    }

    /// Returns the job's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the task.
    pub fn task(&self) -> Task {
        self.about.task
    }

    /// Returns the options.
    pub fn settings(&self) -> &FlatOptions {
        &self.about.settings
    }

    /// Returns the number of photos.
    pub fn photos(&self) -> u64 {
        self.about.photos
    }

    /// Returns the number of shards. Shards are numbered from 0.
    pub fn shards(&self) -> u32 {
        self.about.shards
    }

    /// Returns the folder that relative paths start from.
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

    pub(crate) fn check_shard(&self, shard: u32) -> Result<()> {
        let shards = self.shards();
        if shard < shards { Ok(()) } else { Err(BatchError::NoShard { shard: shard.into(), shards }) }
    }

    /// Creates a job folder: the photos in their order, `per_shard` in each shard. Fails with [`BatchError::Exists`] if the folder holds a
    /// job. Fails if another run uses the folder, it cannot be written, a photo is in no file, or an option is out of range.
    pub fn plan(photos: &Photos, folder: &Path, task: Task, settings: FlatOptions, per_shard: usize) -> Result<Self> {
        if per_shard == 0 || per_shard > Self::MOST_PHOTOS_A_SHARD {
            let remedy = format!("1 to {}", Self::MOST_PHOTOS_A_SHARD);
            return Err(setting::<BatchError>("photos of a shard", per_shard, remedy));
        }
        if task == Task::Embed && settings.locate.views != 1 {
            return Err(setting::<BatchError>("views", settings.locate.views, "embeddings are of the photo itself: 1"));
        }
        settings.check_no_album()?;
        settings.locate.resolved()?.check_sampler(settings.locator.makes_samples())?;
        let sources = photos.sources();
        let shards = sources.len().div_ceil(per_shard);
        let shards = u32::try_from(shards).ok().filter(|shards| *shards <= MOST_SHARDS).ok_or_else(|| {
            setting::<BatchError>("photos of a shard", per_shard, format!("more: {shards} shards are too many"))
        })?;
        ensure!(!folder.join(Self::FILE).exists(), BatchError::Exists { folder: folder.to_owned() });
        let cannot = |path: &Path, reason| WriteError::new(&path.display().to_string(), reason);
        for inner in ["manifest", "parts"].map(|inner| folder.join(inner)) {
            fs::create_dir_all(&inner).map_err(|reason| cannot(&inner, reason))?;
        }
        let _lock = OutputLock::folder(folder)?;
        let base = std::env::current_dir().map_err(|reason| cannot(Path::new("."), reason))?;
        let settings = settings.anchored(&base);
        let (folder, photos) = (folder.to_owned(), sources.len() as u64);
        let job = Self { folder, about: About { task, photos, shards, base, settings } };
        for (shard, sources) in (0_u32..).zip(sources.chunks(per_shard)) {
            manifest::write(&job.manifest_path(shard), shard, sources)?;
        }
        // The job's own file comes last: without it there is no job.
        let body = serde_json::to_vec_pretty(&job.about).expect("settings of texts and numbers");
        sealed::write(&job.folder.join(Self::FILE), FORMAT, serde_json::json!({}), &body)?;
        Ok(job)
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
