//! Depthwise convolutions: each channel with a kernel of its own, vectors of channels, bias and ReLU6 at once.

use crate::pointwise::{BLOCK, padded};
use pulp::{Simd, WithSimd};

/// A depthwise convolution with ReLU6, kernel 3×3 or 5×5.
#[derive(Clone)]
pub(crate) struct Depthwise {
    channels: usize,
    kernel: usize,
    stride: usize,
    /// For each block of channels, the taps of the kernel row by row, each a block.
    taps: Vec<f32>,
    bias: Vec<f32>,
}

impl Depthwise {
    /// `weights[c * kernel² + t]` is tap `t` of channel `c`.
    pub(crate) fn new(channels: usize, kernel: usize, stride: usize, weights: &[f32], bias: &[f32]) -> Self {
        let area = kernel * kernel;
        assert!(matches!(kernel, 3 | 5) && weights.len() == channels * area && bias.len() == channels);
        let width = padded(channels);
        let mut taps = Vec::with_capacity(width * area);
        for first in (0..width).step_by(BLOCK) {
            for tap in 0..area {
                for c in first..first + BLOCK {
                    taps.push(if c < channels { weights[c * area + tap] } else { 0.0 });
                }
            }
        }
        let mut bias = bias.to_vec();
        bias.resize(width, 0.0);
        Self { channels, kernel, stride, taps, bias }
    }

    pub(crate) fn channels(&self) -> usize {
        self.channels
    }

    pub(crate) fn kernel(&self) -> usize {
        self.kernel
    }

    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// `input` has a border wide enough for every tap and `row` pixels a row; `output` is `height × width` without one.
    pub(crate) fn run(&self, input: &[f32], row: usize, output: &mut [f32], height: usize, width: usize) {
        pulp::Arch::new().dispatch(Run { layer: self, input, row, output, height, width });
    }
}

struct Run<'a> {
    layer: &'a Depthwise,
    input: &'a [f32],
    row: usize,
    output: &'a mut [f32],
    height: usize,
    width: usize,
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.layer.kernel {
            3 => run::<S, 3, 9>(simd, self),
            _ => run::<S, 5, 25>(simd, self),
        }
    }
}

/// Row by row, so that the input rows stay in the cache; within a row channel by channel, so that the taps stay in
/// registers.
#[inline(always)]
fn run<S: Simd, const K: usize, const AREA: usize>(simd: S, job: Run<'_>) {
    let Run { layer, input, row, output, height, width } = job;
    let channels = layer.bias.len();
    let vectors = BLOCK / S::F32_LANES;
    let pixel = channels / S::F32_LANES;
    let input = S::as_simd_f32s(input).0;
    let output = S::as_mut_simd_f32s(output).0;
    let bias = S::as_simd_f32s(&layer.bias).0;
    let taps = S::as_simd_f32s(&layer.taps).0;
    let (zero, six) = (simd.splat_f32s(0.0), simd.splat_f32s(6.0));
    for y in 0..height {
        let out = &mut output[y * width * pixel..][..width * pixel];
        for vector in 0..pixel {
            let mut weights = [zero; AREA];
            let block = &taps[vector / vectors * vectors * AREA..][..vectors * AREA];
            for t in 0..AREA {
                weights[t] = block[t * vectors + vector % vectors];
            }
            // One slice for each row of the kernel; all of one length, for one check a tap at most.
            let length = ((width - 1) * layer.stride + K - 1) * pixel + 1;
            let mut rows: [&[S::f32s]; K] = [&[]; K];
            for ky in 0..K {
                rows[ky] = &input[(y * layer.stride + ky) * row * pixel + vector..][..length];
            }
            for x in 0..width {
                // Two sums: a chain of 25 dependent additions would wait for itself.
                let mut sums = [bias[vector], zero];
                let start = x * layer.stride * pixel;
                for ky in 0..K {
                    for kx in 0..K {
                        let value = rows[ky][start + kx * pixel];
                        let t = ky * K + kx;
                        sums[t % 2] = simd.mul_add_e_f32s(value, weights[t], sums[t % 2]);
                    }
                }
                let sum = simd.add_f32s(sums[0], sums[1]);
                out[x * pixel + vector] = simd.min_f32s(simd.max_f32s(sum, zero), six);
            }
        }
    }
}
