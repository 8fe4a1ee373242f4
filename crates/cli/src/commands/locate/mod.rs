//! `locdiff locate`: photos in, places with calibrated probabilities out.

pub(crate) mod print;
mod summary;
pub(crate) mod tag_args;
pub(crate) mod tagging;
mod target;

use crate::interrupt::{InterruptGuard, Interrupted};
use crate::request::{AnswerArgs, GalleryRuleArgs, ModelArgs, PoolArg, SamplingArgs, open};
use crate::{embeddings::read_truth, hints, output, photos::PhotoArgs, progress, say, verbosity};
use anyhow::{Context, Result, ensure};
use clap::Args;
use locdiff::Progress;
use locdiff::{AnswerFiles, AnswerScore, Control, FlatOptions, GalleryRule, Inputs, LatLon, LocateOptions, Locator};
use locdiff_base::counted;
use locdiff_io::data::RowFile;
use print::Form;
use std::{io::Write, path::PathBuf, sync::Arc};
use summary::Summary;
use tag_args::untagged_is_bad;
use tagging::Tagging;
use target::OutputArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0: all photos are answered. 1: failure, or some photos cannot be used; the others are answered (with --allow-bad: \
                  0). 2: wrong usage. 130: interrupted; finished answers are written."
)]
pub(crate) struct Locate {
    /// Photos: files, folders, .csv with a column of paths, .tar shards, @list.txt, or - for standard input
    #[arg(value_name = "PHOTOS", required_unless_present_any = ["embeddings", "clue"])]
    photos: Vec<PathBuf>,
    #[command(flatten)]
    answer: AnswerArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    reading: PhotoArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    gallery: GalleryRuleArgs,
    #[command(flatten)]
    pool: PoolArg,
    #[command(flatten)]
    sampling: SamplingArgs,
    /// Read embeddings instead of photos, one row per photo: .safetensors or .npy
    #[arg(long, value_name = "FILE", conflicts_with_all = ["photos", "views"], help_heading = "Embeddings")]
    embeddings: Option<PathBuf>,
    /// Read this tensor, if a safetensors file holds several
    #[arg(long, value_name = "NAME", requires = "embeddings", help_heading = "Embeddings")]
    tensor: Option<String>,
    /// Score the answers against these true locations, row by row
    #[arg(long, value_name = "FILE", help_heading = "Embeddings")]
    truth: Option<PathBuf>,
}

/// More photos than these have a line each, and a summary.
const MANY: usize = 10;

/// How a run went.
#[derive(Default)]
struct Tally {
    answered: usize,
    failed: usize,
    /// Photos that were answered and cannot take the tag that was asked for.
    untagged: usize,
    is_interrupted: bool,
}

impl Locate {
    pub(crate) fn run(self) -> Result<()> {
        if self.answer.clue == ["help"] {
            return Ok(write!(output::human_out(), "{}", locdiff_map::clues::Clue::help())?);
        }
        let mut options = self.options()?;
        options.locator.without_encoder = self.embeddings.is_some();
        let own = self.gallery.gallery_embeddings.as_deref();
        ensure!(
            own.is_none() || self.embeddings.is_some(),
            "--gallery-embeddings needs --embeddings: leave it out for photos"
        );
        let inputs = match &self.embeddings {
            Some(path) => {
                let file = RowFile::open(path, self.tensor.as_deref())?;
                let retrieval = self.gallery.own_rows(&file)?.map(Arc::new);
                Inputs::Embeddings { file: Arc::new(file), retrieval }
            }
            None => Inputs::Photos(self.reading.gather(&self.photos)?),
        };
        let truth = self.truth.as_deref();
        let truth = truth.map(|path| read_truth(path, "what is located", inputs.count())).transpose()?;
        let mut score = AnswerScore::default();
        self.output.check(inputs.count(), &inputs.files())?;
        let locator = open(&options.locator, &options.locate)?;
        inputs.check(&locator)?;
        say_what_answers(&locator, inputs.count());
        let count = inputs.count();
        let Tally { answered, failed, untagged, is_interrupted } =
            self.answer_all(&locator, &options.locate, inputs, truth.as_deref().map(|truth| (truth, &mut score)))?;
        if is_interrupted {
            say::line(&format!("interrupted after {answered} of {count} answers"));
            return Err(Interrupted.into());
        }
        if truth.is_some() {
            let mut out = output::human_out();
            if self.output.json {
                writeln!(out, "{}", score.to_json())?;
            } else {
                write!(out, "{}", score.to_text())?;
            }
        }
        self.reading.settle(failed, count, "above")?;
        untagged_is_bad(untagged, count)
    }

    fn options(&self) -> Result<FlatOptions> {
        let mut locator = self.model.options();
        let locate = self.answer.options(&self.sampling, &self.pool, &self.reading);
        let locate = locate.with_trace(self.output.trace.is_some());
        self.gallery.fill(GalleryRule::Mix, &mut locator)?;
        let makes_samples = locate.pool.is_some() || locator.makes_samples() || self.output.trace.is_some();
        self.sampling.check_used(makes_samples)?;
        Ok(FlatOptions::new(locator, locate))
    }

    fn answer_all(
        &self,
        locator: &Locator,
        options: &LocateOptions,
        inputs: Inputs,
        mut score: Option<(&[LatLon], &mut AnswerScore)>,
    ) -> Result<Tally> {
        let (count, dry_run) = (inputs.count(), self.output.tags.dry_run);
        let files = || AnswerFiles::new(self.output.targets(), count, self.gallery.is_given());
        let mut files = if dry_run { None } else { Some(files()?) };
        let mut written = Vec::new();
        let mut tagging = Tagging::new(&self.output.tags, &self.photos, self.output.json)?;
        let is_quiet = dry_run || (score.is_some() && !self.output.json);
        let bar = progress::bar("locating", Some(count as u64));
        let guard = InterruptGuard::begin();
        let advance = |_: Progress| bar.inc(1);
        let control = Control::new().with_stop(guard.stop()).with_progress(&advance);
        let run = locator
            .locate_all(inputs.into_sources(), options)?
            .with_control(control)
            .with_thumbnails(if dry_run { 0 } else { self.output.thumbnails(count) });
        let (mut tally, mut summary) = (Tally::default(), Summary::default());
        let form = match (self.output.json, count > MANY && !self.output.details) {
            (true, _) => Form::Json,
            (false, true) => Form::Short,
            (false, false) => Form::Long,
        };
        for located in run {
            let name = located.origin.called();
            let answer = match &located.answer {
                Ok(answer) => answer,
                Err(error) if !error.is_about_photo() => return Err(located.answer.map(drop).unwrap_err().into()),
                Err(error) => {
                    let reason = located.origin.reason(error);
                    bar.suspend(|| say::error(&(reason.clone() + &hint(error))));
                    if self.output.json {
                        bar.suspend(|| output::Out.write_all(print::line(&located).as_bytes()))?;
                    }
                    if let Some(files) = &mut files {
                        files.add_failure(name, &reason)?;
                    }
                    tagging.pass(located.origin.path.as_deref())?;
                    tally.failed += 1;
                    summary.unreadable += 1;
                    continue;
                }
            };
            if let Some((truth, score)) = &mut score {
                score.add(answer, truth[located.origin.row], locator.reader());
            }
            summary.add(answer, &located);
            if !is_quiet {
                let text = print::text(answer, form);
                // One write per photo: a reader, or an interrupt, gets whole answers.
                bar.suspend(|| output::human_out().write_all(text.as_bytes()))?;
            }
            if let Some(files) = &mut files {
                let (codec, thumbnail) = (locator.predictor().codec(), located.thumbnail.as_deref());
                let own = files.add(answer, thumbnail, &located.trace, codec).with_context(|| name.to_owned())?;
                write_documents(own, &mut written).with_context(|| name.to_owned())?;
            }
            let path = located.origin.path.as_deref();
            bar.suspend(|| tagging.tag(answer.tag_place(), path)).with_context(|| name.to_owned())?;
            tally.answered += 1;
        }
        bar.finish_and_clear();
        tally.is_interrupted = control.is_stopped();
        drop(guard); // an interrupt at the question ends it
        if let Some(files) = files {
            let (done, documents) = files.finish()?;
            written.extend(done);
            write_documents(documents, &mut written)?;
        }
        summary.tell_unread(&options.ignore_text);
        if !is_quiet && matches!(form, Form::Short) {
            summary.tell();
        }
        if !is_quiet && !self.output.json && self.model.options().model.is_none() {
            summary.hint_at_geoclip();
        }
        tally.untagged = tagging.finish(&written, tally.is_interrupted)?;
        Ok(tally)
    }
}

/// Writes files, none of which may be there unless that was asked for.
fn write_documents(documents: Vec<(PathBuf, Vec<u8>, bool)>, written: &mut Vec<PathBuf>) -> Result<()> {
    for (path, bytes, is_in_folder) in documents {
        if is_in_folder {
            path.parent().map_or(Ok(()), std::fs::create_dir_all).with_context(|| path.display().to_string())?;
            output::claim_file(&path)?;
        }
        output::write_file(&path, &bytes)?;
        written.push(path);
    }
    Ok(())
}

/// The flag that helps a photo that could not be used.
fn hint(error: &locdiff::LocateError) -> String {
    hints::locate_flag(error).map_or(String::new(), |flag| format!(" ({flag})"))
}

fn say_what_answers(locator: &Locator, count: usize) {
    verbosity::detail(|| {
        let (degree, device) = (locator.model().config().degree, locator.model().params().device());
        let encoder = locator.encoder().map_or("none".to_owned(), |one| one.fingerprint().to_string());
        format!("{}; model of degree {degree}, encoder {encoder}, on {device}", counted(count, "photo"))
    });
    let calibration = locator.reader().calibration();
    if !calibration.is_fitted() {
        verbosity::note("this model is not calibrated, so its probabilities may be wrong: see `locdiff calibrate`");
    }
    if calibration.gallery.as_ref().is_some_and(|mix| locator.has_gallery() && !mix.is_fitted()) {
        verbosity::note(
            "the gallery's share is not calibrated: `locdiff calibrate --model FOLDER --gallery FILE …` does that for a model of your own",
        );
    }
}
