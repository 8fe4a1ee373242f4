//! From a photo to an answer, as Python asks for it.

use crate::errors::{DataError, DeviceError, OrRaise, PhotoError, SettingError, locate};
use crate::options::{Taker, options as flat_options, value_of};
use crate::pool::{Watch, compute};
use crate::{album::with_known, answer::Answer, input::source, input::sources, places::Matrix, places::record};
use locdiff::{Control, EmbeddedPhoto, Embedding, FlatOptions, LocateError, LocateOptions, Located, LocatorOptions};
use locdiff::{Origin, Progress, Source};
use locdiff_base::Named;
use locdiff_nn::{Device, DeviceSpec};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::{collections::HashMap, path::PathBuf, sync::Arc, sync::Mutex, sync::PoisonError};

/// An encoder, a model and its calibration: `locdiff.Locator().locate("photo.jpg")`.
#[pyclass(frozen, module = "locdiff")]
pub(crate) struct Locator {
    inner: locdiff::Locator,
    /// How it was opened, with whole paths.
    opened: LocatorOptions,
}

/// A device by its name.
pub(crate) fn device(name: &str) -> PyResult<Device> {
    let spec = name.parse::<DeviceSpec>().or_setting()?;
    Device::open(spec).map_err(|error| DeviceError::new_err(error.to_string()))
}

/// The same options wherever the process goes.
fn anchored(options: FlatOptions) -> PyResult<FlatOptions> {
    Ok(options.anchored(&std::env::current_dir().or_data()?))
}

impl Locator {
    /// The options of its answers.
    fn options(&self, given: Option<&Bound<'_, PyDict>>, taker: Taker) -> PyResult<FlatOptions> {
        let mut options = flat_options(given, taker)?;
        options.locator = self.opened.clone();
        Ok(options)
    }

    /// Calls a function with the result of each photo, in blocks, with the progress told and signals answered in between.
    fn located<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<Source>,
        options: Option<&Bound<'py, PyDict>>,
        progress: Option<&Bound<'py, PyAny>>,
        mut each: impl FnMut(Result<Answer, PyErr>) -> PyResult<()>,
    ) -> PyResult<()> {
        let options = Arc::new(anchored(self.options(options, Taker::Photos)?)?);
        let count = sources.len();
        // What each answer is made of, until the answer is there.
        let kept = Mutex::new(HashMap::new());
        let keep = |origin: &Origin, photo: &EmbeddedPhoto| {
            kept.lock().unwrap_or_else(PoisonError::into_inner).insert(origin.row, photo.clone());
        };
        let control = Control::new().with_embedded(&keep);
        let run = compute(py, || self.inner.locate_all(sources, &options.locate))?;
        let mut run = run.map_err(locate)?.with_control(control);
        in_blocks(
            py,
            count,
            progress,
            || run.next_block(),
            |Located { origin, answer, .. }| {
                let photo = kept.lock().unwrap_or_else(PoisonError::into_inner).remove(&origin.row);
                each(match (answer, photo) {
                    (Ok(answer), Some(photo)) => Ok(Answer::new(answer, options.clone(), photo)),
                    (Ok(_), None) => Err(locate(LocateError::stopped())),
                    (Err(error), _) => Err(PhotoError::new_err(origin.reason(&error))),
                })
            },
        )
    }

    /// A list of answers; a photo's error is a value.
    fn answers<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<Source>,
        options: Option<&Bound<'py, PyDict>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let found = PyList::empty(py);
        self.located(py, sources, options, progress, |answer| match answer {
            Ok(answer) => found.append(Py::new(py, answer)?),
            Err(error) => found.append(error.into_value(py)),
        })?;
        Ok(found)
    }

    /// Calls a function with the embedding of each photo, as `located` does.
    fn embedded<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<Source>,
        max_megapixels: Option<u32>,
        progress: Option<&Bound<'py, PyAny>>,
        mut each: impl FnMut(Result<Bound<'py, PyArray1<f32>>, PyErr>) -> PyResult<()>,
    ) -> PyResult<()> {
        let mut options = LocateOptions::default();
        options.max_megapixels = max_megapixels.unwrap_or(options.max_megapixels);
        let options = Arc::new(options.resolved().map_err(locate)?);
        let count = sources.len();
        let mut stage = self.inner.read(sources, options, Control::new());
        in_blocks(
            py,
            count,
            progress,
            || stage.next_block(),
            |read| {
                each(match read.photo {
                    Ok(photo) => Ok(PyArray1::from_slice(py, photo.views[0].values())),
                    Err(error) => Err(PhotoError::new_err(read.origin.reason(&error))),
                })
            },
        )
    }
}

/// Calls a function with each item of the blocks, until there is no further block.
fn in_blocks<T: Send>(
    py: Python<'_>,
    count: usize,
    progress: Option<&Bound<'_, PyAny>>,
    mut next: impl FnMut() -> Result<Option<Vec<T>>, LocateError> + Send,
    mut each: impl FnMut(T) -> PyResult<()>,
) -> PyResult<()> {
    let mut done = 0;
    while let Some(block) = compute(py, &mut next)?.map_err(locate)? {
        done += block.len();
        block.into_iter().try_for_each(&mut each)?;
        py.check_signals()?;
        progress.map(|progress| progress.call1((done, count))).transpose()?;
    }
    Ok(())
}

#[pymethods]
impl Locator {
    /// Open a model and its encoder: folders or names, or those inside the package. A gallery is a folder; with GeoCLIP's folder it is a
    /// file of locations. `gallery_rule` is mix (LocDiff+kNN), hybrid (LocDiff-H) or paper; `hybrid` changes the last two.
    /// `precision="int8"` speeds up transformer encoders on the CPU.
    #[new]
    #[pyo3(signature = (model=None, encoder=None, *, device="auto", precision=None, gallery=None, geoclip=None, gallery_rule="mix", hybrid=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        model: Option<PathBuf>,
        encoder: Option<PathBuf>,
        device: &str,
        precision: Option<&str>,
        gallery: Option<PathBuf>,
        geoclip: Option<PathBuf>,
        gallery_rule: &str,
        hybrid: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut asked = LocatorOptions::default();
        asked.device = device.parse::<DeviceSpec>().or_setting()?;
        asked.precision = precision.map(Named::from_name).transpose().or_setting()?;
        asked.gallery_rule = Named::from_name(gallery_rule).or_setting()?;
        if let Some(changes) = hybrid {
            asked.hybrid = serde_json::from_value(value_of(changes)?).or_setting()?;
        }
        (asked.model, asked.encoder, asked.gallery, asked.geoclip) = (model, encoder, gallery, geoclip);
        let inner = compute(py, || locdiff::Locator::open(&asked))?.map_err(locate)?;
        Ok(Self { inner, opened: anchored(FlatOptions::new(asked, LocateOptions::default()))?.locator })
    }

    /// Open the model and encoder inside the package.
    #[staticmethod]
    #[pyo3(signature = (*, device="auto"))]
    fn bundled(py: Python<'_>, device: &str) -> PyResult<Self> {
        Self::new(py, None, None, device, None, None, None, "mix", None)
    }

    /// Length of an embedding.
    #[getter]
    fn embedding_dim(&self) -> usize {
        self.inner.model().config().embedding_dim
    }

    /// Name and hash of the encoder.
    #[getter]
    fn encoder(&self) -> Option<String> {
        self.inner.encoder().map(|encoder| encoder.fingerprint().to_string())
    }

    /// Device of the model.
    #[getter]
    fn device(&self) -> String {
        self.inner.model().params().device().to_string()
    }

    /// Locate a photo (a path, bytes, a PIL image or an array): `locator.locate("photo.jpg", within="Japan", clue=["language=Japanese"])`.
    #[pyo3(signature = (photo, **options))]
    fn locate(&self, photo: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Answer> {
        let mut found = None;
        self.located(photo.py(), vec![source(photo)?], options, None, |answer| answer.map(|one| found = Some(one)))?;
        found.ok_or_else(|| locate(LocateError::stopped()))
    }

    /// Locate photos: a list with an answer for each, in their order. A photo that cannot be read is a `PhotoError`. `progress(done,
    /// count)` is called after every few photos. See `locdiff.locate_iter` for an iterator.
    #[pyo3(signature = (photos, *, progress=None, **options))]
    fn locate_many<'py>(
        &self,
        photos: &Bound<'py, PyAny>,
        progress: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.answers(photos.py(), sources(photos)?, options, progress)
    }

    /// Locate the photos of a trip together: a list with an `AlbumAnswer` for each, in their order. A photo that cannot be read is a
    /// `PhotoError`. `progress(done, count)` is called as photos are read. Example: `locator.album(photos, gps=[(48.86, 2.35), None,
    /// None])`.
    #[pyo3(signature = (photos, *, times=None, gps=None, progress=None, **options))]
    fn album<'py>(
        &self,
        photos: &Bound<'py, PyAny>,
        times: Option<&Bound<'py, PyAny>>,
        gps: Option<&Bound<'py, PyAny>>,
        progress: Option<Py<PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = photos.py();
        let options = self.options(options, Taker::Album)?.of_album();
        let sources = with_known(sources(photos)?, times, gps)?;
        let (watch, count) = (Watch::new(progress), sources.len());
        let told = |stage: Progress| {
            if stage == Progress::Read {
                watch.advance(|done| (done, count));
            }
        };
        let control = Control::new().with_stop(&watch.stop).with_progress(&told);
        let run = watch.compute(py, || self.inner.locate_album_with(sources, &options, control))?;
        let run = run.map_err(locate)?;
        let each = run.photos.iter().map(|photo| match &photo.answer {
            Ok(answer) => record(py, "AlbumAnswer", &answer.to_json()),
            Err(error) => {
                let error = PhotoError::new_err(photo.origin.reason(error));
                Ok(error.into_value(py).into_bound(py).into_any())
            }
        });
        PyList::new(py, each.collect::<PyResult<Vec<_>>>()?)
    }

    /// Return a photo's embedding, a float32 array.
    #[pyo3(signature = (photo, *, max_megapixels=None))]
    fn embed<'py>(
        &self,
        photo: &Bound<'py, PyAny>,
        max_megapixels: Option<u32>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let mut found = None;
        self.embedded(photo.py(), vec![source(photo)?], max_megapixels, None, |one| one.map(|one| found = Some(one)))?;
        found.ok_or_else(|| locate(LocateError::stopped()))
    }

    /// Return a list with an embedding for each photo, in their order. A photo that cannot be read is a `PhotoError`.
    #[pyo3(signature = (photos, *, progress=None, max_megapixels=None))]
    fn embed_many<'py>(
        &self,
        photos: &Bound<'py, PyAny>,
        progress: Option<&Bound<'py, PyAny>>,
        max_megapixels: Option<u32>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = photos.py();
        let found = PyList::empty(py);
        self.embedded(py, sources(photos)?, max_megapixels, progress, |embedding| match embedding {
            Ok(embedding) => found.append(embedding),
            Err(error) => found.append(error.into_value(py)),
        })?;
        Ok(found)
    }

    /// Locate each row of a float32 array [N, D] of embeddings, made by the model's encoder.
    #[pyo3(signature = (embeddings, *, progress=None, **options))]
    fn locate_embeddings<'py>(
        &self,
        py: Python<'py>,
        embeddings: Matrix<'py, f32>,
        progress: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let rows = embeddings.as_array();
        let (wanted, met) = (self.embedding_dim(), rows.ncols());
        if wanted != met {
            let message = format!("embeddings of {met} numbers, the model takes {wanted}: use its encoder");
            return Err(SettingError::new_err(message));
        }
        let source = |(k, row): (usize, numpy::ndarray::ArrayView1<'_, f32>)| {
            let name = format!("row {}", k + 1);
            let embedding = Embedding::new(row.to_vec(), None);
            let embedding = embedding.map_err(|error| DataError::new_err(format!("{name}: {error}")))?;
            Ok(Source::embedded(EmbeddedPhoto::from(embedding).with_name(name)))
        };
        let sources = rows.rows().into_iter().enumerate().map(source).collect::<PyResult<_>>()?;
        self.answers(py, sources, options, progress)
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((Option<PathBuf>, Option<PathBuf>), Bound<'py, PyDict>)> {
        let LocatorOptions { model, encoder, device, precision, gallery, geoclip, gallery_rule, hybrid, .. } =
            &self.opened;
        let named = PyDict::new(py);
        named.set_item("device", device.to_string())?;
        named.set_item("precision", precision.map(|precision| precision.name()))?;
        named.set_item("gallery", gallery.clone())?;
        named.set_item("geoclip", geoclip.clone())?;
        named.set_item("gallery_rule", gallery_rule.name())?;
        named.set_item("hybrid", crate::places::from_json(py, &serde_json::to_string(hybrid).or_data()?)?)?;
        Ok(((model.clone(), encoder.clone()), named))
    }

    fn __repr__(&self) -> String {
        let name = self.opened.model.as_ref().map_or("bundled".to_owned(), |folder| folder.display().to_string());
        format!("<Locator {name} on {}>", self.device())
    }
}
