//! What the location network sees.

use locdiff_model::chance;
use locdiff_shdd::sphere::UnitVec;
use rayon::prelude::*;

/// Deviations of the random frequencies: kernels about 1000, 250 and 60 km wide. GeoCLIP has three scales as well, on a
/// map projection; here the frequencies act on x, y, z, so that there is no edge.
const SCALES: [f64; 3] = [1.0, 4.0, 16.0];
/// Frequencies a scale.
const FREQUENCIES: usize = 64;

/// Random Fourier features at several scales.
#[derive(Clone)]
pub(crate) struct FourierFeatures {
    frequencies: Vec<[f64; 3]>,
}

impl FourierFeatures {
    pub(crate) const SIZE: usize = 2 * SCALES.len() * FREQUENCIES;

    pub(crate) fn new(seed: u64) -> Self {
        let frequency = |k: usize| {
            let scale = std::f64::consts::TAU * SCALES[k / FREQUENCIES];
            let (x, y) = chance::normals([seed, 0xF0F0, 2 * k as u64]);
            let z = chance::normals([seed, 0xF0F0, 2 * k as u64 + 1]).0;
            [scale * x, scale * y, scale * z]
        };
        Self { frequencies: (0..SCALES.len() * FREQUENCIES).map(frequency).collect() }
    }

    pub(crate) fn of(&self, points: &[UnitVec]) -> Vec<f32> {
        let mut out = vec![0.0; points.len() * Self::SIZE];
        out.par_chunks_mut(Self::SIZE).zip(points).for_each(|(row, point)| {
            for (pair, f) in row.chunks_exact_mut(2).zip(&self.frequencies) {
                let (sin, cos) = (f[0] * point.x() + f[1] * point.y() + f[2] * point.z()).sin_cos();
                (pair[0], pair[1]) = (cos as f32, sin as f32);
            }
        });
        out
    }
}
