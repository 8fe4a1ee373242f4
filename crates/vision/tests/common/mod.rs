//! The fixtures and what several tests do with them.
#![allow(dead_code, reason = "each test file uses some of it")]

use locdiff_nn::Device;
#[allow(unused_imports, reason = "likewise")]
pub(crate) use locdiff_testing::{copied, fixture as fixtures, relative_error, replace, skipped, skipped_cuda};
use safetensors::SafeTensors;
use std::{fs, path::PathBuf};

/// A file of `fixtures/vision`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    fixtures("vision").join(name)
}

/// The first CUDA device, if there is one.
pub(crate) fn cuda() -> Option<Device> {
    Device::cuda(0).inspect_err(locdiff_testing::skipped_cuda).ok()
}

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    fs::read(fixture(name)).unwrap()
}

pub(crate) fn floats(file: &SafeTensors<'_>, name: &str) -> Vec<f32> {
    locdiff_testing::floats(file.tensor(name).unwrap().data())
}
