//! From a photo to an answer, as Python asks for it.

use crate::album::{self, Known};
use crate::answer::Answer;
use crate::errors::{DeviceError, OrRaise, PhotoError, SettingError, locate};
use crate::input::Input;
use crate::options::Options;
use crate::places::Matrix;
use crate::pool::compute;
use locdiff::{Device, EmbeddedPhoto, Embedding, LocateError, Photo};
use numpy::PyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::prelude::*;
use std::path::PathBuf;

/// An encoder, a model and its calibration: everything between a photo and an answer.
#[pyclass(frozen, module = "locdiff")]
pub(crate) struct Locator {
    inner: locdiff::Locator,
    model: Option<PathBuf>,
    encoder: Option<PathBuf>,
    device: String,
    gallery: Option<PathBuf>,
}

/// A device by its name.
pub(crate) fn device(name: &str) -> PyResult<Device> {
    let spec = name.parse().map_err(|error: locdiff::parts::NnError| SettingError::new_err(error.to_string()))?;
    Device::open(spec).map_err(|error| DeviceError::new_err(error.to_string()))
}

impl Locator {
    /// Answers for embedded photos; those that failed before are values.
    fn answers<'py>(
        &self,
        py: Python<'py>,
        embedded: Vec<(Option<String>, Result<EmbeddedPhoto, LocateError>)>,
        options: &Options,
        into: &Bound<'py, PyList>,
    ) -> PyResult<()> {
        let (names, embedded): (Vec<_>, Vec<_>) = embedded.into_iter().unzip();
        let answers = compute(py, || self.inner.answer_each(embedded, &options.locate))?;
        for (name, answer) in names.into_iter().zip(answers) {
            match answer {
                Ok(answer) => into.append(Py::new(py, Answer::new(answer))?)?,
                Err(error) if error.is_about_photo() => {
                    into.append(photo_error(py, name.as_deref(), &error))?;
                }
                Err(error) => return Err(locate(&error)),
            }
        }
        Ok(())
    }

    /// Decodes and embeds the photos of a block, a few at a time.
    fn embed_block(
        &self,
        block: &[Input],
        options: &Options,
    ) -> Vec<(Option<String>, Result<EmbeddedPhoto, LocateError>)> {
        let mut embedded = Vec::with_capacity(block.len());
        for few in block.chunks(self.inner.photos_at_once()) {
            let photos: Vec<Result<Photo, LocateError>> =
                few.par_iter().map(|input| input.decode(&options.limits)).collect();
            for (input, photo) in few.iter().zip(photos) {
                let name = input.name();
                let result = photo.and_then(|photo| {
                    let made = self.inner.embed(&photo, &options.locate)?;
                    Ok(match &name {
                        Some(name) => made.with_name(name.clone()),
                        None => made,
                    })
                });
                embedded.push((name, result));
            }
        }
        embedded
    }

    /// Works through photos in blocks, with the progress told and signals answered in between.
    fn in_blocks<'py>(
        &self,
        photos: &Bound<'py, PyAny>,
        progress: Option<&Bound<'py, PyAny>>,
        mut each: impl FnMut(&[Input]) -> PyResult<()>,
    ) -> PyResult<()> {
        let py = photos.py();
        let inputs: Vec<Input> =
            photos.try_iter()?.map(|photo| Input::of(&photo?)).collect::<PyResult<_>>()?;
        let (count, mut done) = (inputs.len(), 0);
        for block in inputs.chunks(self.inner.photos_per_block()) {
            each(block)?;
            done += block.len();
            py.check_signals()?;
            if let Some(progress) = progress {
                progress.call1((done, count))?;
            }
        }
        Ok(())
    }
}

/// A photo's error as a value.
fn photo_error<'py>(py: Python<'py>, name: Option<&str>, error: &LocateError) -> Bound<'py, PyAny> {
    let message = name.map_or_else(|| error.to_string(), |name| error.about(name));
    PhotoError::new_err(message).into_value(py).into_bound(py).into_any()
}

#[pymethods]
impl Locator {
    /// Opens a model and its encoder: folders, or those inside the package.
    #[new]
    #[pyo3(signature = (model=None, encoder=None, *, device="auto", gallery=None))]
    fn new(
        py: Python<'_>,
        model: Option<PathBuf>,
        encoder: Option<PathBuf>,
        device: &str,
        gallery: Option<PathBuf>,
    ) -> PyResult<Self> {
        let at = self::device(device)?;
        let opened = compute(py, || -> Result<locdiff::Locator, LocateError> {
            let found = match &model {
                Some(folder) => locdiff::parts::open_model(folder, &at)?,
                None => locdiff::parts::bundled_model(&at)?,
            };
            let seer = match &encoder {
                Some(folder) => locdiff::Encoder::open_on(folder, &at)?,
                None => locdiff::parts::bundled_encoder(&at)?,
            };
            let locator = locdiff::Locator::new(found, Some(seer))?;
            match &gallery {
                Some(folder) => locator.with_gallery(locdiff::parts::open_retriever(folder, None, &at, |_, _| ())?),
                None => Ok(locator),
            }
        })?;
        let inner = opened.map_err(|error| locate(&error))?;
        Ok(Self { inner, model, encoder, device: device.to_owned(), gallery })
    }

    /// The model and encoder inside the package.
    #[staticmethod]
    #[pyo3(signature = (*, device="auto"))]
    fn bundled(py: Python<'_>, device: &str) -> PyResult<Self> {
        Self::new(py, None, None, device, None)
    }

    /// Numbers of an embedding.
    #[getter]
    fn embedding_dim(&self) -> usize {
        self.inner.model().config().embedding_dim
    }

    /// The encoder's name and hash.
    #[getter]
    fn encoder(&self) -> Option<String> {
        self.inner.encoder().map(|encoder| encoder.fingerprint().to_string())
    }

    /// Where it runs.
    #[getter]
    fn device(&self) -> String {
        self.inner.model().params().device().to_string()
    }

    /// The answer for a photo: a path, bytes, a PIL image or an array.
    #[pyo3(signature = (photo, **options))]
    fn locate(
        &self,
        py: Python<'_>,
        photo: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Answer> {
        let options = Options::of(options)?;
        let input = Input::of(photo)?;
        let answer = compute(py, || {
            let (_, embedded) = self.embed_block(std::slice::from_ref(&input), &options).swap_remove(0);
            self.inner.answer(&embedded?, &options.locate)
        })?;
        answer.map(Answer::new).map_err(|error| locate(&error))
    }

    /// A list with an answer for each photo, in their order; a photo that cannot be read is a `PhotoError` in its place.
    /// `progress(done, count)` is called after every few photos.
    #[pyo3(signature = (photos, *, progress=None, **options))]
    fn locate_many<'py>(
        &self,
        photos: &Bound<'py, PyAny>,
        progress: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = photos.py();
        let options = Options::of(options)?;
        let answers = PyList::empty(py);
        self.in_blocks(photos, progress, |block| {
            let embedded = compute(py, || self.embed_block(block, &options))?;
            self.answers(py, embedded, &options, &answers)
        })?;
        Ok(answers)
    }

    /// A list with what is said about each photo of a trip after all others have spoken, in their order: dicts, as the lines of
    /// `locdiff album --json`. A photo that cannot be read is a `PhotoError` in its place.
    #[pyo3(signature = (photos, *, times=None, gps=None, same_place=false, trust_clocks=false, progress=None, **options))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn album<'py>(
        &self,
        photos: &Bound<'py, PyAny>,
        times: Option<&Bound<'py, PyAny>>,
        gps: Option<&Bound<'py, PyAny>>,
        same_place: bool,
        trust_clocks: bool,
        progress: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = photos.py();
        let options = Options::of(options)?;
        let photos = PyList::new(py, photos.try_iter()?.collect::<PyResult<Vec<_>>>()?)?;
        let known = Known::of(times, gps, photos.len())?;
        let mut found: Vec<Bound<'py, PyAny>> = Vec::with_capacity(photos.len());
        let (mut at, mut read) = (Vec::new(), Vec::new());
        self.in_blocks(photos.as_any(), progress, |block| {
            for (name, embedded) in compute(py, || self.embed_block(block, &options))? {
                match embedded {
                    Ok(embedded) => {
                        at.push(found.len());
                        read.push(embedded);
                        found.push(py.None().into_bound(py));
                    }
                    Err(error) if error.is_about_photo() => {
                        found.push(photo_error(py, name.as_deref(), &error));
                    }
                    Err(error) => return Err(locate(&error)),
                }
            }
            Ok(())
        })?;
        let places = at.clone();
        let how = (same_place, trust_clocks);
        let answers = album::answers(py, &self.inner, (at, read), &known, how, &options.locate)?;
        places.into_iter().zip(answers).for_each(|(k, answer)| found[k] = answer);
        PyList::new(py, found)
    }

    /// A photo's embedding, an array of float32.
    #[pyo3(signature = (photo, *, max_megapixels=100))]
    fn embed<'py>(
        &self,
        photo: &Bound<'py, PyAny>,
        max_megapixels: u64,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let py = photo.py();
        let options = limited(py, max_megapixels)?;
        let input = Input::of(photo)?;
        let embedded =
            compute(py, || self.embed_block(std::slice::from_ref(&input), &options).swap_remove(0).1)?;
        let embedded = embedded.map_err(|error| locate(&error))?;
        Ok(PyArray1::from_slice(py, embedded.views[0].values()))
    }

    /// A list with an embedding for each photo, in their order; a photo that cannot be read is a `PhotoError` in its place.
    #[pyo3(signature = (photos, *, progress=None, max_megapixels=100))]
    fn embed_many<'py>(
        &self,
        photos: &Bound<'py, PyAny>,
        progress: Option<&Bound<'py, PyAny>>,
        max_megapixels: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = photos.py();
        let options = limited(py, max_megapixels)?;
        let found = PyList::empty(py);
        self.in_blocks(photos, progress, |block| {
            for (name, embedded) in compute(py, || self.embed_block(block, &options))? {
                match embedded {
                    Ok(embedded) => found.append(PyArray1::from_slice(py, embedded.views[0].values()))?,
                    Err(error) if error.is_about_photo() => {
                        found.append(photo_error(py, name.as_deref(), &error))?;
                    }
                    Err(error) => return Err(locate(&error)),
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// A list with an answer for each row of an array of float32 [N, D], made by the model's encoder.
    #[pyo3(signature = (embeddings, *, progress=None, **options))]
    fn locate_embeddings<'py>(
        &self,
        py: Python<'py>,
        embeddings: Matrix<'py, f32>,
        progress: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let options = Options::of(options)?;
        let rows: Vec<Vec<f32>> = embeddings.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
        let wanted = self.inner.model().config().embedding_dim;
        if let Some(row) = rows.first().filter(|row| row.len() != wanted) {
            let message =
                format!("embeddings of {} numbers, the model takes {wanted}: use its encoder", row.len());
            return Err(SettingError::new_err(message));
        }
        let answers = PyList::empty(py);
        let (count, mut done) = (rows.len(), 0);
        for block in rows.chunks(self.inner.photos_per_block()) {
            let mut embedded = Vec::with_capacity(block.len());
            for (k, row) in block.iter().enumerate() {
                let embedding = Embedding::new(row.clone(), None).or_data()?;
                let name = format!("row {}", done + k + 1);
                embedded.push((Some(name.clone()), Ok(EmbeddedPhoto::from(embedding).with_name(name))));
            }
            self.answers(py, embedded, &options, &answers)?;
            done += block.len();
            py.check_signals()?;
            if let Some(progress) = progress {
                progress.call1((done, count))?;
            }
        }
        Ok(answers)
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((Option<PathBuf>, Option<PathBuf>), Bound<'py, PyDict>)> {
        let named = PyDict::new(py);
        named.set_item("device", &self.device)?;
        named.set_item("gallery", self.gallery.clone())?;
        Ok(((self.model.clone(), self.encoder.clone()), named))
    }

    fn __repr__(&self) -> String {
        let name = self.model.as_ref().map_or("bundled".to_owned(), |folder| folder.display().to_string());
        format!("<Locator {name} on {}>", self.device())
    }
}

/// The usual options, with a limit on pixels.
fn limited(py: Python<'_>, max_megapixels: u64) -> PyResult<Options> {
    let given = PyDict::new(py);
    given
        .set_item("max_megapixels", max_megapixels)
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Options::of(Some(&given))
}
