//! Answers judged by the truth, and methods beside each other.

use crate::errors::{DataError, LocDiffError, OrRaise, SettingError};
use crate::places::{record, rows};
use crate::pool::{Watch, compute};
use crate::training::Told;
use locdiff_base::Named;
use locdiff_baselines::{Comparison, EffortPreset, Examples, Method, Splits, Stopwatch, Trial};
use locdiff_io::data::{PlaceTable, PointColumns};
use locdiff_model::eval::{Bootstrap, Preset};
use locdiff_model::report::{Division, Evaluation, FileRows, Matching, System, match_rows};
use locdiff_model::train::{Dataset, Source};
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// Answers or truths: a file, or an array of [N, 2].
struct Table {
    name: String,
    table: PlaceTable,
}

impl Table {
    fn of(given: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        if let Ok(path) = given.extract::<PathBuf>() {
            let columns = PointColumns::default();
            let table = PlaceTable::read(&path, None, &columns, None, System::judges_column).or_data()?;
            return Ok(Self { name: path.display().to_string(), table });
        }
        let places = rows(&given.extract()?)?;
        let table = PlaceTable { places, ids: None, numbers: Vec::new() };
        Ok(Self { name: what.to_owned(), table })
    }

    fn rows(&self) -> FileRows<'_> {
        FileRows::of(&self.name, &self.table)
    }
}

/// Judges predictions by the truth, both files (matched by id where both have one) or arrays of [N, 2] in degrees, in which a row of
/// NaN is no answer. Gives what `locdiff evaluate --json` prints.
#[pyfunction]
#[pyo3(signature = (truth, predictions, *, preset="plonk", replicates=1000, seed=0))]
pub(crate) fn evaluate<'py>(
    truth: &Bound<'py, PyAny>,
    predictions: &Bound<'py, PyAny>,
    preset: &str,
    replicates: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let py = truth.py();
    let (truth, found) = (Table::of(truth, "truth")?, Table::of(predictions, "predictions")?);
    let evaluation = Evaluation {
        preset: Preset::from_name(preset).or_setting()?,
        bootstrap: Bootstrap { replicates, seed, ..Bootstrap::default() },
        divisions: vec![Division::Continent, Division::Country],
        ..Evaluation::default()
    };
    evaluation.bootstrap.check().or_setting()?;
    let (matched, strange) = match_rows(truth.rows(), found.rows(), Matching::default()).or_data()?;
    let system = System::from_table(found.name.clone(), &found.table, &matched, strange);
    let report = compute(py, || evaluation.judge(&truth.name, &truth.table.places, system, None, || ()))?;
    record(py, "Evaluation", &report.or_data()?.to_json())
}

/// Embeddings and places of photos.
type Photos = (PathBuf, PathBuf);

/// Trains and tests methods on the same embeddings: `training`, `validation` and `test` are pairs of a file of embeddings and a file
/// of places. Gives what `locdiff-lab compare --json` prints; `progress` is called with a dictionary: method, share.
#[pyfunction]
#[pyo3(signature = (training, validation, test, *, methods=None, preset="quick", steps=None, seed=0, far_km=200.0, device="auto", progress=None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword argument")]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    training: Photos,
    validation: Photos,
    test: Photos,
    methods: Option<Vec<String>>,
    preset: &str,
    steps: Option<u32>,
    seed: u64,
    far_km: f64,
    device: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let methods: Vec<Method> = match methods {
        Some(names) => names.iter().map(|name| name.parse::<Method>()).collect::<Result<_, _>>().or_setting()?,
        None => Method::main(),
    };
    let mut effort = EffortPreset::from_name(preset).or_setting()?.effort();
    effort.steps = steps.unwrap_or(effort.steps);
    let at = crate::locator::device(device)?;
    let read = |(path, places): &Photos| -> PyResult<Examples> {
        let data = Dataset::open(&[Source { path: path.clone(), tensor: None }], places).or_data()?;
        Examples::read(&data).or_data()
    };
    let watch = Watch::new(progress);
    let comparison = watch.compute(py, || -> PyResult<Comparison> {
        let splits = Splits::new(read(&training)?, read(&validation)?, read(&test)?)
            .map_err(|error| SettingError::new_err(error.to_string()))?;
        let clock = Stopwatch::start();
        let (total, mut trials) = (methods.len() as f64, Vec::new());
        for (k, method) in methods.iter().enumerate() {
            let mut trial = Trial::new(method.name(), method.description());
            let mut fitted = method.build(&at, effort, seed);
            let mut tell = |share: f64| {
                watch.tell((Told(json!({ "method": method.name(), "share": (k as f64 + share) / total })),));
            };
            trial
                .run(fitted.as_mut(), &splits, seed, None, &mut tell)
                .map_err(|error| DataError::new_err(error.to_string()))?;
            trials.push(trial);
            if watch.stop.load(std::sync::atomic::Ordering::SeqCst) {
                return Err(LocDiffError::new_err("stopped"));
            }
        }
        Ok(Comparison {
            trials,
            far: splits.far_test_photos(far_km),
            far_km,
            bootstrap: Bootstrap::default(),
            photos: splits.test.len(),
            title: format!(
                "{} training, {} validation and {} test photos; preset {preset}, {} steps, seed {seed}; {at}",
                splits.training.len(),
                splits.validation.len(),
                splits.test.len(),
                effort.steps
            ),
            seconds: clock.seconds(),
            cpu_seconds: clock.cpu_seconds(),
        })
    })??;
    record(py, "Comparison", &comparison.to_json())
}
