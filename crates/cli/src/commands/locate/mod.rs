//! `locdiff locate`: photos in, places with honest probabilities out.

mod inputs;
mod options;
mod print;
mod score;
mod write;

use crate::hybrid::{Found, Hybrid, HybridArgs};
use crate::interrupt::Careful;
use crate::progress;
use anyhow::{Context, Result, bail};
use clap::Args;
use inputs::{Batch, Inputs};
use locdiff::{Answer, AnswerDensity, Finding, Session};
use locdiff_shdd::Codec;
use locdiff_sphere::LatLon;
use options::{OutputArgs, SamplingArgs};
use score::Score;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

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
    sampling: SamplingArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Embeddings instead of photos, one a row: .safetensors or .npy
    #[arg(long, value_name = "FILE", conflicts_with = "photos", help_heading = "Embeddings")]
    embeddings: Option<PathBuf>,
    /// Tensor of a safetensors file that holds several
    #[arg(long, value_name = "NAME", requires = "embeddings", help_heading = "Embeddings")]
    tensor: Option<String>,
    /// True locations of the embeddings, row by row: says how good the answers are
    #[arg(long, value_name = "FILE", requires = "embeddings", help_heading = "Embeddings")]
    truth: Option<PathBuf>,
    #[command(flatten)]
    hybrid: HybridArgs,
}

/// A photo with its answer.
pub(crate) struct Located<'a> {
    /// Its path, or "row 7".
    pub(crate) name: &'a str,
    /// The file itself, where it is a file of its own.
    pub(crate) path: Option<&'a std::path::Path>,
    /// Where the photo says it was taken: reported, never used.
    pub(crate) gps: Option<LatLon>,
    pub(crate) answer: &'a Answer,
    pub(crate) density: &'a AnswerDensity<'a>,
    /// Clean estimates along the backward process, where they are asked for.
    pub(crate) trace: &'a [(usize, Vec<f64>)],
}

impl Locate {
    pub(crate) fn run(self) -> Result<()> {
        let mut inputs = match &self.embeddings {
            Some(path) => Inputs::embeddings(path, self.tensor.as_deref())?,
            None => Inputs::photos(&self.photos)?,
        };
        let score = self.truth.as_deref().map(|path| Score::open(path, inputs.count())).transpose()?;
        self.output.check(&inputs)?;
        let locator = self.sampling.locator(self.embeddings.is_none())?;
        inputs.check(&locator)?;
        if !locator.calibration().is_fitted() {
            eprintln!(
                "note: this model was never calibrated, its probabilities may not hold: see `locdiff calibrate`"
            );
        }
        let options = self.sampling.options()?;
        let (views, knowledge) = (options.views, options.knowledge.is_some());
        let config = locator.model().config();
        let name =
            self.embeddings.as_ref().map_or("the encoder".to_owned(), |path| path.display().to_string());
        let device = locator.model().params().device();
        let hybrid = self.hybrid.open((&name, inputs.count(), config.embedding_dim), device)?;
        if hybrid.is_some() {
            anyhow::ensure!(
                !knowledge,
                "--hybrid does not go with --within or --prior: leave out one of them"
            );
            anyhow::ensure!(
                self.embeddings.is_some() || !self.hybrid.has_own_embeddings(),
                "--hybrid-embeddings go with --embeddings, row by row: leave them out for photos"
            );
        }
        let hybrid = match hybrid {
            Some(hybrid) => Some((hybrid, Codec::new(config.degree()?), views)),
            None => None,
        };
        let session = locator.session(options)?;
        self.answer_all(session, &mut inputs, score, hybrid.as_ref())
    }

    fn answer_all(
        &self,
        mut session: Session<'_>,
        inputs: &mut Inputs,
        mut score: Option<Score>,
        hybrid: Option<&(Hybrid, Codec, usize)>,
    ) -> Result<()> {
        let mut sinks = self.output.sinks()?;
        let quiet = score.is_some() && !self.output.json();
        let bar = progress::bar("locating", Some(inputs.count() as u64));
        let careful = Careful::begin();
        let stopped = || careful.stop().load(Ordering::SeqCst);
        let (mut answered, mut failed) = (0, 0);
        for block in 0.. {
            let Some(batch) = inputs.next_batch(&session, stopped)? else { break };
            let Batch { names, paths, gps, embeddings, failures } = batch;
            for failure in &failures {
                bar.suspend(|| eprintln!("error: {failure}"));
            }
            failed += failures.len();
            bar.inc(failures.len() as u64);
            if names.is_empty() {
                continue;
            }
            let trace = if self.output.wants_trace() { session.trace(&embeddings)? } else { Vec::new() };
            let mut findings: Vec<Finding> = session.find(block, &embeddings)?;
            if let Some((hybrid, codec, views)) = hybrid {
                retrieve(
                    hybrid,
                    codec,
                    &mut findings,
                    &mean_views(&embeddings, *views, names.len()),
                    answered,
                )?;
            }
            for (k, finding) in findings.iter().enumerate() {
                if stopped() {
                    break;
                }
                let (answer, density) = session.answer(finding)?;
                if let Some(score) = &mut score {
                    score.add(answered, &answer, &density, session.calibration());
                }
                let located = Located {
                    name: &names[k],
                    path: paths[k].as_deref(),
                    gps: gps[k],
                    answer: &answer,
                    density: &density,
                    trace: &trace,
                };
                if !quiet {
                    let text = print::text(&located, self.output.json());
                    // One write a photo: whoever reads, or interrupts, gets whole answers.
                    bar.suspend(|| std::io::stdout().write_all(text.as_bytes()))?;
                }
                sinks.write(&located).with_context(|| names[k].clone())?;
                answered += 1;
                bar.inc(1);
            }
            if stopped() {
                break;
            }
        }
        bar.finish_and_clear();
        let interrupted = stopped();
        drop(careful);
        for path in sinks.finish()? {
            if !self.output.json() {
                writeln!(std::io::stdout(), "wrote {}", path.display())?;
            }
        }
        if interrupted {
            eprintln!("interrupted after {answered} of {} answers", inputs.count());
            std::process::exit(130);
        }
        if let Some(score) = score {
            score.tell(self.output.json())?;
        }
        if failed > 0 {
            bail!("{failed} of {} photos could not be read; the others are answered", inputs.count());
        }
        Ok(())
    }
}

/// Puts the hybrid's places in the findings' stead; `first` is the number of the first.
fn retrieve(
    hybrid: &Hybrid,
    codec: &Codec,
    findings: &mut [Finding],
    embeddings: &[f32],
    first: usize,
) -> Result<()> {
    let columns = embeddings.len() / findings.len().max(1);
    for (k, (finding, embedding)) in findings.iter_mut().zip(embeddings.chunks_exact(columns)).enumerate() {
        let Finding { samples, place, code, .. } = &*finding;
        let found = Found { row: first + k, embedding, samples, plain: *place, code };
        finding.place = hybrid.answer(codec, &found)?.place;
    }
    Ok(())
}

/// The mean embedding of each photo's views.
fn mean_views(embeddings: &[f32], views: usize, photos: usize) -> Vec<f32> {
    let columns = embeddings.len() / (views * photos).max(1);
    let mut means = vec![0.0; photos * columns];
    for (mean, views_of_one) in means.chunks_exact_mut(columns).zip(embeddings.chunks_exact(views * columns))
    {
        for view in views_of_one.chunks_exact(columns) {
            mean.iter_mut().zip(view).for_each(|(mean, value)| *mean += value / views as f32);
        }
    }
    means
}
