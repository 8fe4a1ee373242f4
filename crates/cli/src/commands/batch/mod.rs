//! `locdiff batch`: photos by the million, planned, run in shards, merged.

mod plan;

use crate::args::{DeviceArg, parse_dtype};
use crate::interrupt::{InterruptGuard, Interrupted};
use crate::output::{self, status};
use crate::{progress, verbosity};
use anyhow::{Result, ensure};
use clap::{Args, Subcommand};
use locdiff::batch::{Job, Runs, ShardChoice, Task, Worker};
use locdiff::{Progress, embed::EmbedFiles};
use locdiff_base::{counted, one_line};
use locdiff_io::data::Dtype;
use plan::Plan;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Debug, Subcommand)]
pub(crate) enum Batch {
    /// List photos in shards: the folder of a job, which any number of machines can work on
    Plan(Box<Plan>),
    /// Make the parts of a job's shards; a part that is there and whole is skipped
    Run(RunArgs),
    /// Write all parts of a job into one file
    Merge(MergeArgs),
}

impl Batch {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Plan(plan) => plan.run(),
            Self::Run(run) => run.run(),
            Self::Merge(merge) => merge.run(),
        }
    }
}

/// Which parts of a job to make.
#[derive(Debug, Args)]
#[command(
    after_help = "Several runs may work on one job at the same time: a shard that another run works on is left to it."
)]
pub(crate) struct RunArgs {
    /// Folder of a job by `batch plan`
    #[arg(value_name = "JOB")]
    job: PathBuf,
    /// Which shards: a number, a range such as 0-9, or 2/10 for every tenth from 2 on; may be repeated [default: all]
    #[arg(long, value_name = "SHARD", value_parser = parse_shards)]
    shard: Vec<ShardChoice>,
    /// Where relative paths of the photos begin [default: where the job was planned]
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArg,
    /// Print a JSON summary when done
    #[arg(long)]
    json: bool,
}

fn parse_shards(text: &str) -> Result<ShardChoice, String> {
    text.parse().map_err(|error: locdiff::batch::BatchError| error.to_string())
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
                let note = format!("the part of shard {shard} is not whole: it is made again");
                bar.suspend(|| verbosity::note(&note));
            }
            _ => {}
        });
        bar.finish_and_clear();
        let runs = runs?;
        self.tell(&runs, begin.elapsed().as_secs_f64())?;
        if runs.is_stopped {
            return Err(Interrupted.into());
        }
        Ok(())
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
        status!("{made} made of {photos} ({rate:.1} a second), {skipped} were there");
        if busy > 0 {
            status!("{} left to other runs, which work on them", counted(busy, "shard"));
        }
        if is_stopped {
            status!("stopped: what is finished is kept, the same command goes on");
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folder of a job by `batch plan`, every shard of which was run
    #[arg(value_name = "JOB")]
    job: PathBuf,
    /// Where to write: answers as .csv (as `locate --csv`) or .jsonl (as `locate --json`); embeddings as .safetensors or .npy, with
    /// the tables that `embed` writes beside them. Parquet: `locdiff.batch.merge` of the Python package
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Number type of embeddings: f16, f32 or f64
    #[arg(long, value_name = "TYPE", default_value = "f32", value_parser = parse_dtype)]
    dtype: Dtype,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
}

impl MergeArgs {
    fn run(self) -> Result<()> {
        ensure!(!output::is_stdout(&self.out), "merge writes files, not -: name a file");
        let job = Job::open(&self.job)?;
        let beside = EmbedFiles::beside(&self.out);
        let tables = [&beside.locations, &beside.bad].into_iter().filter(|_| job.task() == Task::Embed);
        output::claim([&self.out].into_iter().chain(tables).map(PathBuf::as_path), self.json)?;
        let merged = job.merge(&self.out, self.dtype)?;
        let (answered, failed) = (merged.answered, merged.failed);
        let summary = json!({ "answered": answered, "failed": failed, "files": merged.files });
        let files: Vec<String> = merged.files.iter().map(|file| one_line(&file.to_string_lossy())).collect();
        let answered = counted(answered as usize, "photo");
        output::tell(self.json, &summary, &format!("{answered} in {}; {failed} could not be used", files.join(", ")))
    }
}
