//! Depthwise convolutions: each channel with a kernel of its own, vectors of channels, bias and ReLU6 at once.

use crate::{aligned::Aligned, cpu::simd::BLOCK, cpu::simd::padded};
use pulp::{Simd, WithSimd};

/// A depthwise convolution with ReLU6, kernel 3×3 or 5×5, stride 1 or 2.
#[derive(Debug, Clone)]
pub struct Depthwise {
    /// Channels, without the spare ones.
    pub channels: usize,
    /// Side of the kernel.
    pub kernel: usize,
    /// Pixels from one output to the next.
    pub stride: usize,
    /// For each block of channels, the taps of the kernel row by row, each a block.
    taps: Aligned,
    bias: Aligned,
}

impl Depthwise {
    /// `weights[c * kernel² + t]` is tap `t` of channel `c`.
    /// Panics for another kernel than 3 or 5, another stride than 1 or 2, or numbers of weights that do not fit.
    pub fn new(channels: usize, kernel: usize, stride: usize, weights: &[f32], bias: &[f32]) -> Self {
        let area = kernel * kernel;
        assert!(matches!((kernel, stride), (3 | 5, 1 | 2)));
        assert!(weights.len() == channels * area && bias.len() == channels);
        let width = padded(channels);
        let mut taps = Aligned::zeros(width * area);
        for c in 0..channels {
            let first = c / BLOCK * BLOCK * area + c % BLOCK;
            for tap in 0..area {
                taps[first + tap * BLOCK] = weights[c * area + tap];
            }
        }
        let mut padded_bias = Aligned::zeros(width);
        padded_bias[..channels].copy_from_slice(bias);
        Self { channels, kernel, stride, taps, bias: padded_bias }
    }

    /// `input` has a border wide enough for every tap and `row` pixels per row; `output` is `height × width` without one.
    /// Panics if the buffers are too short for that.
    pub fn run(&self, input: &[f32], row: usize, output: &mut [f32], height: usize, width: usize) {
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
        match (self.layer.kernel, self.layer.stride) {
            (3, 1) => run::<S, 3, 1>(simd, self),
            (3, _) => run::<S, 3, 2>(simd, self),
            (_, 1) => run::<S, 5, 1>(simd, self),
            _ => run::<S, 5, 2>(simd, self),
        }
    }
}

/// The most pixels of a row that are summed side by side, so that a tap and a value are loaded once for all of them.
const ABREAST: usize = 8;
/// The most columns that `ABREAST` pixels reach: stride 2, kernel 5.
const MOST_COLUMNS: usize = (ABREAST - 1) * 2 + 5;

#[inline(always)]
fn run<S: Simd, const K: usize, const STRIDE: usize>(simd: S, mut job: Run<'_>) {
    for y in 0..job.height {
        let mut x = 0;
        while x < job.width {
            let left = job.width - x;
            // 14 pixels are two sevens, not an eight and rests. Sixteen registers of four numbers hold four pixels.
            x += match left {
                4.. if S::F32_LANES == 4 => pixels::<S, K, STRIDE, 4>(simd, &mut job, y, x),
                7 | 14 => pixels::<S, K, STRIDE, 7>(simd, &mut job, y, x),
                8.. => pixels::<S, K, STRIDE, 8>(simd, &mut job, y, x),
                4.. => pixels::<S, K, STRIDE, 4>(simd, &mut job, y, x),
                _ => pixels::<S, K, STRIDE, 1>(simd, &mut job, y, x),
            };
        }
    }
}

/// All channels of `P` neighbouring pixels, from pixel `x` of row `y`. Returns `P`.
#[inline(always)]
fn pixels<S: Simd, const K: usize, const STRIDE: usize, const P: usize>(
    simd: S,
    job: &mut Run<'_>,
    y: usize,
    x: usize,
) -> usize {
    let layer = job.layer;
    let vectors = BLOCK / S::F32_LANES;
    let pixel = layer.bias.len() / S::F32_LANES;
    let columns = (P - 1) * STRIDE + K;
    let bias = S::as_simd_f32s(&layer.bias).0;
    let blocks = S::as_simd_f32s(&layer.taps).0;
    let input = S::as_simd_f32s(job.input).0;
    let output = &mut S::as_mut_simd_f32s(job.output).0[(y * job.width + x) * pixel..][..P * pixel];
    let mut rows: [&[S::f32s]; K] = [&[]; K];
    for ky in 0..K {
        let first = (y * STRIDE + ky) * job.row + x * STRIDE;
        rows[ky] = &input[first * pixel..][..columns * pixel];
    }
    let (zero, six) = (simd.splat_f32s(0.0), simd.splat_f32s(6.0));
    for vector in 0..pixel {
        let taps = &blocks[vector / vectors * vectors * K * K + vector % vectors..];
        let mut sums = [bias[vector]; P];
        for ky in 0..K {
            let mut values = [zero; MOST_COLUMNS];
            for column in 0..columns {
                values[column] = rows[ky][column * pixel + vector];
            }
            for kx in 0..K {
                let tap = taps[(ky * K + kx) * vectors];
                for p in 0..P {
                    sums[p] = simd.mul_add_e_f32s(values[p * STRIDE + kx], tap, sums[p]);
                }
            }
        }
        for p in 0..P {
            output[p * pixel + vector] = simd.min_f32s(simd.max_f32s(sums[p], zero), six);
        }
    }
    P
}

#[cfg(test)]
mod tests {
    use super::{super::finish::wave, Depthwise, Run};
    use crate::cpu::simd::{InstructionSet, padded};

    #[test]
    fn agrees_with_plain_sums() {
        let cases = [(3, 1, 5, 4, 16), (3, 2, 33, 3, 8), (5, 1, 16, 2, 7), (5, 2, 40, 3, 9)];
        for (kernel, stride, channels, height, width) in cases {
            let area = kernel * kernel;
            let weights: Vec<f32> = (0..channels * area).map(|i| wave(i + 3)).collect();
            let bias: Vec<f32> = (0..channels).map(|i| wave(i) + 1.0).collect();
            let layer = Depthwise::new(channels, kernel, stride, &weights, &bias);
            let [row, rows] = [width, height].map(|outputs| (outputs - 1) * stride + kernel);
            let pixel = padded(channels);
            let input: Vec<f32> = (0..rows * row * pixel).map(|i| wave(i * 7)).collect();
            let run = |set: InstructionSet| {
                let mut output = vec![9.0; height * width * pixel];
                set.run(Run { layer: &layer, input: &input, row, output: &mut output, height, width });
                output
            };
            let outputs = InstructionSet::ALL.map(run);
            for place in 0..height * width * channels {
                let (y, x, c) = (place / channels / width, place / channels % width, place % channels);
                let tap = |t: usize| {
                    let (down, across) = (y * stride + t / kernel, x * stride + t % kernel);
                    weights[c * area + t] * input[(down * row + across) * pixel + c]
                };
                let expected = (bias[c] + (0..area).map(tap).sum::<f32>()).clamp(0.0, 6.0);
                for output in &outputs {
                    let got = output[(y * width + x) * pixel + c];
                    assert!((got - expected).abs() < 1e-5, "{kernel} {stride} {y} {x} {c}: {got} {expected}");
                }
            }
        }
    }
}
