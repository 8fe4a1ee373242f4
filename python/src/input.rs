//! A photo as Python gives it: a path, bytes, an array or a PIL image.

use locdiff::{LocateError, Photo, PhotoLimits};
use locdiff::parts::VisionError;
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes};
use std::path::PathBuf;

/// A photo that is not decoded yet.
pub(crate) enum Input {
    Path(PathBuf),
    Bytes(PyBackedBytes),
    Rgb { width: u32, height: u32, rgb: Vec<u8> },
}

impl Input {
    pub(crate) fn of(photo: &Bound<'_, PyAny>) -> PyResult<Self> {
        if photo.is_instance_of::<PyBytes>() {
            return Ok(Self::Bytes(photo.extract()?));
        }
        if photo.is_instance_of::<PyByteArray>() {
            return Ok(Self::Bytes(PyBytes::new(photo.py(), &photo.extract::<Vec<u8>>()?).extract()?));
        }
        if let Ok(path) = photo.extract::<PathBuf>() {
            return Ok(Self::Path(path));
        }
        if photo.hasattr("convert")? && photo.hasattr("getexif")? {
            return pil_image(photo);
        }
        if let Ok(array) = photo.extract::<PyReadonlyArrayDyn<'_, u8>>() {
            return rgb_array(&array);
        }
        let kind = photo.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "a photo is a path, bytes, a PIL image or an array of uint8 [height, width, 3], not {kind}"
        )))
    }

    /// What it is called in answers, where it has a name.
    pub(crate) fn name(&self) -> Option<String> {
        match self {
            Self::Path(path) => Some(path.display().to_string()),
            Self::Bytes(_) | Self::Rgb { .. } => None,
        }
    }

    pub(crate) fn decode(&self, limits: &PhotoLimits) -> Result<Photo, LocateError> {
        Ok(match self {
            Self::Path(path) => Photo::open(path, limits)?,
            Self::Bytes(bytes) => {
                let (count, max_bytes) = (bytes.len() as u64, limits.max_bytes);
                if count > max_bytes {
                    let file = "the photo".to_owned();
                    return Err(VisionError::TooManyBytes { file, bytes: count, max_bytes }.into());
                }
                Photo::decode(bytes, "the photo", limits)?
            }
            Self::Rgb { width, height, rgb } => Photo::from_rgb(*width, *height, rgb.clone())?,
        })
    }
}

/// A PIL image as it is meant to be looked at: turned as its EXIF data say.
fn pil_image(image: &Bound<'_, PyAny>) -> PyResult<Input> {
    let upright = image.py().import("PIL.ImageOps")?.call_method1("exif_transpose", (image,))?;
    let rgb = upright.call_method1("convert", ("RGB",))?;
    let (width, height): (u32, u32) = rgb.getattr("size")?.extract()?;
    Ok(Input::Rgb { width, height, rgb: rgb.call_method0("tobytes")?.extract()? })
}

fn rgb_array(array: &PyReadonlyArrayDyn<'_, u8>) -> PyResult<Input> {
    let view = array.as_array();
    let grey = |&value: &u8| [value; 3];
    let (size, rgb): ((usize, usize), Vec<u8>) = match array.shape() {
        [height, width, 3] => ((*width, *height), view.iter().copied().collect()),
        [height, width] => ((*width, *height), view.iter().flat_map(grey).collect()),
        shape => {
            return Err(PyTypeError::new_err(format!(
                "an array of shape {shape:?} is no photo: give uint8 [height, width, 3] or [height, width]"
            )));
        }
    };
    Ok(Input::Rgb { width: size.0 as u32, height: size.1 as u32, rgb })
}
