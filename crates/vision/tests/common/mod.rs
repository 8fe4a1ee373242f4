//! The fixtures and what several tests do with them.
#![allow(dead_code, reason = "each test file uses some of it")]

use locdiff_nn::Device;
use safetensors::SafeTensors;
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

/// A file or folder of `fixtures`.
pub(crate) fn fixtures(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures")).join(name)
}

/// A file of `fixtures/vision`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    fixtures("vision").join(name)
}

/// A copy of a folder of files.
pub(crate) fn copied(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    copy
}

/// Replaces text in a file that has it.
pub(crate) fn replace(folder: &Path, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    assert!(text.contains(from), "{file}: {from}");
    fs::write(folder.join(file), text.replace(from, to)).unwrap();
}

/// Says that a test, or a part of it, did not run; `scripts/check` ends with the list of these.
pub(crate) fn skipped(what: &str) {
    println!("skipped: {what}");
    if let Some(list) = std::env::var_os("LOCDIFF_SKIPPED") {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(list).expect("the list of skips");
        writeln!(file, "{what}").expect("the list of skips");
    }
}

/// The first CUDA device, if there is one.
pub(crate) fn cuda() -> Option<Device> {
    let no_device = |error: &_| skipped(&format!("cannot run here: locdiff-vision's tests on CUDA: {error}"));
    Device::cuda(0).inspect_err(no_device).ok()
}

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    fs::read(fixture(name)).unwrap()
}

pub(crate) fn floats(file: &SafeTensors<'_>, name: &str) -> Vec<f32> {
    let tensor = file.tensor(name).unwrap();
    tensor.data().as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect()
}

/// `‖got − expected‖ / ‖expected‖`.
pub(crate) fn relative_error(got: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(got.len(), expected.len());
    let square = |value: f32| f64::from(value).powi(2);
    let error: f64 = got.iter().zip(expected).map(|(g, e)| square(g - e)).sum();
    let norm: f64 = expected.iter().copied().map(square).sum();
    (error / norm).sqrt()
}
