//! Training and calibration, with a function that is told how far they are.

use crate::errors::{OrRaise, SettingError};
use crate::places::from_json;
use crate::pool::Watch;
use locdiff::{Model, SampleOptions};
use locdiff::parts::{BACKGROUND_DRAWS, Globe, ModelError, Observation, Predictor, fit};
use locdiff_base::Named;
use locdiff_data::{PointColumns, RowFile, read_points};
use locdiff_train::{Dataset, Event, Job, Rows, RunConfig, Source, TrainError, TrainPreset, split_by_blocks};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The preset's settings with those that were given instead; their names are those of a run's `run.json`.
fn settings(preset: &str, columns: usize, given: Option<&Bound<'_, PyDict>>) -> PyResult<RunConfig> {
    let preset = TrainPreset::from_name(preset).or_setting()?;
    let mut config = serde_json::to_value(preset.run_config(columns)).or_setting()?;
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        let text: String = name_to_json(&value)?;
        let value: Value = serde_json::from_str(&text).or_setting()?;
        let part = ["train", "model"].into_iter().find(|part| config[*part].get(&name).is_some());
        let Some(part) = part else {
            let names = |part: &str| {
                config[part]
                    .as_object()
                    .into_iter()
                    .flat_map(serde_json::Map::keys)
                    .cloned()
                    .collect::<Vec<_>>()
            };
            let known = [names("train"), names("model")].concat().join(", ");
            return Err(SettingError::new_err(format!("there is no setting '{name}': there are {known}")));
        };
        config[part][&name] = value;
    }
    serde_json::from_value(config).or_setting()
}

fn name_to_json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.py().import("json")?.call_method1("dumps", (value,))?.extract()
}

/// Trains a model on a file of embeddings and a file of their places, row by row, in a new folder.
///
/// `progress` is called with a dictionary: step, steps, loss, learning_rate and steps_per_second, or step and accuracy after a
/// validation. Other keyword arguments are settings of the run, such as `steps=500` or `degree=23`.
#[pyfunction]
#[pyo3(signature = (embeddings, locations, out, *, preset="default", validation_share=0.0, tensor=None, resume=false, device="auto", progress=None, **settings))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword argument")]
pub(crate) fn train<'py>(
    py: Python<'py>,
    embeddings: PathBuf,
    locations: PathBuf,
    out: PathBuf,
    preset: &str,
    validation_share: f64,
    tensor: Option<String>,
    resume: bool,
    device: &str,
    progress: Option<Py<PyAny>>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    if !(0.0..1.0).contains(&validation_share) {
        let message =
            format!("validation_share = {validation_share} cannot be used: 0 up to but not including 1");
        return Err(SettingError::new_err(message));
    }
    let copies = if tensor.is_some() { Vec::new() } else { Source::copies_in(&embeddings).or_data()? };
    let sources = Source::with_copies(&embeddings, tensor.as_deref(), &copies);
    let data = Dataset::open(&sources, &locations).or_data()?;
    let config = self::settings(preset, data.columns(), settings)?;
    config.model.check().or_setting()?;
    let at = crate::locator::device(device)?;
    let split = split_by_blocks(data.places(), validation_share, config.model.seed);
    let validation = (!split.validation.is_empty()).then_some(Rows { data: &data, rows: &split.validation });
    let steps = config.train.steps;
    let watch = Watch::new(progress);
    let told = |event: Event| {
        let event = match event {
            Event::Message(_) => return,
            Event::Progress { step, loss, lr, steps_per_second, .. } => json!({
                "step": step, "steps": steps, "loss": loss, "learning_rate": lr, "steps_per_second": steps_per_second,
            }),
            Event::Validation { step, accuracy } => {
                json!({ "step": step, "steps": steps, "accuracy": accuracy })
            }
        };
        watch.tell((Told(event),));
    };
    let outcome = watch.compute(py, || {
        let training = Rows { data: &data, rows: &split.train };
        let job = Job {
            device: &at,
            config,
            training,
            validation,
            out: &out,
            resume,
            stream: false,
            stop: &watch.stop,
        };
        locdiff_train::train(job, told)
    })?;
    let outcome = outcome.map_err(|error| match error {
        TrainError::Setting(_) => SettingError::new_err(error.to_string()),
        error => crate::errors::DataError::new_err(error.to_string()),
    })?;
    let best = outcome.best.map(|(score, step)| json!({ "score": score, "step": step }));
    let summary = json!({
        "out": out, "step": outcome.step, "interrupted": outcome.interrupted, "validation": outcome.validation,
        "best": best, "steps_per_second": outcome.steps_per_second,
    });
    from_json(py, &summary.to_string())
}

/// What a function is told, as a dictionary of Python's.
pub(crate) struct Told(pub(crate) Value);

impl<'py> IntoPyObject<'py> for Told {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.0.to_string())
    }
}

/// Makes a model's probabilities hold what they say, with embeddings of photos whose places are known; the calibration is written
/// into the model's folder. `progress(done, count)` is called as embeddings are read.
#[pyfunction]
#[pyo3(signature = (model, embeddings, truth, *, tensor=None, samples=16, seed=0, device="auto", progress=None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword argument")]
pub(crate) fn calibrate<'py>(
    py: Python<'py>,
    model: PathBuf,
    embeddings: PathBuf,
    truth: PathBuf,
    tensor: Option<&str>,
    samples: usize,
    seed: u64,
    device: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let file = RowFile::open(&embeddings, tensor).or_data()?;
    let places = read_points(&truth, None, &PointColumns::default()).or_data()?;
    if file.rows() != places.len() {
        let (name, rows, count) = (file.name(), file.rows(), places.len());
        let message =
            format!("{name} has {rows} rows, the truth {count}: row k of both must be the same photo");
        return Err(SettingError::new_err(message));
    }
    let at = crate::locator::device(device)?;
    let watch = Watch::new(progress);
    let options = SampleOptions { samples, seed, ..SampleOptions::default() };
    let fitted = watch.compute(py, || -> PyResult<locdiff::Calibration> {
        let loaded = Model::load(&at, &model).or_model()?;
        let (columns, wanted) = (file.columns(), loaded.config().embedding_dim);
        if columns != wanted {
            let message =
                format!("{} has embeddings of {columns} numbers, the model takes {wanted}", file.name());
            return Err(SettingError::new_err(message));
        }
        let predictor = Predictor::new(&loaded).or_model()?;
        let globe = Arc::new(Globe::new(loaded.config().degree).or_model()?);
        let background = predictor.background(BACKGROUND_DRAWS).or_model()?;
        let rows: Vec<usize> = (0..file.rows()).collect();
        let mut given = Vec::with_capacity(rows.len());
        let read = predictor.evidence_rows(&file, &rows, &options, |row, embedding, evidence| {
            let embedding = embedding.values().to_vec();
            given.push(Observation {
                evidence,
                truth: places[row],
                embedding,
                group: 0,
                neighbours: Vec::new(),
            });
            watch.tell((given.len(), rows.len()));
            if watch.stop.load(Ordering::SeqCst) { Err(Stopped::Asked) } else { Ok(()) }
        });
        match read {
            Err(Stopped::Failed(error)) => return Err(crate::errors::ModelError::new_err(error.to_string())),
            Err(Stopped::Asked) | Ok(()) => {}
        }
        let mut calibration = fit(&globe, &background, &given, &[], samples, seed).or_setting()?;
        calibration.encoder = loaded.config().encoder.clone().or_else(|| file.encoder().cloned());
        calibration.save(&model).or_data()?;
        Ok(calibration)
    })??;
    let text = std::fs::read_to_string(model.join(locdiff::parts::CALIBRATION_FILE)).or_data()?;
    let mut summary: Value = serde_json::from_str(&text).or_data()?;
    summary["window_km"] = fitted.window_km.into();
    from_json(py, &summary.to_string())
}

/// Why reading ended early.
enum Stopped {
    Asked,
    Failed(ModelError),
}

impl From<ModelError> for Stopped {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}
