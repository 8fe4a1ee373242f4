//! Fixtures of `fixtures/vision`.
#![allow(dead_code, reason = "each test file uses some of it")]

use safetensors::SafeTensors;
use std::path::PathBuf;

pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision")).join(name)
}

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
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
