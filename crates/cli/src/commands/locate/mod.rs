//! `locdiff locate`: photos in, places with honest probabilities out.

pub(crate) mod inputs;
mod options;
mod print;
mod retrieval;
mod score;
mod sinks;
pub(crate) mod tag_args;
pub(crate) mod tagging;
mod target;

use crate::gallery::{GalleryArgs, PhotoNames};
use crate::hybrid::{HybridArgs, OpenHybrid};
use crate::interrupt::{Careful, Interrupted};
use crate::photos::PhotoArgs;
use crate::{hints, manners, output, progress, say};
use anyhow::{Context, Result, ensure};
use clap::Args;
use inputs::{Input, Inputs};
use locdiff::{LocateOptions, Locator};
use locdiff_base::one_line;
pub(crate) use options::AnswerArgs;
use options::LocatorArgs;
use score::Score;
use sinks::Sinks;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use tagging::Tagging;
use target::OutputArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all answered; 1 failure, or some photos could not be used (they are named and have rows with an \
                        error, the others are answered; --allow-bad: 0); 2 usage; 130 interrupted (what was answered is written)."
)]
pub(crate) struct Locate {
    /// Photos: files, folders (searched by name), .csv with a column of paths, .tar shards, @list.txt, - for a photo on
    /// standard input
    #[arg(value_name = "PHOTOS", required_unless_present = "embeddings")]
    photos: Vec<PathBuf>,
    #[command(flatten)]
    reading: PhotoArgs,
    #[command(flatten)]
    locator: LocatorArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Embeddings instead of photos, one row per photo: .safetensors or .npy
    #[arg(long, value_name = "FILE", conflicts_with = "photos", help_heading = "Embeddings")]
    embeddings: Option<PathBuf>,
    /// Tensor of a safetensors file that holds several
    #[arg(long, value_name = "NAME", requires = "embeddings", help_heading = "Embeddings")]
    tensor: Option<String>,
    /// True locations of the photos or embeddings, row by row: says how good the answers are
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    #[command(flatten)]
    gallery: GalleryArgs,
    #[command(flatten)]
    hybrid: HybridArgs,
}

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
        let inputs = match &self.embeddings {
            Some(path) => Inputs::embeddings(path, self.tensor.as_deref())?,
            None => Inputs::photos(&self.photos, &self.reading)?,
        };
        let mut score = self.truth.as_deref().map(|path| Score::open(path, inputs.count())).transpose()?;
        self.output.check(inputs.count(), &inputs.files())?;
        let locator = self.with_gallery(self.locator.open(self.embeddings.is_none())?)?;
        inputs.check(&locator)?;
        manners::detail(|| {
            let config = locator.model().config();
            let device = locator.model().params().device();
            let encoder = locator.encoder().map_or("none".to_owned(), |one| one.fingerprint().to_string());
            format!(
                "{} photos; model of degree {}, encoder {encoder}, on {device}",
                inputs.count(),
                config.degree
            )
        });
        if !locator.reader().calibration().is_fitted() {
            manners::note(
                "this model was never calibrated, its probabilities may not hold: see `locdiff calibrate`",
            );
        }
        let mut options = self.locator.options()?;
        let hybrid = self.open_hybrid(&locator, &options, &inputs)?;
        options.hybrid = hybrid.as_ref().map(|open| open.hybrid.clone());
        let count = inputs.count();
        let Tally { answered, failed, untagged, is_interrupted } =
            self.answer_all(&locator, &options, inputs, hybrid.as_ref(), score.as_mut())?;
        if is_interrupted {
            eprintln!("interrupted after {answered} of {count} answers");
            return Err(Interrupted.into());
        }
        if let Some(score) = score {
            score.tell(self.output.json)?;
        }
        self.reading.settle(failed, count, "above")?;
        ensure!(untagged == 0, "{untagged} of {count} photos got no tag; all else is written");
        Ok(())
    }

    fn answer_all(
        &self,
        locator: &Locator,
        options: &LocateOptions,
        mut inputs: Inputs,
        hybrid: Option<&OpenHybrid>,
        mut score: Option<&mut Score>,
    ) -> Result<Tally> {
        let gallery = self.gallery.gallery.as_deref().or(self.hybrid.gallery());
        let names = PhotoNames::of(gallery)?;
        let dry_run = self.output.tags.dry_run;
        let mut sinks =
            if dry_run { None } else { Some(Sinks::new(&self.output, inputs.count(), gallery.is_some())?) };
        if self.output.map.is_some() && !dry_run {
            inputs.make_thumbnails();
        }
        let mut tagging = Tagging::new(&self.output.tags, self.output.json)?;
        let is_quiet = dry_run || (score.is_some() && !self.output.json);
        let bar = progress::bar("locating", Some(inputs.count() as u64));
        let careful = Careful::begin();
        let stopped = || careful.stop().load(Ordering::SeqCst);
        let mut tally = Tally::default();
        while let Some(block) = inputs.next_block(locator, options, hybrid, stopped, || bar.inc(1))? {
            let (sources, embedded): (Vec<Input>, Vec<_>) = block.into_iter().unzip();
            let trace = match embedded.first() {
                Some(Ok(photo)) if self.output.trace.is_some() => locator.trace(photo, options)?,
                _ => Vec::new(),
            };
            for (source, answer) in sources.iter().zip(locator.answer_each(embedded, options)) {
                if stopped() {
                    break;
                }
                let mut answer = match answer {
                    Ok(answer) => answer,
                    Err(error) if error.is_about_photo() => {
                        let reason = error.about(&source.name);
                        let error = anyhow::Error::from(error);
                        let flag = hints::flag(&error).map_or(String::new(), |flag| format!(" ({flag})"));
                        bar.suspend(|| say::error(&(reason.clone() + &flag)));
                        if self.output.json {
                            let line = print::failure(&source.name, &reason);
                            bar.suspend(|| std::io::stdout().write_all(line.as_bytes()))?;
                        }
                        if let Some(sinks) = &mut sinks {
                            sinks.write_failure(&source.name, &reason)?;
                        }
                        tally.failed += 1;
                        continue;
                    }
                    // Not the photo's fault: settings, knowledge that leaves no place, the device.
                    Err(error) => return Err(error.into()),
                };
                names.complete(&mut answer);
                if let Some(score) = &mut score {
                    score.add(source.row, &answer, locator.reader());
                }
                if !is_quiet {
                    let text = print::text(&answer, self.output.json);
                    // One write per photo: whoever reads, or interrupts, gets whole answers.
                    bar.suspend(|| output::people().write_all(text.as_bytes()))?;
                }
                if let Some(sinks) = &mut sinks {
                    let written = sinks.write(
                        &answer,
                        source.thumbnail.as_deref(),
                        &trace,
                        locator.predictor().codec(),
                    );
                    written.with_context(|| source.name.clone())?;
                }
                let said = tagging
                    .tag(&(&answer).into(), source.path.as_deref())
                    .with_context(|| source.name.clone())?;
                bar.suspend(|| {
                    if let Some(skipped) = said.skipped {
                        manners::note(&one_line(&skipped));
                    }
                    std::io::stdout().write_all(said.plan.as_bytes())
                })?;
                tally.answered += 1;
            }
            if stopped() {
                break;
            }
        }
        bar.finish_and_clear();
        tally.is_interrupted = stopped();
        drop(careful);
        let tagged = tagging.finish()?;
        tally.untagged = tagged.unfit;
        let files = sinks.map(Sinks::finish).transpose()?.unwrap_or_default();
        if !self.output.json {
            output::tell_written(files.iter().chain(&tagged.written).map(PathBuf::as_path))?;
        }
        for note in tagged.notes {
            manners::note(&note);
        }
        if let Some(journal) = tagged.journal {
            let journal = journal.display();
            manners::note(&format!("{journal} lists the tags; `locdiff undo {journal}` takes them back"));
        }
        Ok(tally)
    }
}
