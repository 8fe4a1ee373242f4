//! The course of a run: step after step, what is logged, validated and kept in between.

use crate::train::step::TrainStep;
use crate::train::{Result, Rows, RunConfig, TrainError, TrainSettings, batches::Batch, error::folder};
use crate::{Model, Predictor, Query, Reading, SampleOptions, eval::Accuracy};
use crate::{answer::Globe, answer::Tempered, train::checkpoint::Checkpoints, train::checkpoint::Standing};
use locdiff_base::{OutputLock, ensure};
use locdiff_nn::{Device, Snapshot};
use locdiff_shdd::{Coefficients, sphere::LatLon};
use serde_json::json;
use std::{fs, io::Write, path::Path, path::PathBuf, sync::Arc, sync::mpsc, thread::JoinHandle, time::Instant};
use std::{fs::File, fs::OpenOptions, sync::atomic::AtomicBool, sync::atomic::Ordering};

/// The best model's folder inside a run's.
pub const BEST_FOLDER: &str = "best";

/// What happens during a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Something worth a line.
    Message(String),
    /// Some steps are done.
    Progress {
        /// Steps done.
        step: u32,
        /// Mean loss of the steps since the last event.
        loss: f64,
        /// The learning rate.
        lr: f32,
        /// The gradient's norm before clipping.
        grad_norm: f32,
        /// Speed since the last event.
        steps_per_second: f64,
    },
    /// A validation.
    Validation {
        /// Steps done.
        step: u32,
        /// Its result.
        accuracy: Accuracy,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Steps done.
    pub step: u32,
    /// Whether it was asked to stop; it can be resumed then.
    pub interrupted: bool,
    /// The last validation.
    pub validation: Option<Accuracy>,
    /// Score and step of the best validation.
    pub best: Option<(f64, u32)>,
    /// Mean speed of all steps of this call, checkpoints between them included, validations left out.
    pub steps_per_second: f64,
    /// From the call to the first step: reading data, loading it onto the device, preparing the device.
    pub startup_seconds: f64,
}

/// Batches that another thread makes, and the way back for used ones.
pub(crate) struct Batches {
    pub(crate) ready: mpsc::Receiver<Result<Batch>>,
    pub(crate) give_back: mpsc::Sender<Batch>,
}

/// The run's folder, and the photos to validate with.
pub(crate) struct Keeper<'a> {
    pub(crate) checkpoints: Checkpoints,
    pub(crate) metrics: Metrics,
    pub(crate) validation: Option<Rows<'a>>,
    pub(crate) out: &'a Path,
    pub(crate) standing: Standing,
    /// Room for the next checkpoint.
    pub(crate) snapshot: Option<Snapshot>,
    /// The checkpoint that is being written, while training goes on; gives the room back.
    pub(crate) saving: Option<JoinHandle<Result<Snapshot>>>,
    pub(crate) _lock: OutputLock,
}

impl Keeper<'_> {
    /// Waits for the checkpoint that is being written.
    fn saved(&mut self) -> Result<()> {
        if let Some(saving) = self.saving.take() {
            self.snapshot = Some(saving.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(())
    }
}

impl Drop for Keeper<'_> {
    fn drop(&mut self) {
        // The folder stays locked until nobody writes to it.
        let _ = self.saving.take().map(JoinHandle::join);
    }
}

pub(crate) struct Course<'a> {
    pub(crate) config: &'a RunConfig,
    /// What is saved and validated: gets the averaged weights when asked.
    pub(crate) model: Model,
    pub(crate) step: TrainStep,
    pub(crate) keeper: Keeper<'a>,
    pub(crate) done: u32,
    /// When the run was asked for.
    pub(crate) called: Instant,
    pub(crate) on_event: &'a mut dyn FnMut(Event),
}

impl Course<'_> {
    pub(crate) fn all(&mut self, batches: Option<&Batches>, stop: &AtomicBool) -> Result<Outcome> {
        let settings = &self.config.train;
        let startup_seconds = self.called.elapsed().as_secs_f64();
        let (mut since, mut logged_at) = (Instant::now(), self.done);
        let (mut last, mut seconds, first) = (None, 0.0, self.done);
        let (mut saved_at, mut interrupted) = (None, false);
        while self.done < settings.steps {
            if stop.load(Ordering::Relaxed) {
                interrupted = true;
                break;
            }
            match batches {
                None => self.step.run(None)?,
                Some(Batches { ready, give_back }) => {
                    let Ok(batch) = ready.recv() else { break };
                    let batch = batch?;
                    self.step.run(Some(&batch))?;
                    let _ = give_back.send(batch); // the maker may have finished
                }
            }
            self.done += 1;
            let end = self.done == settings.steps;
            let due = |every: u32| every > 0 && self.done.is_multiple_of(every);
            let (validate, checkpoint) = (due(settings.validate_every) || end, due(settings.checkpoint_every));
            if due(settings.log_every) || validate {
                // The clock is read when the steps are done, not when they are given to the device.
                self.step.wait()?;
                let elapsed = since.elapsed().as_secs_f64();
                self.log(self.done - logged_at, elapsed)?;
                seconds += elapsed;
                logged_at = self.done;
                let stopped_early = validate && self.validate(&mut last)?;
                since = Instant::now();
                if stopped_early {
                    (self.on_event)(Event::Message(format!("no better validation: stopping at step {}", self.done)));
                    break;
                }
            }
            if checkpoint || end {
                self.save()?;
                saved_at = Some(self.done);
            }
        }
        if saved_at != Some(self.done) && (interrupted || self.done > first) {
            self.save()?;
        }
        self.keeper.saved()?;
        if !interrupted {
            self.finish()?;
        }
        let steps_per_second = f64::from(logged_at - first) / seconds.max(1e-9);
        let (best, step) = (self.keeper.standing.best, self.done);
        Ok(Outcome { step, interrupted, validation: last, best, steps_per_second, startup_seconds })
    }

    fn log(&mut self, steps: u32, seconds: f64) -> Result<()> {
        if steps == 0 {
            return Ok(());
        }
        let loss = self.step.take_loss()? / (f64::from(steps) * self.config.train.batch as f64);
        let (lr, grad_norm) = self.step.last_step()?;
        let (step, steps_per_second) = (self.done, f64::from(steps) / seconds.max(1e-9));
        self.keeper.metrics.write(&json!({
            "step": step, "loss": loss, "lr": lr, "grad_norm": grad_norm, "steps_per_second": steps_per_second,
        }))?;
        ensure!(loss.is_finite(), TrainError::Diverged { step, loss });
        (self.on_event)(Event::Progress { step, loss, lr, grad_norm, steps_per_second });
        Ok(())
    }

    fn save(&mut self) -> Result<()> {
        let keeper = &mut self.keeper;
        keeper.saved()?;
        let mut snapshot = keeper.snapshot.take().unwrap_or_else(|| self.step.snapshot());
        self.step.take(&mut snapshot, self.done)?;
        let (checkpoints, standing) = (keeper.checkpoints.clone(), keeper.standing);
        keeper.saving = Some(std::thread::spawn(move || {
            checkpoints.save(&snapshot.read()?, standing)?;
            Ok(snapshot)
        }));
        Ok(())
    }

    fn refresh_model(&mut self) -> Result<()> {
        let weights = self.step.averaged()?;
        self.model.params_mut().upload(&weights)?;
        self.model.config_mut().trained_steps = u64::from(self.done);
        Ok(())
    }

    /// Validates; true when it is time to stop early.
    fn validate(&mut self, last: &mut Option<Accuracy>) -> Result<bool> {
        let Some(rows) = self.keeper.validation else { return Ok(false) };
        self.refresh_model()?;
        let Validation { accuracy, nll_nats } = validate(&self.model, rows, &self.config.train)?;
        // What is read is a density where the model gives one.
        let (step, score) = (self.done, nll_nats.map_or(accuracy.score(), |nll| -nll));
        let keeper = &mut self.keeper;
        keeper.metrics.write(&json!({"step": step, "validation": accuracy, "nll_nats": nll_nats, "score": score}))?;
        if keeper.standing.best.is_none_or(|(best, _)| score > best) {
            keeper.standing = Standing { best: Some((score, step)), stale: 0 };
            self.model.save(&keeper.out.join(BEST_FOLDER))?;
        } else {
            keeper.standing.stale += 1;
        }
        let stale = keeper.standing.stale;
        *last = Some(accuracy.clone());
        (self.on_event)(Event::Validation { step, accuracy });
        Ok(self.config.train.patience.is_some_and(|patience| stale >= patience))
    }

    /// Leaves the model: the last one, or the best where early stopping was asked for.
    fn finish(&mut self) -> Result<()> {
        self.refresh_model()?;
        let Keeper { standing, out, .. } = &self.keeper;
        if self.config.train.patience.is_some() && standing.best.is_some() {
            return Ok(Model::load(&Device::cpu(), &out.join(BEST_FOLDER))?.save(out)?);
        }
        Ok(self.model.save(out)?)
    }
}

/// `metrics.jsonl`, one JSON object a line, open for more.
pub(crate) struct Metrics {
    path: PathBuf,
    file: File,
}

impl Metrics {
    /// Opens the file of a run that stands at `step`: lines of later steps, and a line cut off by a crash, go.
    pub(crate) fn open(run: &Path, step: u32) -> Result<Self> {
        let path = run.join("metrics.jsonl");
        let old = fs::read_to_string(&path).unwrap_or_default();
        let is_before = |line: &&str| {
            let value = serde_json::from_str::<serde_json::Value>(line).ok();
            value.and_then(|value| value["step"].as_u64()).is_some_and(|at| at <= u64::from(step))
        };
        let kept: String = old.lines().filter(is_before).flat_map(|line| [line, "\n"]).collect();
        let failed = |error: std::io::Error| folder(&path, error);
        if kept != old {
            fs::write(&path, kept).map_err(failed)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        Ok(Self { path, file })
    }

    pub(crate) fn write(&mut self, line: &serde_json::Value) -> Result<()> {
        writeln!(self.file, "{line}").map_err(|error| folder(&self.path, error))
    }
}

/// Photos that are located at a time.
const BLOCK: usize = 256;

struct Validation {
    accuracy: Accuracy,
    /// Mean −log density at the truths with the best exponent; `None` for a model without densities.
    nll_nats: Option<f64>,
}

/// Validates by at most `validation_rows` rows: the evidence at pure noise, tempered, or pooled samples without
/// densities.
fn validate(model: &Model, rows: Rows<'_>, settings: &TrainSettings) -> Result<Validation> {
    let steps = settings.validation_steps.min(model.config().diffusion_steps);
    let options = SampleOptions { samples: settings.validation_samples, steps, ..SampleOptions::default() };
    let predictor = Predictor::new(model)?;
    let gives_densities = model.config().loss.has_quadrature();
    let stride = rows.rows.len().div_ceil(settings.validation_rows).max(1);
    let chosen: Vec<usize> = rows.rows.iter().step_by(stride).map(|&row| row as usize).collect();
    let truths: Vec<LatLon> = chosen.iter().map(|&row| rows.data.places()[row]).collect();
    let (mut places, mut evidence): (Vec<LatLon>, Vec<Coefficients>) = (Vec::new(), Vec::new());
    for block in chosen.chunks(BLOCK) {
        let embeddings = block.iter().map(|row| rows.data.embedding(*row)).collect::<Result<Vec<_>>>()?;
        let queries: Vec<Query<'_>> = embeddings.iter().map(Query::from).collect();
        if gives_densities {
            evidence.extend(predictor.coefficients(&queries, &options)?);
        } else {
            let found = predictor.predict(&queries, &options, Reading::default())?;
            places.extend(found.iter().map(|found| found.place));
        }
    }
    let mut nll_nats = None;
    if gives_densities {
        let globe = Arc::new(Globe::of(predictor.codec().clone())?);
        let tempered = Tempered::fit(&globe, &evidence, &truths)?;
        places = tempered.places(&globe, &evidence)?;
        nll_nats = Some(tempered.nll_nats);
    }
    Ok(Validation { accuracy: Accuracy::new(places.into_iter().zip(truths)), nll_nats })
}
