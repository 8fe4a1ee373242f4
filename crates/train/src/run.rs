//! The training loop.

use crate::batches::{Batch, BatchMaker};
use crate::checkpoint::{Checkpoints, Standing};
use crate::dataset::same_encoder;
use crate::error::folder;
use crate::metrics::Metrics;
use crate::step::TrainStep;
use crate::validation::{Validation, validate};
use crate::{Rows, RunConfig, TrainError};
use locdiff_base::{AtomicFile, OutputLock, setting};
use locdiff_eval::Accuracy;
use locdiff_model::{CodeWriter, Model, Standardisation, make_quadrature};
use locdiff_nn::Device;
use serde_json::json;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// The best model's folder inside a run's.
pub const BEST_FOLDER: &str = "best";
const RUN_FILE: &str = "run.json";

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
    /// Mean speed of this call, validations left out.
    pub steps_per_second: f64,
}

/// What to train on and where.
pub struct Job<'a> {
    /// The device.
    pub device: &'a Device,
    /// Every choice; the fingerprint is filled in from the data.
    pub config: RunConfig,
    /// The rows to train on.
    pub training: Rows<'a>,
    /// The rows to validate with.
    pub validation: Option<Rows<'a>>,
    /// The run's folder.
    pub out: &'a Path,
    /// Continue a run.
    pub resume: bool,
    /// Set from elsewhere: save and stop.
    pub stop: &'a AtomicBool,
}

/// Trains, and leaves a model folder, checkpoints and metrics in the run's folder.
///
/// Everything drawn is a function of (seed, step): a run that is stopped at any moment, by `kill -9` too, and resumed
/// ends with the same weights bit for bit (on the same kind of device).
///
/// ```no_run
/// use locdiff_nn::{Device, DeviceSpec};
/// use locdiff_train::{Dataset, Job, TrainPreset, Rows, Source, split_by_blocks, train};
/// let source = Source { path: "embeddings.safetensors".into(), tensor: None };
/// let data = Dataset::open(&[source], "places.csv".as_ref())?;
/// let split = split_by_blocks(data.places(), 0.1, 0);
/// let job = Job {
///     device: &Device::open(DeviceSpec::Auto)?,
///     config: TrainPreset::Default.run_config(data.columns()),
///     training: Rows { data: &data, rows: &split.train },
///     validation: Some(Rows { data: &data, rows: &split.validation }),
///     out: "run".as_ref(),
///     resume: false,
///     stop: &false.into(),
/// };
/// let outcome = train(job, |event| println!("{event:?}"))?;
/// println!("{} steps", outcome.step);
/// # Ok::<(), locdiff_train::TrainError>(())
/// ```
///
/// # Errors
/// Settings or data that cannot be used, a run folder that belongs to another run, a full disk, a loss that diverges.
pub fn train(job: Job<'_>, mut on_event: impl FnMut(Event)) -> Result<Outcome, TrainError> {
    let Job { device, mut config, training, validation, out, resume, stop } = job;
    config.train.check()?;
    if training.rows.is_empty() {
        return Err(setting("training rows", 0, "at least one; lower the share for validation"));
    }
    if config.model.embedding_dim != training.data.columns() {
        return Err(setting("embedding_dim", config.model.embedding_dim, "as wide as the embeddings"));
    }
    if let Some(other) = validation.filter(|v| v.data.columns() != training.data.columns()) {
        return Err(TrainError::Columns {
            first: "the training file".to_owned(),
            first_columns: training.data.columns(),
            second: "the validation file".to_owned(),
            second_columns: other.data.columns(),
        });
    }
    if let Some(other) = validation {
        let made = |rows: Rows<'_>| rows.data.encoder().cloned();
        let (first, second) = (made(training), made(other));
        same_encoder(("the training file", first.as_ref()), ("the validation file", second.as_ref()))?;
    }
    config.model.encoder = training.data.encoder().cloned();
    config.model.check()?;
    let (standardisation, fingerprint) = training.data.survey(training.rows)?;
    config.model.data_fingerprint = fingerprint;
    std::fs::create_dir_all(out)
        .map_err(|error| folder(out, format!("cannot create this folder: {error}")))?;
    let _lock = OutputLock::folder(out)?;
    let checkpoints = Checkpoints::new(out, config.train.keep_checkpoints)?;
    claim_folder(out, &config, resume, &checkpoints)?;

    let mut model = Model::new(device, config.model.clone())?;
    if config.model.standardise {
        model.set_standardisation(standardisation)?;
    } else {
        model.set_standardisation(Standardisation::identity(config.model.embedding_dim))?;
    }
    model.set_quadrature(make_quadrature(&config.model, &training.points())?);
    let codes = CodeWriter::new(&config.model)?;
    let mut step = TrainStep::new(device, &model, &codes, &config.train)?;
    let mut standing = Standing::default();
    let mut done = 0;
    if resume {
        match checkpoints.load_newest(|message| on_event(Event::Message(message))) {
            Some((state, found)) => {
                step.import(&state)?;
                (done, standing) = (state.step, found);
                on_event(Event::Message(format!("continuing at step {done} of {}", config.train.steps)));
            }
            None => on_event(Event::Message("no checkpoint yet: starting at step 0".to_owned())),
        }
    }
    let metrics = Metrics::open(out, done)?;
    let maker = BatchMaker {
        rows: training,
        codes: &codes,
        standardisation: &model.standardisation().clone(),
        batch: config.train.batch,
        seed: config.model.seed,
        fresh_anchors: step.wants_fresh_anchors(),
    };
    let mut run = Loop {
        config: &config,
        model,
        step,
        checkpoints,
        metrics,
        validation,
        out,
        standing,
        done,
        on_event: &mut on_event,
    };
    std::thread::scope(|scope| {
        let (ready, batches) = mpsc::sync_channel(3);
        let (give_back, used) = mpsc::channel();
        let steps = done..config.train.steps;
        let maker = &maker;
        scope.spawn(move || maker.serve(steps, &ready, &used));
        run.all(&batches, &give_back, stop)
        // `batches` goes here, at which the maker stops.
    })
}

/// Makes a folder free for a new run: the checkpoints of the one before are removed. Another process that trains there is an
/// error, and nothing is removed.
///
/// # Errors
/// A folder in use, or one that cannot be written.
pub fn clear_run(out: &Path) -> Result<(), TrainError> {
    if !out.is_dir() {
        return Ok(());
    }
    let _lock = OutputLock::folder(out)?;
    Checkpoints::new(out, 1)?.clear()
}

/// Sees that the folder is free, or belongs to this run.
fn claim_folder(
    out: &Path,
    config: &RunConfig,
    resume: bool,
    checkpoints: &Checkpoints,
) -> Result<(), TrainError> {
    let path = out.join(RUN_FILE);
    if let Ok(text) = locdiff_base::read_text_bounded(&path, 1 << 20) {
        if !resume && !checkpoints.steps().is_empty() {
            return Err(TrainError::HoldsRun { path: out.to_owned() });
        }
        if resume {
            let old: serde_json::Value =
                serde_json::from_str(&text).map_err(|error| folder(&path, format!("not JSON: {error}")))?;
            // Through text, as the old one came: 0.3 as f32 and as f64 are different numbers.
            let text = serde_json::to_string(config).expect("settings are plain data");
            let new: serde_json::Value = serde_json::from_str(&text).expect("it was written just now");
            for part in ["model", "train"] {
                for (key, value) in new[part].as_object().into_iter().flatten() {
                    if old[part][key] != *value {
                        let reason = format!(
                            "the run was started with {key} = {}, now it is {value}: resume with the same settings \
                             and data, or choose another folder",
                            old[part][key]
                        );
                        return Err(folder(&path, reason));
                    }
                }
            }
            return Ok(());
        }
    }
    let text = serde_json::to_string_pretty(config).expect("settings are plain data") + "\n";
    Ok(AtomicFile::write_whole(&path, text.as_bytes())?)
}

struct Loop<'a> {
    config: &'a RunConfig,
    /// What is saved and validated: gets the averaged weights when asked.
    model: Model,
    step: TrainStep,
    checkpoints: Checkpoints,
    metrics: Metrics,
    validation: Option<Rows<'a>>,
    out: &'a Path,
    standing: Standing,
    done: u32,
    on_event: &'a mut dyn FnMut(Event),
}

impl Loop<'_> {
    fn all(
        &mut self,
        batches: &mpsc::Receiver<Result<Batch, TrainError>>,
        give_back: &mpsc::Sender<Batch>,
        stop: &AtomicBool,
    ) -> Result<Outcome, TrainError> {
        let settings = &self.config.train;
        let (mut since, mut logged_at) = (Instant::now(), self.done);
        let (mut last, mut seconds, first) = (None, 0.0, self.done);
        let mut saved_at = None;
        let mut interrupted = false;
        while self.done < settings.steps {
            if stop.load(Ordering::Relaxed) {
                interrupted = true;
                break;
            }
            let Ok(batch) = batches.recv() else { break };
            let batch = batch?;
            self.step.run(&batch)?;
            let _ = give_back.send(batch); // the maker may have finished
            self.done += 1;
            let end = self.done == settings.steps;
            let due = |every: u32| every > 0 && self.done.is_multiple_of(every);
            let (validate, checkpoint) =
                (due(settings.validate_every) || end, due(settings.checkpoint_every));
            if due(settings.log_every) || validate {
                let elapsed = since.elapsed().as_secs_f64();
                self.log(self.done - logged_at, elapsed)?;
                seconds += elapsed;
                logged_at = self.done;
                let stopped_early = validate && self.validate(&mut last)?;
                since = Instant::now();
                if stopped_early {
                    (self.on_event)(Event::Message(format!(
                        "no better validation: stopping at step {}",
                        self.done
                    )));
                    break;
                }
            }
            if checkpoint || end {
                self.checkpoints.save(&self.step.export()?, self.standing)?;
                saved_at = Some(self.done);
            }
        }
        if saved_at != Some(self.done) && (interrupted || self.done > first) {
            self.checkpoints.save(&self.step.export()?, self.standing)?;
        }
        if !interrupted {
            self.finish()?;
        }
        let steps_per_second = f64::from(logged_at - first) / seconds.max(1e-9);
        let best = self.standing.best;
        Ok(Outcome { step: self.done, interrupted, validation: last, best, steps_per_second })
    }

    fn log(&mut self, steps: u32, seconds: f64) -> Result<(), TrainError> {
        if steps == 0 {
            return Ok(());
        }
        let loss = self.step.take_loss(steps)?;
        let (lr, grad_norm) = self.step.last_step()?;
        let (step, steps_per_second) = (self.done, f64::from(steps) / seconds.max(1e-9));
        self.metrics.write(&json!({
            "step": step, "loss": loss, "lr": lr, "grad_norm": grad_norm, "steps_per_second": steps_per_second,
        }))?;
        if !loss.is_finite() {
            return Err(TrainError::Diverged { step, loss });
        }
        (self.on_event)(Event::Progress { step, loss, lr, grad_norm, steps_per_second });
        Ok(())
    }

    /// Puts the averaged weights into the model.
    fn refresh_model(&mut self) -> Result<(), TrainError> {
        let weights = self.step.averaged()?;
        self.model.params_mut().upload(&weights)?;
        self.model.config_mut().trained_steps = u64::from(self.done);
        Ok(())
    }

    /// Validates; true when it is time to stop early.
    fn validate(&mut self, last: &mut Option<Accuracy>) -> Result<bool, TrainError> {
        let Some(rows) = self.validation else { return Ok(false) };
        self.refresh_model()?;
        let Validation { accuracy, nll_nats } = validate(&self.model, rows, &self.config.train)?;
        // What is read is a density where the model gives one.
        let (step, score) = (self.done, nll_nats.map_or(accuracy.score(), |nll| -nll));
        self.metrics
            .write(&json!({"step": step, "validation": accuracy, "nll_nats": nll_nats, "score": score}))?;
        if self.standing.best.is_none_or(|(best, _)| score > best) {
            self.standing = Standing { best: Some((score, step)), stale: 0 };
            self.model.save(&self.out.join(BEST_FOLDER))?;
        } else {
            self.standing.stale += 1;
        }
        *last = Some(accuracy.clone());
        (self.on_event)(Event::Validation { step, accuracy });
        Ok(self.config.train.patience.is_some_and(|patience| self.standing.stale >= patience))
    }

    /// Leaves the model: the last one, or the best where early stopping was asked for.
    fn finish(&mut self) -> Result<(), TrainError> {
        self.refresh_model()?;
        if self.config.train.patience.is_some() && self.standing.best.is_some() {
            let best = Model::load(&Device::cpu(), &self.out.join(BEST_FOLDER))?;
            return Ok(best.save(self.out)?);
        }
        Ok(self.model.save(self.out)?)
    }
}
