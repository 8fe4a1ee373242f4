//! A photo as Python gives it: a path, bytes, an array or a PIL image.

use locdiff::{Photo, Source};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::types::{PyByteArray, PyBytes};
use pyo3::{exceptions::PyTypeError, prelude::*, pybacked::PyBackedBytes};
use std::path::PathBuf;

/// A photo that is not decoded yet. Bytes, images and arrays have no name.
pub(crate) fn source(photo: &Bound<'_, PyAny>) -> PyResult<Source> {
    if photo.is_instance_of::<PyBytes>() {
        return Ok(Source::bytes(None, photo.extract::<PyBackedBytes>()?));
    }
    if photo.is_instance_of::<PyByteArray>() {
        return Ok(Source::bytes(None, photo.extract::<Vec<u8>>()?));
    }
    if let Ok(path) = photo.extract::<PathBuf>() {
        return Ok(Source::file(path));
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

/// All photos of an iterable.
pub(crate) fn sources(photos: &Bound<'_, PyAny>) -> PyResult<Vec<Source>> {
    photos.try_iter()?.map(|photo| source(&photo?)).collect()
}

/// A PIL image as it is meant to be looked at: turned as its EXIF data say.
fn pil_image(image: &Bound<'_, PyAny>) -> PyResult<Source> {
    let upright = image.py().import("PIL.ImageOps")?.call_method1("exif_transpose", (image,))?;
    let rgb = upright.call_method1("convert", ("RGB",))?;
    let (width, height): (u32, u32) = rgb.getattr("size")?.extract()?;
    Ok(pixels(width, height, rgb.call_method0("tobytes")?.extract()?))
}

fn rgb_array(array: &PyReadonlyArrayDyn<'_, u8>) -> PyResult<Source> {
    let view = array.as_array();
    let grey = |&value: &u8| [value; 3];
    let (size, rgb): ((usize, usize), Vec<u8>) = match array.shape() {
        [height, width, 3] => ((*width, *height), view.iter().copied().collect()),
        [height, width] => ((*width, *height), view.iter().flat_map(grey).collect()),
        shape => {
            return Err(PyTypeError::new_err(format!(
                "an array of shape {shape:?} is not a photo: give uint8 [height, width, 3] or [height, width]"
            )));
        }
    };
    Ok(pixels(size.0 as u32, size.1 as u32, rgb))
}

fn pixels(width: u32, height: u32, rgb: Vec<u8>) -> Source {
    Source::reader(None, move |_| Ok(Photo::from_rgb(width, height, rgb.clone())?))
}
