//! Batch jobs, as Python and its engines run them.

use crate::pool::{Watch, compute};
use crate::{errors::OrRaise, errors::batch, options::Taker, options::options, places::from_json};
use locdiff::{Progress, batch::BatchError, batch::Job, batch::Task, batch::Worker};
use locdiff_base::Named;
use locdiff_io::data::Dtype;
use locdiff_nn::DeviceSpec;
use locdiff_vision::sources::Photos;
use numpy::{PyArray2, PyArrayMethods};
use pyo3::{prelude::*, types::PyDict};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Create a job folder from photos: paths of files, folders, tables and tar shards. Returns what `describe` returns.
#[pyfunction]
#[pyo3(signature = (photos, out, *, task="locate", shard_photos=1000, path_column=None, **settings))]
pub(crate) fn plan<'py>(
    py: Python<'py>,
    photos: &Bound<'py, PyAny>,
    out: PathBuf,
    task: &str,
    shard_photos: usize,
    path_column: Option<&str>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let task = Task::from_name(task).or_setting()?;
    let paths: Vec<PathBuf> = match photos.extract::<PathBuf>() {
        Ok(one) => vec![one],
        Err(_) => photos.extract()?,
    };
    let settings = options(settings, Taker::Job)?;
    let made = compute(py, || {
        let photos = Photos::gather(&paths, path_column).map_err(BatchError::from)?;
        Job::plan(&photos, &out, task, settings, shard_photos)
    })?;
    describe_job(py, &made.map_err(batch)?)
}

/// Describe a job: task, photos, shards, missing parts and settings.
#[pyfunction]
pub(crate) fn describe(py: Python<'_>, job: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let job = Job::open(job).map_err(batch)?;
    describe_job(py, &job)
}

fn describe_job<'py>(py: Python<'py>, job: &Job) -> PyResult<Bound<'py, PyAny>> {
    let about = json!({
        "job": job.folder(), "task": job.task(), "photos": job.photos(), "shards": job.shards(),
        "missing": job.missing(), "settings": job.settings(),
    });
    from_json(py, &about.to_string())
}

/// Write all parts into one .csv or .jsonl file, or .safetensors or .npy for embeddings.
#[pyfunction]
pub(crate) fn merge(py: Python<'_>, job: PathBuf, out: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let merged = compute(py, || Job::open(job).and_then(|job| job.merge(&out, Dtype::F32)))?;
    let merged = merged.map_err(batch)?;
    let about = json!({ "answered": merged.answered, "failed": merged.failed, "files": merged.files });
    from_json(py, &about.to_string())
}

/// Return a shard's part: a dictionary for each photo, and the embeddings or None.
#[pyfunction]
pub(crate) fn part(
    py: Python<'_>,
    job: PathBuf,
    shard: u32,
) -> PyResult<(Bound<'_, PyAny>, Option<Bound<'_, PyArray2<f32>>>)> {
    let part = compute(py, || Job::open(job).and_then(|job| job.part(shard)))?;
    let (objects, rows, columns) = part.map_err(batch)?;
    let objects = from_json(py, &Value::from(objects).to_string())?;
    if columns == 0 {
        return Ok((objects, None));
    }
    let array = PyArray2::<f32>::zeros(py, [rows.len() / columns, columns], false);
    array.readwrite().as_slice_mut().expect("a new array lies in one piece").copy_from_slice(&rows);
    Ok((objects, Some(array)))
}

/// Worker on a job's shards, which opens model and encoder once.
#[pyclass(frozen, module = "locdiff.batch")]
pub(crate) struct Runner {
    job: Job,
    worker: Worker,
    device: String,
}

#[pymethods]
impl Runner {
    /// Open the job's model or encoder.
    #[new]
    #[pyo3(signature = (job, *, device="auto", root=None))]
    fn new(py: Python<'_>, job: PathBuf, device: &str, root: Option<PathBuf>) -> PyResult<Self> {
        let mut job = Job::open(job).map_err(batch)?;
        if let Some(root) = root {
            job = job.with_base(root);
        }
        let at = device.parse::<DeviceSpec>().or_setting()?;
        let worker = compute(py, || Worker::open(&job, at))?.map_err(batch)?;
        Ok(Self { job, worker, device: device.to_owned() })
    }

    /// Make the parts of some shards, or of all. Finished parts, and shards that another run works on, are skipped. `progress(photos)` is
    /// called as photos are read.
    #[pyo3(signature = (shards=None, *, progress=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        shards: Option<Vec<u32>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let watch = Watch::new(progress);
        let shards = shards.unwrap_or_else(|| (0..self.job.shards()).collect());
        let done = watch.compute(py, || {
            self.worker.run(&self.job, shards, &watch.stop, |step| {
                if step == Progress::Read {
                    watch.advance(|photos| (photos,));
                }
            })
        })?;
        let runs = done.map_err(batch)?;
        let about = json!({ "made": runs.made, "skipped": runs.skipped, "busy": runs.busy, "photos": runs.photos });
        from_json(py, &about.to_string())
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((PathBuf,), Bound<'py, PyDict>)> {
        let named = PyDict::new(py);
        named.set_item("device", &self.device)?;
        named.set_item("root", self.job.base())?;
        Ok(((self.job.folder().to_owned(),), named))
    }

    fn __repr__(&self) -> String {
        format!("<Runner {} of {} shards>", self.job.folder().display(), self.job.shards())
    }
}
