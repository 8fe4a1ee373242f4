//! A training run from beginning to end.

use crate::answer::{FEWEST_FOR_HEADS, Globe, fit_surroundings};
use crate::train::batches::{BatchMaker, DeviceFeed, FeedPlan};
use crate::train::checkpoint::{Checkpoints, Standing};
use crate::train::course::{Batches, Course, Event, Keeper, Metrics, Outcome};
use crate::train::dataset::{same_columns, same_encoder};
use crate::train::{Result, Rows, RunConfig, TrainError, error::folder, step::TrainStep, trained};
use crate::{CodeWriter, Model, objective::make_quadrature};
use locdiff_base::{AtomicFile, OutputLock, ensure, setting};
use locdiff_nn::{Device, TrainingState};
use std::{path::Path, sync::atomic::AtomicBool, sync::mpsc, time::Instant};

const RUN_FILE: &str = "run.json";

/// What to train on and where.
pub struct TrainingJob<'a> {
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
    /// Read embeddings from their files as they are needed, though the device's memory could hold them all.
    pub stream: bool,
    /// Set from elsewhere: save and stop.
    pub stop: &'a AtomicBool,
}

/// Trains, and leaves a model folder, checkpoints and metrics in the run's folder.
///
/// Everything drawn is a function of (seed, step): a run that is stopped at any moment, by `kill -9` too, and resumed
/// ends with the same bits on the same kind of device. Fails on settings or data that cannot be used, a run folder that
/// belongs to another run, a full disk, a loss that diverges.
pub fn train(job: TrainingJob<'_>, mut on_event: impl FnMut(Event)) -> Result<Outcome> {
    let called = Instant::now();
    let TrainingJob { device, mut config, training, validation, out, resume, stream, stop } = job;
    config.train.check()?;
    check_data(&config, training, validation)?;
    config.model.encoder = training.data.encoder().cloned();
    config.model.check()?;
    let (standardisation, fingerprint) = training.data.survey(training.rows)?;
    config.model.data_fingerprint = fingerprint;

    let mut model = Model::new(device, config.model.clone())?;
    if config.model.standardise {
        model.set_standardisation(standardisation)?; // the model has none else
    }
    model.set_quadrature(make_quadrature(&config.model, &training.points())?);
    let codes = CodeWriter::new(&config.model)?;
    let mut step = TrainStep::new(device, &model, &codes, &config.train)?;
    std::fs::create_dir_all(out).map_err(|error| folder(out, format!("cannot create this folder: {error}")))?;
    let lock = OutputLock::folder(out)?;
    let checkpoints = Checkpoints::new(out, config.train.keep_checkpoints)?;
    claim_folder(out, &config, resume, &checkpoints)?;
    trained::note(training, out)?;
    let start = if resume { Start::at(&checkpoints, config.train.steps, &mut on_event) } else { Start::default() };
    let metrics = Metrics::open(out, start.step())?;
    let (standing, snapshot) = (start.standing, Some(step.snapshot()));
    let keeper = Keeper { checkpoints, metrics, validation, out, standing, snapshot, saving: None, _lock: lock };
    start.state.as_ref().map_or(Ok(()), |state| step.import(state))?;
    let done = start.step();
    let standardisation = model.standardisation().clone();
    let fresh_anchors = step.objective.wants_fresh_anchors();
    let mut on_host = true;
    if device.is_cuda() {
        let (rows, count, standardisation) = (training, config.train.batch, &standardisation);
        let plan = FeedPlan { rows, codes: &codes, standardisation, count, fresh_anchors, stream };
        let feed = DeviceFeed::new(device, &plan)?;
        on_host = !feed.holds_embeddings();
        step.set_feed(feed)?;
        step.warm_up()?;
    }
    let (batch, seed, codes) = (config.train.batch, config.model.seed, (!device.is_cuda()).then_some(&codes));
    let standardisation = &standardisation;
    let maker = BatchMaker { rows: training, codes, standardisation, batch, seed, fresh_anchors };
    let on_event = &mut on_event;
    let mut course = Course { config: &config, model, step, keeper, done, called, on_event };
    let outcome = if on_host {
        std::thread::scope(|scope| {
            let (ready, batches) = mpsc::sync_channel(3);
            let (give_back, used) = mpsc::channel();
            let steps = done..config.train.steps;
            let maker = &maker;
            scope.spawn(move || maker.serve(steps, &ready, &used));
            course.all(Some(&Batches { ready: batches, give_back }), stop)
            // The batches go here, at which the maker stops.
        })
    } else {
        course.all(None, stop)
    }?;
    if !outcome.interrupted && training.rows.len() >= FEWEST_FOR_HEADS && Globe::has_map(config.model.degree) {
        fit_heads(training, out)?;
    }
    Ok(outcome)
}

/// Fits heads that predict map attributes, for `calibrate`. All copies of the photos take part, up to so many rows.
fn fit_heads(training: Rows<'_>, out: &Path) -> Result<()> {
    const MOST: usize = 120_000;
    let data = training.data;
    let count = training.rows.len() * data.copies();
    let (mut rows, mut places) = (Vec::new(), Vec::new());
    for k in (0..count).step_by(count.div_ceil(MOST)) {
        let row = training.rows[k % training.rows.len()] as usize;
        let mut values = vec![0.0; data.columns()];
        data.read(row, k / training.rows.len(), &mut values)?;
        rows.push(values);
        places.push(data.places()[row]);
    }
    // Photos that are nearly all at sea have no heads.
    if let Ok(heads) = fit_surroundings(&rows, &places) {
        heads.save(out)?;
    }
    Ok(())
}

fn check_data(config: &RunConfig, training: Rows<'_>, validation: Option<Rows<'_>>) -> Result<()> {
    ensure!(!training.rows.is_empty(), setting("training rows", 0, "at least one; lower the share for validation"));
    if config.model.embedding_dim != training.data.columns() {
        return Err(setting("embedding_dim", config.model.embedding_dim, "as wide as the embeddings"));
    }
    let Some(other) = validation else { return Ok(()) };
    let (first, second) = ("the training file", "the validation file");
    same_columns((first, training.data.columns()), (second, other.data.columns()))?;
    same_encoder((first, training.data.encoder()), (second, other.data.encoder()))
}

#[derive(Default)]
struct Start {
    state: Option<TrainingState>,
    standing: Standing,
}

impl Start {
    /// At the newest checkpoint that is whole.
    fn at(checkpoints: &Checkpoints, steps: u32, on_event: &mut impl FnMut(Event)) -> Self {
        let Some((state, standing)) = checkpoints.load_newest(|message| on_event(Event::Message(message))) else {
            on_event(Event::Message("no checkpoint yet: starting at step 0".to_owned()));
            return Self::default();
        };
        on_event(Event::Message(format!("continuing at step {} of {steps}", state.step)));
        Self { state: Some(state), standing }
    }

    fn step(&self) -> u32 {
        self.state.as_ref().map_or(0, |state| state.step)
    }
}

/// Makes a folder free for a new run: the checkpoints of the one before are removed.
/// Fails on a folder that another process trains in, where nothing is removed, or one that cannot be written.
pub fn clear_run(out: &Path) -> Result<()> {
    if !out.is_dir() {
        return Ok(());
    }
    let _lock = OutputLock::folder(out)?;
    Checkpoints::new(out, 1)?.clear()
}

/// Sees that the folder is free, or belongs to this run.
fn claim_folder(out: &Path, config: &RunConfig, resume: bool, checkpoints: &Checkpoints) -> Result<()> {
    let path = out.join(RUN_FILE);
    if let Ok(text) = locdiff_base::read_text_bounded(&path, 1 << 20) {
        ensure!(resume || checkpoints.steps().is_empty(), TrainError::HoldsRun { path: out.to_owned() });
        if resume {
            let old: serde_json::Value =
                serde_json::from_str(&text).map_err(|error| folder(&path, format!("not JSON: {error}")))?;
            // Through text, as the old one came: 0.3 as f32 and as f64 are different numbers.
            let text = serde_json::to_string(config).expect("settings are plain data");
            let new: serde_json::Value = serde_json::from_str(&text).expect("it was written just now");
            let all = |part| new[part].as_object().into_iter().flatten().map(move |(key, value)| (part, key, value));
            let mut changed = ["model", "train"].into_iter().flat_map(all);
            let Some((part, key, value)) = changed.find(|(part, key, value)| old[part][key] != **value) else {
                return Ok(());
            };
            let was = format!("the run was started with {key} = {}, now it is {value}", old[part][key]);
            let remedy = "resume with the same settings and data, or choose another folder";
            return Err(folder(&path, format!("{was}: {remedy}")));
        }
    }
    let text = serde_json::to_string_pretty(config).expect("settings are plain data") + "\n";
    Ok(AtomicFile::write_whole(&path, text.as_bytes())?)
}
