//! `locdiff batch plan`: photos into shards.

use crate::args::named;
use crate::commands::locate::AnswerArgs;
use crate::manners;
use crate::output::{self, tell};
use crate::photos::PhotoArgs;
use anyhow::Result;
use clap::Args;
use locdiff_base::{Named, one_line};
use locdiff_batch::{JOB_FILE, Settings, Task, plan};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// Photos: files, folders (searched by name), .csv with a column of paths, .tar and .zip shards, .parquet, @list.txt; with
    /// --images one published list
    #[arg(value_name = "PHOTOS", required = true)]
    photos: Vec<PathBuf>,
    /// Folder of the job
    #[arg(short, long, value_name = "JOB")]
    out: PathBuf,
    /// What to make of the photos
    #[arg(long, value_parser = named::<Task>(), default_value = Task::Locate.name())]
    task: Task,
    /// Photos of a shard
    #[arg(long, value_name = "N", default_value_t = 1000)]
    shard_photos: usize,
    #[command(flatten)]
    reading: PhotoArgs,
    /// Leave out photos that no list, table or shard gives a place, so that embeddings are a training set
    #[arg(long)]
    located: bool,
    /// Folder of a model, where the shards are run [default: the bundled streetview-l31]
    #[arg(long, value_name = "FOLDER", env = "LOCDIFF_MODEL", hide_env_values = true)]
    model: Option<PathBuf>,
    /// Folder of the image encoder, where the shards are run [default: the bundled one]
    #[arg(long, value_name = "FOLDER", env = "LOCDIFF_ENCODER", hide_env_values = true)]
    encoder: Option<PathBuf>,
    /// Draws of noise that the answer is the mean of
    #[arg(long, value_name = "N", default_value_t = 16)]
    samples: usize,
    /// Classifier-free guidance; 0 for none, for which radii are calibrated
    #[arg(long, value_name = "W", default_value_t = 0.0, allow_hyphen_values = true)]
    guidance: f32,
    /// Views of each photo (crops, colours); 1 is the photo alone
    #[arg(long, value_name = "K", default_value_t = 1)]
    views: usize,
    #[command(flatten)]
    answer: AnswerArgs,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
}

impl Plan {
    pub(super) fn run(self) -> Result<()> {
        output::claim_file(&self.out.join(JOB_FILE))?;
        let mut photos = self.reading.gather(&self.photos)?;
        if self.located {
            let left_out = photos.keep_located();
            if left_out > 0 {
                manners::note(&format!("{left_out} photos have no place: left out"));
            }
        }
        let old = self.out.join(JOB_FILE);
        if old.is_file() {
            std::fs::remove_file(&old)?; // --force, as `claim_file` saw; parts of other photos or settings are made again
        }
        let job = plan(&photos, &self.out, self.task, self.settings(), self.shard_photos)?;
        let (count, shards) = (job.photos(), job.shards());
        if self.json {
            tell!(
                "{}",
                json!({ "job": self.out, "task": self.task.name(), "photos": count, "shards": shards })
            );
            return Ok(());
        }
        let folder = one_line(&self.out.to_string_lossy());
        tell!("{folder}: {count} photos in {shards} shards, 0 to {}", shards - 1);
        Ok(())
    }

    fn settings(&self) -> Settings {
        Settings {
            model: self.model.clone(),
            encoder: self.encoder.clone(),
            views: self.views,
            samples: self.samples,
            guidance: self.guidance,
            seed: self.answer.seed,
            hypotheses: self.answer.hypotheses as usize,
            window_km: self.answer.window_km,
            within: self.answer.within.clone(),
            max_pixels: self.reading.limits().max_pixels,
        }
    }
}
