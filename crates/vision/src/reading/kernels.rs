//! Loops of the reading networks that `nn` has no kernel for, over maps with channels last in whole blocks of 16.
//! Every value is one chain of sums in a fixed order.

use locdiff_nn::{inference::Aligned, inference::padded, math};
use pulp::{Simd, WithSimd};
use serde::Deserialize;

/// Channels of a block.
const BLOCK: usize = padded(1);

/// An element-wise function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub(super) enum Activation {
    #[default]
    None,
    Relu,
    /// With erf.
    Gelu,
    Sigmoid,
    /// `x·σ(x)`.
    Swish,
    /// `x/6 + 1/2` between 0 and 1.
    #[serde(rename = "hard_sigmoid_6")]
    HardSigmoid6,
    /// `x/5 + 1/2` between 0 and 1.
    #[serde(rename = "hard_sigmoid_5")]
    HardSigmoid5,
}

impl Activation {
    pub(super) fn apply(self, values: &mut [f32]) {
        if self != Self::None {
            pulp::Arch::new().dispatch(Activate(self, values));
        }
    }
}

struct Activate<'a>(Activation, &'a mut [f32]);

impl WithSimd for Activate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self(activation, values) = self;
        match activation {
            Activation::None => {}
            Activation::Relu => each(values, |x| x.max(0.0)),
            Activation::Gelu => each(values, |x| x * (0.5 + 0.5 * erf(x * std::f32::consts::FRAC_1_SQRT_2))),
            Activation::Sigmoid => each(values, |x| 1.0 / (1.0 + math::exp(-x))),
            Activation::Swish => each(values, |x| x / (1.0 + math::exp(-x))),
            Activation::HardSigmoid6 => each(values, |x| (x * (1.0 / 6.0) + 0.5).clamp(0.0, 1.0)),
            Activation::HardSigmoid5 => each(values, |x| (x * 0.2 + 0.5).clamp(0.0, 1.0)),
        }
    }
}

#[inline(always)]
fn each(values: &mut [f32], function: impl Fn(f32) -> f32) {
    values.iter_mut().for_each(|value| *value = function(*value));
}

/// erf x as [`math::erf`] has it, but with no fused sums: these are slow on processors without them, and in browsers.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = x.clamp(-4.0, 4.0);
    let s = x * x;
    let p = (-2.726_142_3e-10 * s + 2.770_681_5e-8) * s - 2.101_024e-6;
    let p = ((p * s - 5.692_506_4e-5) * s - 7.349_906_4e-4) * s - 2.954_6e-3;
    let q = (-1.456_607_2e-5 * s - 2.133_740_6e-4) * s - 1.682_827e-3;
    x * (p * s - 1.609_603_3e-2) / ((q * s - 7.373_329e-3) * s - 1.426_473_9e-2)
}

/// Kernel, stride and zeros around the input of a convolution: down and across, zeros above, left, below and right.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(super) struct Window {
    pub(super) kernel: [usize; 2],
    pub(super) stride: [usize; 2],
    pub(super) pads: [usize; 4],
}

impl Default for Window {
    fn default() -> Self {
        Self { kernel: [1, 1], stride: [1, 1], pads: [0; 4] }
    }
}

impl Window {
    pub(super) fn is_one_pixel(&self) -> bool {
        *self == Self::default()
    }

    /// Height and width of the output.
    pub(super) fn output(&self, size: [usize; 2]) -> [usize; 2] {
        let side = |k: usize| (size[k] + self.pads[k] + self.pads[k + 2] - self.kernel[k]) / self.stride[k] + 1;
        [side(0), side(1)]
    }
}

/// A depthwise convolution: each channel has a kernel of its own.
#[derive(Debug)]
pub(super) struct ChannelFilter {
    pub(super) window: Window,
    /// For each block of channels, the taps of the kernel row by row, each a block.
    taps: Aligned,
    bias: Aligned,
}

impl ChannelFilter {
    /// `weights[t * channels + c]` is tap `t` of channel `c`.
    pub(super) fn new(window: Window, weights: &[f32], bias: &[f32]) -> Self {
        let (channels, area) = (bias.len(), window.kernel[0] * window.kernel[1]);
        let [mut taps, mut padded_bias] = [area * padded(channels), padded(channels)].map(Aligned::zeros);
        padded_bias[..channels].copy_from_slice(bias);
        for (tap, weights) in weights.chunks_exact(channels).enumerate() {
            for (c, weight) in weights.iter().enumerate() {
                taps[(c / BLOCK * area + tap) * BLOCK + c % BLOCK] = *weight;
            }
        }
        Self { window, taps, bias: padded_bias }
    }

    /// From a map of `size` to the map of the window's size.
    pub(super) fn run(&self, input: &[f32], size: [usize; 2], output: &mut [f32]) {
        pulp::Arch::new().dispatch(Filter { layer: self, input, size, output });
    }
}

struct Filter<'a> {
    layer: &'a ChannelFilter,
    input: &'a [f32],
    size: [usize; 2],
    output: &'a mut [f32],
}

/// Neighbouring outputs of a row that are summed side by side.
const ABREAST: usize = 8;

impl WithSimd for Filter<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Window { kernel, stride, pads } = self.layer.window;
        let [height, width] = self.size;
        let pixel = self.layer.bias.len();
        let [_, out_width] = self.layer.window.output(self.size);
        for (y, output) in self.output.chunks_exact_mut(out_width * pixel).enumerate() {
            // Rows outside are empty: nothing is added.
            let row = |ky: usize| {
                let inside = (y * stride[0] + ky).checked_sub(pads[0]).filter(|&row| row < height);
                inside.map_or(&[][..], |row| &self.input[row * width * pixel..][..width * pixel])
            };
            let rows: [&[f32]; MOST_ROWS] = std::array::from_fn(|ky| if ky < kernel[0] { row(ky) } else { &[] });
            let mut x = 0;
            while x < out_width {
                let left = x * stride[1];
                let last = left + (ABREAST - 1) * stride[1] + kernel[1];
                let is_inside = left >= pads[1] && last <= width + pads[1] && x + ABREAST <= out_width;
                let output = &mut output[x * pixel..];
                if is_inside {
                    self.layer.pixels::<S, ABREAST>(simd, &rows, left - pads[1], 0..kernel[1], output);
                    x += ABREAST;
                } else {
                    let taps = pads[1].saturating_sub(left)..kernel[1].min(width + pads[1] - left);
                    let first = left + taps.start - pads[1];
                    self.layer.pixels::<S, 1>(simd, &rows, first, taps, output);
                    x += 1;
                }
            }
        }
    }
}

/// The most rows of a kernel.
pub(super) const MOST_ROWS: usize = 9;

impl ChannelFilter {
    /// All channels of `P` neighbouring outputs; the first tap of those given meets column `first`.
    #[inline(always)]
    fn pixels<S: Simd, const P: usize>(
        &self,
        simd: S,
        rows: &[&[f32]; MOST_ROWS],
        first: usize,
        columns: std::ops::Range<usize>,
        output: &mut [f32],
    ) {
        let Window { kernel, stride, .. } = self.window;
        let (vectors, pixel) = (BLOCK / S::F32_LANES, self.bias.len() / S::F32_LANES);
        let (bias, taps) = (S::as_simd_f32s(&self.bias).0, S::as_simd_f32s(&self.taps).0);
        let output = &mut S::as_mut_simd_f32s(output).0[..P * pixel];
        let step = stride[1] * pixel;
        for vector in 0..pixel {
            let taps = &taps[vector / vectors * vectors * kernel[0] * kernel[1] + vector % vectors..];
            let mut sums = [bias[vector]; P];
            for ky in 0..kernel[0] {
                let row = S::as_simd_f32s(rows[ky]).0;
                if row.is_empty() {
                    continue;
                }
                for kx in columns.clone() {
                    let tap = taps[(ky * kernel[1] + kx) * vectors];
                    let values = &row[(first + kx - columns.start) * pixel + vector..][..=((P - 1) * step)];
                    for p in 0..P {
                        sums[p] = simd.mul_add_e_f32s(values[p * step], tap, sums[p]);
                    }
                }
            }
            for p in 0..P {
                output[p * pixel + vector] = sums[p];
            }
        }
    }
}

/// Attention of rows of queries, keys and values, `stride` values apart, into rows of `width` values, `padded(width)` apart.
pub(super) fn attend(input: &[f32], stride: usize, heads: usize, scale: f32, output: &mut [f32], width: usize) {
    let (count, size) = (input.len() / stride, width / heads);
    let row = |k: usize| &input[k * stride..][..3 * width];
    let mut keys = vec![0.0; size * count];
    let mut weights = vec![0.0; count];
    for head in 0..heads {
        for k in 0..count {
            (0..size).for_each(|d| keys[d * count + k] = row(k)[width + head * size + d]);
        }
        for q in 0..count {
            weights.fill(0.0);
            for (keys, query) in keys.chunks_exact(count).zip(&row(q)[head * size..][..size]) {
                let query = query * scale;
                weights.iter_mut().zip(keys).for_each(|(sum, key)| *sum += query * key);
            }
            locdiff_nn::inference::soften_row(&mut weights);
            let out = &mut output[q * padded(width) + head * size..][..size];
            out.fill(0.0);
            for (k, weight) in weights.iter().enumerate() {
                let values = &row(k)[2 * width + head * size..][..size];
                out.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
            }
        }
    }
}

/// The likeliest output of a row of logits, the first of equal ones, and its probability.
pub(super) fn likeliest(logits: &[f32]) -> (usize, f32) {
    pulp::Arch::new().dispatch(Likeliest(logits))
}

struct Likeliest<'a>(&'a [f32]);

impl WithSimd for Likeliest<'_> {
    type Output = (usize, f32);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let (blocks, rest) = self.0.as_chunks::<BLOCK>();
        let mut most = [f32::NEG_INFINITY; BLOCK];
        for block in blocks {
            (0..BLOCK).for_each(|k| most[k] = if block[k] > most[k] { block[k] } else { most[k] });
        }
        let top = most.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max);
        let mut sums = [0.0; BLOCK];
        for block in blocks {
            (0..BLOCK).for_each(|k| sums[k] += math::exp(block[k] - top));
        }
        let total = sums.iter().sum::<f32>() + rest.iter().map(|logit| math::exp(logit - top)).sum::<f32>();
        (self.0.iter().position(|&logit| logit == top).unwrap_or(0), 1.0 / total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(i: usize) -> f32 {
        ((i * 37 % 101) as f32 - 50.0) / 60.0
    }

    #[test]
    fn filters_agree_with_plain_sums() {
        for (kernel, stride, pads, channels, size) in [
            ([3, 3], [1, 1], [1, 1, 1, 1], 5, [4, 21]),
            ([3, 3], [2, 1], [1, 1, 1, 1], 33, [6, 12]),
            ([5, 5], [2, 2], [2, 2, 2, 2], 16, [7, 40]),
            ([1, 7], [1, 1], [0, 3, 0, 3], 20, [1, 3]),
        ] {
            let window = Window { kernel, stride, pads };
            let ([height, width], [out_height, out_width]) = (size, window.output(size));
            let (area, pixel) = (kernel[0] * kernel[1], padded(channels));
            let weights: Vec<f32> = (0..area * channels).map(wave).collect();
            let bias: Vec<f32> = (0..channels).map(|i| wave(i + 7)).collect();
            let input: Vec<f32> = (0..height * width * pixel).map(|i| wave(i * 3)).collect();
            let mut output = vec![9.0; out_height * out_width * pixel];
            ChannelFilter::new(window, &weights, &bias).run(&input, size, &mut output);
            for at in 0..out_height * out_width * channels {
                let (y, x, c) = (at / channels / out_width, at / channels % out_width, at % channels);
                let tap = |t: usize| {
                    let row = (y * stride[0] + t / kernel[1]).checked_sub(pads[0]).filter(|&row| row < height);
                    let column = (x * stride[1] + t % kernel[1]).checked_sub(pads[1]).filter(|&column| column < width);
                    let value = row.zip(column).map_or(0.0, |(row, column)| input[(row * width + column) * pixel + c]);
                    value * weights[t * channels + c]
                };
                let expected = bias[c] + (0..area).map(tap).sum::<f32>();
                let got = output[(y * out_width + x) * pixel + c];
                assert!((got - expected).abs() < 1e-5, "{kernel:?} {stride:?} {y} {x} {c}: {got} {expected}");
            }
        }
    }

    #[test]
    fn activations_agree_with_f64() {
        for i in -80..=80 {
            let x = f64::from(i) / 10.0;
            let sigmoid = 1.0 / (1.0 + (-x).exp());
            let hard = |slope: f64| (x * slope + 0.5).clamp(0.0, 1.0);
            for (activation, expected) in [
                (Activation::None, x),
                (Activation::Relu, x.max(0.0)),
                (Activation::Sigmoid, sigmoid),
                (Activation::Swish, x * sigmoid),
                (Activation::HardSigmoid6, hard(1.0 / 6.0)),
                (Activation::HardSigmoid5, hard(0.2)),
            ] {
                let mut value = [x as f32];
                activation.apply(&mut value);
                assert!((f64::from(value[0]) - expected).abs() < 3e-6, "{activation:?} {x}: {} {expected}", value[0]);
            }
        }
    }

    #[test]
    fn gelu_has_its_published_values() {
        let mut values = [-6.0, -1.0, 0.0, 0.5, 2.0, 6.0];
        Activation::Gelu.apply(&mut values);
        for (got, expected) in values.iter().zip([0.0, -0.158_655_25, 0.0, 0.345_731_23, 1.954_499_7, 6.0]) {
            assert!((got - expected).abs() < 1e-6, "{got} {expected}");
        }
    }

    #[test]
    fn the_likeliest_is_found() {
        let mut logits: Vec<f32> = (0..53).map(wave).collect();
        for place in [40, 52] {
            logits[place] += 6.0;
            let total: f32 = logits.iter().map(|logit| logit.exp()).sum();
            let (best, probability) = likeliest(&logits);
            let top = logits.iter().copied().fold(f32::MIN, f32::max);
            assert!(logits[best] == top && (probability - top.exp() / total).abs() < 1e-6, "{place}: {best}");
        }
    }
}
