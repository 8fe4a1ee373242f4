//! `locdiff batch plan`: photos into shards.

use crate::request::{AnswerArgs, GalleryRuleArgs, PoolArg, SamplingArgs};
use crate::{args::named, output, photos::PhotoArgs, verbosity};
use anyhow::Result;
use clap::Args;
use locdiff::{FlatOptions, GalleryRule, LocatorOptions, batch::Job, batch::Task};
use locdiff_base::{Named, counted, one_line};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Photos: files, folders, .csv with a column of paths, .tar and .zip shards, .parquet, @list.txt, or one list of --images
    #[arg(value_name = "PHOTOS", required = true)]
    photos: Vec<PathBuf>,
    /// Create this job folder
    #[arg(short, long, value_name = "JOB")]
    out: PathBuf,
    /// Locate or embed the photos
    #[arg(long, value_parser = named::<Task>(), default_value = Task::Locate.name())]
    task: Task,
    /// Put N photos into each shard
    #[arg(long, value_name = "N", default_value_t = 1000)]
    shard_photos: usize,
    #[command(flatten)]
    reading: PhotoArgs,
    /// Leave out photos without a known location, so that embeddings are a training set
    #[arg(long)]
    located: bool,
    /// Use this model on the machines that run shards: a folder, cs-unet (bundled), or a name [default: streetview-l31, bundled]
    #[arg(long, value_name = "FOLDER", env = "LOCDIFF_MODEL", hide_env_values = true)]
    model: Option<PathBuf>,
    /// Use this image encoder on the machines that run shards: a folder or a name [default: the model's own]
    #[arg(long, value_name = "FOLDER", env = "LOCDIFF_ENCODER", hide_env_values = true)]
    encoder: Option<PathBuf>,
    #[command(flatten)]
    answer: AnswerArgs,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    gallery: GalleryRuleArgs,
    #[command(flatten)]
    pool: PoolArg,
    #[command(flatten)]
    sampling: SamplingArgs,
}

impl Plan {
    pub(super) fn run(self) -> Result<()> {
        output::claim_file(&self.out.join(Job::FILE))?;
        if let Some(list) = self.photos.iter().find(|path| path.extension().is_some_and(|it| it == "txt")) {
            return output::misuse(format!("{0} is not a photo; for a list of photos, write @{0}", list.display()));
        }
        let mut photos = self.reading.gather(&self.photos)?;
        if self.located {
            let left_out = photos.keep_located();
            if left_out > 0 {
                verbosity::note(&format!("left out because they have no location: {}", counted(left_out, "photo")));
            }
        }
        let old = self.out.join(Job::FILE);
        if old.is_file() {
            std::fs::remove_file(&old)?; // --force, as `claim_file` saw; parts of other photos or settings are made again
        }
        let job = Job::plan(&photos, &self.out, self.task, self.options()?, self.shard_photos)?;
        let (count, shards) = (job.photos(), job.shards());
        let summary = json!({ "job": self.out, "task": self.task.name(), "photos": count, "shards": shards });
        let folder = one_line(&self.out.to_string_lossy());
        let (photos, parts) = (counted(count as usize, "photo"), counted(shards as usize, "shard"));
        output::tell(self.json, &summary, &format!("{folder}: {photos} in {parts}, 0 to {}", shards - 1))
    }

    fn options(&self) -> Result<FlatOptions> {
        let mut locator = LocatorOptions::default();
        (locator.model, locator.encoder) = (self.model.clone(), self.encoder.clone());
        self.gallery.fill(GalleryRule::Mix, &mut locator)?;
        self.sampling.check_used(self.pool.pool.is_some() || locator.makes_samples())?;
        Ok(FlatOptions::new(locator, self.answer.options(&self.sampling, &self.pool, &self.reading)))
    }
}
