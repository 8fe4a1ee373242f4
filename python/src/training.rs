//! Training and calibration, with a function that receives the progress.

use crate::errors::{DataError, OrRaise, SettingError, locate};
use crate::{options::value_of, places::from_json, places::record, pool::Watch};
use locdiff::{CalibrateRequest, Control, EmbeddingRows, Progress};
use locdiff_base::Named;
use locdiff_io::data::RowFile;
use locdiff_model::train::split_by_blocks;
use locdiff_model::train::{Dataset, EmbeddingSource, Event, Rows, RunConfig, TrainError, TrainPreset, TrainingJob};
use locdiff_nn::DeviceSpec;
use pyo3::{prelude::*, types::PyDict};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Returns the preset's settings, changed by the given ones. Names are as in a run's `run.json`.
fn settings(preset: &str, columns: usize, given: Option<&Bound<'_, PyDict>>) -> PyResult<RunConfig> {
    let preset = TrainPreset::from_name(preset).or_setting()?;
    let mut config = serde_json::to_value(preset.run_config(columns)).or_setting()?;
    for (name, value) in given.into_iter().flatten() {
        let name: String = name.extract()?;
        let value = value_of(&value)?;
        let part = ["train", "model"].into_iter().find(|part| config[*part].get(&name).is_some());
        let Some(part) = part else {
            let names = |part: &str| {
                config[part].as_object().into_iter().flat_map(serde_json::Map::keys).cloned().collect::<Vec<_>>()
            };
            let known = [names("train"), names("model")].concat().join(", ");
            return Err(SettingError::new_err(format!("there is no setting '{name}': there are {known}")));
        };
        config[part][&name] = value;
    }
    serde_json::from_value(config).or_setting()
}

/// Train a model on a file of embeddings and a file of their locations, row by row, in a new folder.
///
/// `progress` receives a dictionary: step, steps, loss, learning_rate and steps_per_second, or step and accuracy after a validation. Other
/// keyword arguments are settings of the run, such as `steps=500` or `degree=23`.
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
        let message = format!("validation_share = {validation_share} cannot be used: 0 up to but not including 1");
        return Err(SettingError::new_err(message));
    }
    let copies = if tensor.is_some() { Vec::new() } else { EmbeddingSource::copies_in(&embeddings).or_data()? };
    let sources = EmbeddingSource::with_copies(&embeddings, tensor.as_deref(), &copies);
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
            Event::Validation { step, accuracy } => json!({ "step": step, "steps": steps, "accuracy": accuracy }),
        };
        watch.tell((Told(event),));
    };
    let outcome = watch.compute(py, || {
        let training = Rows { data: &data, rows: &split.train };
        let (device, out, stream, stop) = (&at, &*out, false, &watch.stop);
        let job = TrainingJob { device, config, training, validation, out, resume, stream, stop };
        locdiff_model::train::train(job, told)
    })?;
    let outcome = match outcome {
        Err(error @ TrainError::Setting(_)) => return Err(error).or_setting(),
        outcome => outcome.or_data()?,
    };
    let best = outcome.best.map(|(score, step)| json!({ "score": score, "step": step }));
    let summary = json!({
        "out": out, "step": outcome.step, "interrupted": outcome.interrupted, "validation": outcome.validation,
        "best": best, "steps_per_second": outcome.steps_per_second,
    });
    record(py, "TrainingRun", &summary)
}

/// Returns the progress as a Python dictionary.
struct Told(Value);

impl<'py> IntoPyObject<'py> for Told {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.0.to_string())
    }
}

/// Calibrate a model on embeddings of photos with known locations, and write the calibration into its folder. An interrupted call leaves
/// the old one. `progress(done, count)` is called as embeddings are read.
///
/// `groups`: a column of the truths with each photo's collection. `rows`: a file of rows to use. `out_of_domain`: embeddings and truths of
/// photos of another kind. `gallery` (and `geoclip`): a gallery whose weight is fitted too. `export`: another folder to write to.
#[pyfunction]
#[pyo3(signature = (model, embeddings, truth, *, tensor=None, samples=None, seed=None, groups=None, rows=None, out_of_domain=None, gallery=None, geoclip=None, export=None, device="auto", progress=None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword argument")]
pub(crate) fn calibrate<'py>(
    py: Python<'py>,
    model: PathBuf,
    embeddings: PathBuf,
    truth: PathBuf,
    tensor: Option<String>,
    samples: Option<usize>,
    seed: Option<u64>,
    groups: Option<String>,
    rows: Option<PathBuf>,
    out_of_domain: Option<(PathBuf, PathBuf)>,
    gallery: Option<PathBuf>,
    geoclip: Option<PathBuf>,
    export: Option<PathBuf>,
    device: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut request = CalibrateRequest::new(model, EmbeddingRows::new(embeddings, tensor, truth));
    request.samples = samples.unwrap_or(request.samples);
    request.seed = seed.unwrap_or(request.seed);
    request.device = device.parse::<DeviceSpec>().or_setting()?;
    request.out_of_domain = out_of_domain.map(|(embeddings, truth)| EmbeddingRows::new(embeddings, None, truth));
    (request.groups, request.rows, request.export) = (groups, rows, export);
    (request.gallery, request.geoclip) = (gallery, geoclip);
    let (watch, count) = (Watch::new(progress), rows_to_read(&request)?);
    let told = |_: Progress| watch.advance(|done| (done, count));
    let control = Control::new().with_stop(&watch.stop).with_progress(&told);
    let fitted = watch.compute(py, || request.run(control))?;
    fitted.map_err(locate)?;
    let text = std::fs::read_to_string(request.file()).or_data()?;
    record(py, "Calibration", &serde_json::from_str(&text).or_data()?)
}

/// How many rows a calibration reads.
fn rows_to_read(request: &CalibrateRequest) -> PyResult<usize> {
    let rows = |of: &EmbeddingRows| RowFile::open(&of.embeddings, of.tensor.as_deref()).map(|file| file.rows());
    let own = match &request.rows {
        Some(list) => {
            let text = std::fs::read_to_string(list);
            let text = text.map_err(|error| DataError::new_err(format!("{}: {error}", list.display())))?;
            text.lines().filter(|line| !line.trim().is_empty()).count()
        }
        None => rows(&request.embeddings).or_data()?,
    };
    Ok(own + request.out_of_domain.as_ref().map_or(Ok(0), rows).or_data()?)
}
