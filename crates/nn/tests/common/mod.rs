//! Devices and fixtures for the integration tests. Fixtures are compiled in, so that a test binary can be carried to
//! another machine and run there.
#![allow(dead_code, unreachable_pub)] // reason: every test file is a crate that uses a part of it

use locdiff_nn::{Device, Precision, Tensor};
use locdiff_testing::skipped_cuda;
use safetensors::SafeTensors;

/// The CPU always, and [`cuda`].
pub fn devices() -> Vec<Device> {
    std::iter::once(Device::cpu()).chain(cuda()).collect()
}

/// The first CUDA device with f32 products, where there is one.
pub fn cuda() -> Option<Device> {
    let device = Device::cuda(0).inspect_err(skipped_cuda).ok()?;
    device.set_precision(Precision::F32);
    Some(device)
}

pub fn zeros(device: &Device, rows: usize, cols: usize) -> Tensor {
    Tensor::zeros(device, rows, cols).unwrap()
}

/// A matrix of [`noise`].
pub fn noisy(device: &Device, rows: usize, cols: usize, key: u32) -> Tensor {
    Tensor::from_slice(device, rows, cols, &noise(rows * cols, key)).unwrap()
}

/// A fixture file: tensors by name.
pub struct Fixture(SafeTensors<'static>);

impl Fixture {
    pub fn new(bytes: &'static [u8]) -> Self {
        Self(SafeTensors::deserialize(bytes).expect("a readable fixture"))
    }

    pub fn names(&self) -> Vec<String> {
        self.0.names().iter().map(ToString::to_string).collect()
    }

    pub fn values(&self, name: &str) -> Vec<f32> {
        let tensor = self.0.tensor(name).unwrap_or_else(|_| panic!("no `{name}` in the fixture"));
        tensor.data().as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    }

    pub fn shape(&self, name: &str) -> (usize, usize) {
        match *self.0.tensor(name).unwrap_or_else(|_| panic!("no `{name}` in the fixture")).shape() {
            [cols] => (1, cols),
            [rows, cols] => (rows, cols),
            _ => panic!("`{name}` is no matrix"),
        }
    }

    pub fn tensor(&self, device: &Device, name: &str) -> Tensor {
        let (rows, cols) = self.shape(name);
        Tensor::from_slice(device, rows, cols, &self.values(name)).unwrap()
    }

    /// Fails unless every tensor is within 1e-5 of the fixture's of that name.
    #[track_caller]
    pub fn check(&self, got: &[(&str, &Tensor)]) {
        for (name, tensor) in got {
            close(name, &tensor.to_vec().unwrap(), &self.values(name), 1e-5);
        }
    }
}

/// Fails unless `got` is within `tolerance` of `want`, relative to the largest value of `want`.
#[track_caller]
pub fn close(what: &str, got: &[f32], want: &[f32], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    let scale = want.iter().fold(1e-3_f64, |m, v| m.max(f64::from(v.abs())));
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let error = (f64::from(*g) - f64::from(*w)).abs() / scale;
        assert!(error <= tolerance, "{what}[{i}]: got {g}, want {w}: error {error:.2e} of the largest value");
    }
}

/// Fixed numbers between −1 and 1, the same everywhere.
pub fn noise(len: usize, key: u32) -> Vec<f32> {
    (0..len as u32)
        .map(|i| {
            let mut h = i.wrapping_mul(2_654_435_761).wrapping_add(key.wrapping_mul(0x9E37_79B9));
            for (shift, factor) in [(16, 0x85eb_ca6b_u32), (13, 0xc2b2_ae35), (16, 1)] {
                h = (h ^ (h >> shift)).wrapping_mul(factor);
            }
            (h >> 8) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}

/// Compares a gradient with the central difference of `f` along a fixed direction.
/// `f` returns a value of order 1 to 10 summed in f64: with steps of 1e-2 its f32 noise moves the difference by 1e-4.
#[track_caller]
pub fn check_gradient(what: &str, x: &[f32], gradient: &[f32], mut f: impl FnMut(&[f32]) -> f64) {
    for key in 0..3 {
        let direction = noise(x.len(), 900 + key);
        let step = 1e-2;
        let mut at = |sign: f32| {
            let moved: Vec<f32> = x.iter().zip(&direction).map(|(x, d)| x + sign * step * d).collect();
            f(&moved)
        };
        let difference = (at(1.0) - at(-1.0)) / f64::from(2.0 * step);
        let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| f64::from(*g) * f64::from(*d)).sum();
        let size: f64 = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        let error = (difference - slope).abs();
        let allowed = 4e-3 * size + 2e-4;
        assert!(error < allowed, "{what}: difference {difference}, gradient {slope}, error {error:.1e} of {size}");
    }
}

/// Σ values·weights in f64.
pub fn weighted(values: &[f32], weights: &[f32]) -> f64 {
    values.iter().zip(weights).map(|(v, w)| f64::from(*v) * f64::from(*w)).sum()
}
