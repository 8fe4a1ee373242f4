//! `locdiff embed`: photos in, embeddings and locations out.

use crate::interrupt::{InterruptGuard, Interrupted};
use crate::{output, output::is_stdout, photos::PhotoArgs, progress, request::EncoderArg, say};
use anyhow::{Result, anyhow, ensure};
use clap::Args;
use locdiff::embed::{EmbedCounts, EmbedError, EmbedFiles, EmbedRun, EmbedSettings};
use locdiff_base::{tell_times, timed};
use locdiff_io::data::Dtype;
use locdiff_vision::{Encoder, sources::Photos};
use serde_json::json;
use std::{path::PathBuf, sync::Mutex, sync::PoisonError, time::Instant};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Embed {
    /// Photos: files, folders (searched by name), .csv with a column of paths (and lat, lon), .tar shards, @list.txt, -
    /// for a photo on standard input
    #[arg(value_name = "PHOTOS", required = true)]
    photos: Vec<PathBuf>,
    /// Write embeddings, one row per photo: .safetensors (tensor "embeddings"), .npy, .csv or .jsonl
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Write row, path, lat, lon and the location's source here [default: OUT as .csv]
    #[arg(long, value_name = "FILE.csv")]
    locations: Option<PathBuf>,
    /// List photos that cannot be used, and why [default: OUT as .bad.csv, if there are any]
    #[arg(long, value_name = "FILE.csv")]
    bad: Option<PathBuf>,
    #[command(flatten)]
    encoder: EncoderArg,
    /// Also embed K other views of each photo (crops and colours), for `train`: augmented_1 … augmented_K
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    augment: u32,
    /// Mirror half of the other views; mirrored traffic and writing mislead a model
    #[arg(long, requires = "augment")]
    mirror: bool,
    /// Set the seed of the other views
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Leave out photos without a location, so that the files are a training set
    #[arg(long)]
    require_gps: bool,
    /// Store numbers as f16, f32 or f64
    #[arg(long, value_name = "TYPE", default_value = "f32")]
    dtype: Dtype,
    /// Embed N photos at a time
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=65536))]
    batch: u32,
    #[command(flatten)]
    reading: PhotoArgs,
    /// Continue an interrupted run; give the same arguments
    #[arg(long)]
    resume: bool,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
}

impl Embed {
    pub(crate) fn run(self) -> Result<()> {
        for path in [Some(&self.out), self.locations.as_ref(), self.bad.as_ref()].into_iter().flatten() {
            ensure!(!is_stdout(path), "embed cannot write to standard output: name a file");
        }
        std::thread::scope(|scope| {
            let encoder = scope.spawn(|| timed("opening the encoder", || self.encoder.open())); // it takes its time
            let photos = timed("finding photos", || self.reading.gather(&self.photos))?;
            let (files, settings) = (self.files(), self.settings());
            let run = EmbedRun::new(&photos, &files, &settings, self.resume);
            timed("checking the outputs", || run.check(&self.photos)).map_err(with_flags)?;
            let bad = files.always_list_bad.then_some(&files.bad);
            output::claim([&files.embeddings, &files.locations].into_iter().chain(bad).map(PathBuf::as_path), false)?;
            let encoder = timed("waiting for the encoder", || encoder.join()).expect("the encoder's thread")?;
            let start = Instant::now();
            let counts = timed("embedding", || embed(&run, &encoder))?;
            self.tell(&photos, &files, &counts, start.elapsed().as_secs_f64(), &encoder)?;
            tell_times();
            self.reading.settle(counts.bad, counts.done, &files.bad.display().to_string())
        })
    }

    fn settings(&self) -> EmbedSettings {
        let mut settings = EmbedSettings::default();
        settings.augmentation.mirror = self.mirror;
        (settings.augment, settings.seed, settings.batch) = (self.augment, self.seed, self.batch);
        (settings.require_place, settings.dtype) = (self.require_gps, self.dtype);
        settings.limits = self.reading.limits();
        settings
    }

    fn files(&self) -> EmbedFiles {
        let mut files = EmbedFiles::beside(&self.out);
        files.always_list_bad = self.bad.is_some();
        files.locations = self.locations.clone().unwrap_or(files.locations);
        files.bad = self.bad.clone().unwrap_or(files.bad);
        files
    }

    fn tell(
        &self,
        photos: &Photos,
        files: &EmbedFiles,
        counts: &EmbedCounts,
        seconds: f64,
        encoder: &Encoder,
    ) -> Result<()> {
        let EmbedCounts { resumed, done, rows, bad, left_out, without_place, .. } = *counts;
        let rate = (done - resumed) as f64 / seconds.max(1e-9);
        let listed = bad + left_out > 0 || files.always_list_bad;
        if self.json {
            let summary = json!({
                "photos": done, "rows": rows, "bad": bad, "left_out_without_location": left_out,
                "rows_without_location": without_place, "other_files": photos.other_files(), "resumed_from": resumed,
                "columns": encoder.embedding(), "augmented": self.augment, "dtype": self.dtype.name(),
                "encoder": encoder.architecture(), "seed": self.seed, "seconds": seconds, "photos_per_second": rate,
                "out": self.out, "locations": files.locations, "bad_list": listed.then_some(&files.bad),
            });
            output::print_line!("{summary}");
            return Ok(());
        }
        output::print_line!(
            "{rows} photos in {} ({} numbers each), their paths and locations in {}; {rate:.1} photos a second",
            self.out.display(),
            encoder.embedding(),
            files.locations.display()
        );
        if bad + left_out > 0 {
            output::print_line!(
                "{bad} cannot be used and {left_out} have no location and are left out: see {}",
                files.bad.display()
            );
        }
        if without_place > 0 {
            output::print_line!(
                "{without_place} have no location: --require-gps would leave them out, as `locdiff train` needs"
            );
        }
        Ok(())
    }
}

/// Runs to the end with a bar; an interrupt keeps what is finished and is [`Interrupted`].
pub(crate) fn embed(run: &EmbedRun<'_>, encoder: &Encoder) -> Result<EmbedCounts> {
    let count = run.count();
    let bar = progress::bar("embedding", Some(count as u64));
    let last = Mutex::new(None);
    let guard = InterruptGuard::begin();
    let finished = run.run(encoder, guard.stop(), |progress: EmbedCounts| {
        bar.set_position(progress.read as u64); // moves with every photo, not with every batch
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none() {
            bar.reset_eta();
        }
        *last = Some(progress);
    });
    let last = last.into_inner().unwrap_or_else(PoisonError::into_inner);
    bar.finish_and_clear();
    let finished = finished.map_err(|error| match error {
        EmbedError::Data(_) | EmbedError::Write(_) => {
            anyhow::Error::from(error).context("finished work is kept: continue with --resume")
        }
        error => with_flags(error),
    })?;
    finished.ok_or_else(|| {
        let done = last.map_or(0, |counts: EmbedCounts| counts.done);
        say::line(&format!("stopped after {done} of {count} photos: continue with --resume"));
        Interrupted.into()
    })
}

/// The library speaks of settings in words; here is what they are called on the command line.
pub(crate) fn with_flags(error: EmbedError) -> anyhow::Error {
    let output = |output: &str| match output {
        "the embeddings" => "--out",
        "the locations" => "--locations",
        _ => "--bad",
    };
    match error {
        EmbedError::SameFile { first, second, path } => {
            anyhow!("{} and {} are both {}: name two files", output(first), output(second), path.display())
        }
        EmbedError::Overwrites { output: which, path } => {
            anyhow!("{} is a photo or list to read and {} at once: name another file", path.display(), output(which))
        }
        EmbedError::Unfinished { path } => anyhow!(
            "{} holds an unfinished run: add --resume to continue it, or delete it to start again",
            path.display()
        ),
        EmbedError::OtherSetting { path, setting, before, now } => {
            let flag = match setting.as_str() {
                "augment" | "mirror" | "seed" | "batch" => format!("--{setting}"),
                "need of a location" => "--require-gps".to_owned(),
                _ => setting,
            };
            anyhow!(
                "{} is of a run with another {flag} ({before}, now {now}): give the same arguments as before, or delete \
                 it to start again",
                path.display()
            )
        }
        error => error.into(),
    }
}
