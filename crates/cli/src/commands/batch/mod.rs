//! `locdiff batch`: photos by the million, planned, run in shards, merged.

mod plan;

use crate::interrupt::{InterruptGuard, Interrupted};
use crate::terminal::subcommands::subcommands;
use crate::{args::DeviceArg, output, output::status, progress, verbosity};
use anyhow::{Result, ensure};
use clap::Args;
use locdiff::{Progress, batch::Job, batch::Runs, batch::ShardChoice, batch::Task, batch::Worker, embed::EmbedFiles};
use locdiff_base::{counted, one_line};
use locdiff_io::data::Dtype;
use plan::Plan;
use serde_json::json;
use std::{path::PathBuf, time::Instant};

subcommands! {
    pub(crate) enum Batch {
        /// Divide photos into shards: a job folder that many machines can share
        Plan(Box<Plan>),
        /// Run shards of a job; finished shards are skipped
        Run(RunArgs),
        /// Merge the parts of a job into one file
        Merge(MergeArgs),
    }
}

/// Which parts of a job to make.
#[derive(Debug, Args)]
#[command(
    after_help = "Several machines may run shards of one job at the same time. A shard that another run works on is skipped."
)]
pub(crate) struct RunArgs {
    /// Job folder that `batch plan` made
    #[arg(value_name = "JOB")]
    job: PathBuf,
    /// Run these shards: a number, a range such as 0-9, or 2/10 for every tenth from 2 on. Repeat for several [default: all]
    #[arg(long, value_name = "SHARD")]
    shard: Vec<ShardChoice>,
    /// Start relative photo paths from this folder [default: the folder of `batch plan`]
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArg,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
}

impl RunArgs {
    /// Makes the parts that are not made yet.
    pub(crate) fn run(self) -> Result<()> {
        output::finish_files();
        let mut job = Job::open(&self.job)?;
        if let Some(root) = &self.root {
            job = job.with_base(root);
        }
        let mut shards = Vec::new();
        for choice in &self.shard {
            shards.extend(choice.of(job.shards())?);
        }
        if self.shard.is_empty() {
            shards.extend(0..job.shards());
        }
        let worker = Worker::open(&job, self.device.device)?;
        let begin = Instant::now();
        let is_all = shards.len() as u64 == u64::from(job.shards());
        let bar = progress::bar("running", is_all.then(|| job.photos()));
        let guard = InterruptGuard::begin();
        let runs = worker.run(&job, shards, guard.stop(), |progress| match progress {
            Progress::Read => bar.inc(1),
            Progress::ShardSkipped(photos) => bar.inc(photos as u64),
            Progress::ShardAgain(shard) => {
                let note = format!("the part of shard {shard} is damaged: it is made again");
                bar.suspend(|| verbosity::note(&note));
            }
            _ => {}
        });
        bar.finish_and_clear();
        let runs = runs?;
        self.tell(&runs, begin.elapsed().as_secs_f64())?;
        if runs.is_stopped { Err(Interrupted.into()) } else { Ok(()) }
    }

    fn tell(&self, runs: &Runs, seconds: f64) -> Result<()> {
        let Runs { made, skipped, busy, photos, is_stopped, .. } = *runs;
        let rate = photos as f64 / seconds.max(1e-9);
        if self.json {
            let summary = json!({
                "made": made, "skipped": skipped, "busy": busy, "photos": photos, "interrupted": is_stopped,
                "seconds": seconds, "photos_per_second": rate,
            });
            status!("{summary}");
            return Ok(());
        }
        let (made, photos) = (counted(made, "part"), counted(photos, "photo"));
        status!("{made} made of {photos} ({rate:.1} a second), {skipped} skipped");
        if busy > 0 {
            status!("{} left to other runs, which work on them", counted(busy, "shard"));
        }
        if is_stopped {
            status!("stopped: finished work is kept; repeat the command to continue");
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Job folder that `batch plan` made, after every shard was run
    #[arg(value_name = "JOB")]
    job: PathBuf,
    /// Write answers to .csv or .jsonl, embeddings to .safetensors or .npy
    ///
    /// Columns are the same as in `locate --csv` and `locate --json`. Embeddings get the tables that `embed` writes. For Parquet use
    /// `locdiff.batch.merge` in Python
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Store embeddings as f16, f32 or f64
    #[arg(long, value_name = "TYPE", default_value = "f32")]
    dtype: Dtype,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
}

impl MergeArgs {
    fn run(self) -> Result<()> {
        ensure!(!output::is_stdout(&self.out), "merge cannot write to standard output: name a file");
        let job = Job::open(&self.job)?;
        let beside = EmbedFiles::beside(&self.out);
        let tables = [&beside.locations, &beside.bad].into_iter().filter(|_| job.task() == Task::Embed);
        output::claim([&self.out].into_iter().chain(tables).map(PathBuf::as_path), self.json)?;
        let merged = job.merge(&self.out, self.dtype)?;
        let (answered, failed) = (merged.answered, merged.failed);
        let summary = json!({ "answered": answered, "failed": failed, "files": merged.files });
        let files: Vec<String> = merged.files.iter().map(|file| one_line(&file.to_string_lossy())).collect();
        let answered = counted(answered as usize, "photo");
        output::tell(self.json, &summary, &format!("{answered} in {}; {failed} cannot be used", files.join(", ")))
    }
}
