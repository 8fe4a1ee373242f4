//! Answers judged by the truth.

use crate::{errors::OrRaise, places::record, places::rows, pool::compute};
use locdiff_base::Named;
use locdiff_io::data::{PlaceTable, PointColumns};
use locdiff_model::eval::{Bootstrap, Preset};
use locdiff_model::report::{Division, Evaluation, FileRows, Matching, System, match_rows};
use pyo3::prelude::*;
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
        let table = PlaceTable { places, ids: None, numbers: Vec::new(), countries: Vec::new() };
        Ok(Self { name: what.to_owned(), table })
    }

    fn rows(&self) -> FileRows<'_> {
        FileRows::of(&self.name, &self.table)
    }
}

/// Compare predictions with the truth. Both are files (matched by id if both have one) or arrays [N, 2] in degrees; a row of NaN is
/// unanswered. Returns what `locdiff evaluate --json` prints.
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
