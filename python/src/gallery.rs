//! Galleries: photos whose places are known, to be searched and mixed in.

use crate::{errors::OrRaise, errors::SettingError, places::Matrix, places::place, pool::compute};
use locdiff_base::Named;
use locdiff_io::data::{PointColumns, RowFile, read_points};
use locdiff_retrieval::gallery::{GalleryBuilder, PhotoRetriever, Retriever, VectorType};
use pyo3::{prelude::*, types::PyList};
use std::path::PathBuf;

/// Gallery of located photos, searched by their embeddings.
#[pyclass(frozen, module = "locdiff")]
pub(crate) struct Gallery {
    inner: PhotoRetriever,
    folder: PathBuf,
}

#[pymethods]
impl Gallery {
    /// Open the gallery in a folder.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let opened = compute(py, || locdiff_retrieval::gallery::Gallery::open(&folder).and_then(PhotoRetriever::new))?;
        Ok(Self { inner: opened.or_model()?, folder })
    }

    /// Build a gallery in a new folder from a file of embeddings and a file of their locations, row by row.
    #[staticmethod]
    #[pyo3(signature = (embeddings, locations, out, *, tensor=None, dtype="f16"))]
    fn build(
        py: Python<'_>,
        embeddings: PathBuf,
        locations: PathBuf,
        out: PathBuf,
        tensor: Option<&str>,
        dtype: &str,
    ) -> PyResult<Self> {
        let vectors = VectorType::from_name(dtype).or_setting()?;
        let file = RowFile::open(&embeddings, tensor).or_data()?;
        let places = read_points(&locations, None, &PointColumns::default()).or_data()?;
        if file.rows() != places.len() {
            let (name, rows, count) = (file.name(), file.rows(), places.len());
            let message =
                format!("{name} has {rows} rows, the locations {count}: row k of both must be the same photo");
            return Err(SettingError::new_err(message));
        }
        let builder = GalleryBuilder::of_photos(&file, vectors);
        compute(py, || builder.build_from_rows(&out, &places, &file, |_| ()))?.or_data()?;
        Self::new(py, out)
    }

    fn __len__(&self) -> usize {
        self.inner.gallery().len()
    }

    /// Numbers of an embedding.
    #[getter]
    fn dimension(&self) -> usize {
        self.inner.gallery().dimension()
    }

    /// Find the most similar photos for each row of a float32 array [N, D]: lists of (row, location, cosine), rows from 0.
    #[pyo3(signature = (embeddings, most=5))]
    fn search<'py>(&self, py: Python<'py>, embeddings: Matrix<'py, f32>, most: usize) -> PyResult<Bound<'py, PyList>> {
        let rows: Vec<Vec<f32>> = embeddings.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
        let found = compute(py, || self.inner.retrieve_many(&rows, most))?.or_model()?;
        let lists = found.iter().map(|hits| {
            let hits = hits.iter().map(|hit| Ok((hit.row, place(py, hit.place)?, hit.score)));
            PyList::new(py, hits.collect::<PyResult<Vec<_>>>()?)
        });
        PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
    }

    fn __getnewargs__(&self) -> (PathBuf,) {
        (self.folder.clone(),)
    }

    fn __repr__(&self) -> String {
        format!("<Gallery {} of {} photos>", self.folder.display(), self.__len__())
    }
}
