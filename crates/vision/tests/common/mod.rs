//! The fixtures and what several tests do with them.
#![allow(dead_code, reason = "each test file uses some of it")]

use locdiff_nn::Device;
#[allow(unused_imports, reason = "likewise")]
pub(crate) use locdiff_testing::{copied, fixture as fixtures, relative_error, replace, skipped, skipped_cuda};
use locdiff_vision::Photo;
use safetensors::SafeTensors;
use std::{fs, path::PathBuf};

/// A file of `fixtures/vision`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    fixtures("vision").join(name)
}

/// The pictures of scripts/clip_fixtures.py, "wide" and "small".
pub(crate) fn pictures() -> [Photo; 2] {
    [(90, 61), (23, 40)].map(|(width, height): (u32, u32)| {
        let byte = |i: u32| {
            let (x, y, c) = (i / 3 % width, i / 3 / width, i % 3);
            (x * 7 + y * 13 + c * 50 + x * y / 5) as u8
        };
        Photo::from_rgb(width, height, (0..3 * width * height).map(byte).collect()).unwrap()
    })
}

/// The greatest difference between numbers.
pub(crate) fn worst(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
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
