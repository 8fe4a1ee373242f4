//! `locdiff locate`: photos in, places with honest probabilities out.

mod inputs;
mod options;
mod print;
mod score;
mod sinks;
mod target;

use crate::gallery::{GalleryArgs, PhotoNames};
use crate::hybrid::{HybridArgs, OpenHybrid};
use crate::interrupt::Careful;
use crate::progress;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use inputs::{Input, Inputs};
use locdiff::{LocateError, LocateOptions, Locator, ModelError};
use options::LocatorArgs;
use score::Score;
use sinks::Sinks;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use target::OutputArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all answered; 1 failure, or some photos could not be read (they are named, the others \
                        answered); 2 usage; 130 interrupted (what was answered is written)."
)]
pub(crate) struct Locate {
    /// Photos: files, folders (searched by name), .csv with a column of paths, .tar shards, @list.txt
    #[arg(value_name = "PHOTOS", required_unless_present = "embeddings")]
    photos: Vec<PathBuf>,
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
    is_interrupted: bool,
}

impl Locate {
    pub(crate) fn run(self) -> Result<()> {
        let inputs = match &self.embeddings {
            Some(path) => Inputs::embeddings(path, self.tensor.as_deref())?,
            None => Inputs::photos(&self.photos)?,
        };
        let mut score = self.truth.as_deref().map(|path| Score::open(path, inputs.count())).transpose()?;
        self.output.check(inputs.count(), &inputs.files())?;
        let locator = self.with_gallery(self.locator.open(self.embeddings.is_none())?)?;
        inputs.check(&locator)?;
        if !locator.reader().calibration().is_fitted() {
            eprintln!(
                "note: this model was never calibrated, its probabilities may not hold: see `locdiff calibrate`"
            );
        }
        let mut options = self.locator.options()?;
        ensure!(
            self.embeddings.is_none() || options.views == 1,
            "--views makes views of photos; embeddings are what they are: leave it out"
        );
        let hybrid = self.open_hybrid(&locator, &options, inputs.count())?;
        options.hybrid = hybrid.as_ref().map(|open| open.hybrid.clone());
        let count = inputs.count();
        let Tally { answered, failed, is_interrupted } =
            self.answer_all(&locator, &options, inputs, hybrid.as_ref(), score.as_mut())?;
        if is_interrupted {
            eprintln!("interrupted after {answered} of {count} answers");
            std::process::exit(130);
        }
        if let Some(score) = score {
            score.tell(self.output.json)?;
        }
        if failed > 0 {
            bail!("{failed} of {count} photos could not be read; the others are answered");
        }
        Ok(())
    }

    /// The locator with the gallery that was asked for.
    fn with_gallery(&self, locator: Locator) -> Result<Locator> {
        let model = locator.model();
        let Some(gallery) = self.gallery.open(model.config().embedding_dim, model.params().device())? else {
            return Ok(locator);
        };
        ensure!(
            self.hybrid.gallery().is_none(),
            "--gallery and --hybrid are two ways to use a gallery: leave out one of them"
        );
        let locator = locator.with_gallery(gallery)?;
        if locator.reader().calibration().gallery.as_ref().is_some_and(|mix| !mix.is_fitted()) {
            eprintln!(
                "note: this model was never calibrated with this gallery: see `locdiff calibrate --gallery`"
            );
        }
        Ok(locator)
    }

    fn open_hybrid(
        &self,
        locator: &Locator,
        options: &LocateOptions,
        count: usize,
    ) -> Result<Option<OpenHybrid>> {
        let name =
            self.embeddings.as_ref().map_or("the encoder".to_owned(), |path| path.display().to_string());
        let model = locator.model();
        let hybrid =
            self.hybrid.open((&name, count, model.config().embedding_dim), model.params().device())?;
        if hybrid.is_some() {
            ensure!(
                options.knowledge.is_none(),
                "--hybrid does not go with --within or --prior: leave out one of them"
            );
            ensure!(
                self.embeddings.is_some() || !self.hybrid.has_own_embeddings(),
                "--hybrid-embeddings go with --embeddings, row by row: leave them out for photos"
            );
        }
        Ok(hybrid)
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
        let mut sinks = Sinks::new(&self.output, gallery.is_some())?;
        let is_quiet = score.is_some() && !self.output.json;
        let bar = progress::bar("locating", Some(inputs.count() as u64));
        let careful = Careful::begin();
        let stopped = || careful.stop().load(Ordering::SeqCst);
        let mut tally = Tally::default();
        while let Some(block) = inputs.next_block(locator, options, hybrid, stopped)? {
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
                    Err(error) if is_about_photo(&error) => {
                        bar.suspend(|| eprintln!("error: {}", named(&source.name, &error.to_string())));
                        tally.failed += 1;
                        bar.inc(1);
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
                    bar.suspend(|| std::io::stdout().write_all(text.as_bytes()))?;
                }
                let written =
                    sinks.write(&answer, source.path.as_deref(), &trace, locator.predictor().codec());
                written.with_context(|| source.name.clone())?;
                tally.answered += 1;
                bar.inc(1);
            }
            if stopped() {
                break;
            }
        }
        bar.finish_and_clear();
        tally.is_interrupted = stopped();
        drop(careful);
        for path in sinks.finish()? {
            if !self.output.json {
                writeln!(std::io::stdout(), "wrote {}", path.display())?;
            }
        }
        Ok(tally)
    }
}

/// Whether an error is one photo's alone, so that the others can go on.
fn is_about_photo(error: &LocateError) -> bool {
    matches!(error, LocateError::Vision(_) | LocateError::Model(ModelError::NotFinite { .. }))
}

/// An error that names its file, once.
fn named(name: &str, error: &str) -> String {
    if error.contains(name) { error.to_owned() } else { format!("{name}: {error}") }
}
