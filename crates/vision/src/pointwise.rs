//! 1×1 convolutions as matrix products: pixels × input channels times input × output channels, with bias, ReLU6 and
//! residual done before a tile leaves the registers.
//!
//! `locdiff-nn` has a general product, but for tensors of its own; here the operands are windows of scratch buffers
//! with spare channels and borders, and a separate pass for bias and ReLU6 would cost as much as the thin products.

use pulp::{Simd, WithSimd};

/// Channels are laid out in whole blocks of this many values (one AVX-512 register); the spare ones hold 0.
pub(crate) const BLOCK: usize = 16;
/// Blocks of output channels that a tile covers.
pub(crate) const PANEL: usize = 3;

/// Channels rounded up to whole blocks: the distance between neighbouring pixels in a buffer.
pub(crate) const fn padded(channels: usize) -> usize {
    channels.next_multiple_of(BLOCK)
}

/// The weights of a product, in the order the kernel reads them.
#[derive(Clone)]
pub(crate) struct Pointwise {
    inputs: usize,
    outputs: usize,
    /// For each panel of up to `PANEL` blocks of outputs, for each input, the weights to these outputs.
    panels: Vec<f32>,
    /// Padded with zeros to whole blocks.
    bias: Vec<f32>,
    relu6: bool,
}

impl Pointwise {
    /// `weights[o * inputs + i]` leads from input `i` to output `o`.
    pub(crate) fn new(inputs: usize, outputs: usize, weights: &[f32], bias: &[f32], relu6: bool) -> Self {
        assert_eq!((weights.len(), bias.len()), (inputs * outputs, outputs));
        let width = padded(outputs);
        let mut panels = Vec::with_capacity(inputs * width);
        for first in (0..width).step_by(PANEL * BLOCK) {
            for i in 0..inputs {
                for o in first..(first + PANEL * BLOCK).min(width) {
                    panels.push(if o < outputs { weights[o * inputs + i] } else { 0.0 });
                }
            }
        }
        let mut bias = bias.to_vec();
        bias.resize(width, 0.0);
        Self { inputs, outputs, panels, bias, relu6 }
    }

    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Applies the product to the pixels of `input`, `stride` values apart, and writes them to `output` where `grid`
    /// says, adding `residual` (pixels packed one after another, in the output's channels).
    pub(crate) fn run(
        &self,
        input: &[f32],
        stride: usize,
        output: &mut [f32],
        grid: Grid,
        residual: Option<&[f32]>,
    ) {
        pulp::Arch::new().dispatch(Run { layer: self, input, stride, output, grid, residual });
    }
}

/// Where the pixels of a picture lie in a buffer that may have a border.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    /// Pixels to write.
    pub(crate) pixels: usize,
    /// Pixels in a row of the picture.
    pub(crate) width: usize,
    /// Pixels in a row of the buffer.
    pub(crate) row: usize,
    /// Place of the first pixel in the buffer.
    pub(crate) first: usize,
}

impl Grid {
    /// Pixels one after another, no border.
    pub(crate) fn packed(pixels: usize) -> Self {
        Self { pixels, width: pixels, row: pixels, first: 0 }
    }
}

struct Run<'a> {
    layer: &'a Pointwise,
    input: &'a [f32],
    stride: usize,
    output: &'a mut [f32],
    grid: Grid,
    residual: Option<&'a [f32]>,
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let mut pixel = 0;
        // Pixels × registers of a tile: as many sums as there are registers for, with room for a row of weights.
        while pixel < self.grid.pixels {
            let left = self.grid.pixels - pixel;
            pixel += match (S::F32_LANES, left) {
                (16, 8..) => self.pixels::<S, 8, 1>(simd, pixel),
                (16, 7) => self.pixels::<S, 7, 1>(simd, pixel),
                (16, 4..) => self.pixels::<S, 4, 1>(simd, pixel),
                (8, 2..) => self.pixels::<S, 2, 2>(simd, pixel),
                (4, 2..) => self.pixels::<S, 2, 4>(simd, pixel),
                (16, _) => self.pixels::<S, 1, 1>(simd, pixel),
                (8, _) => self.pixels::<S, 1, 2>(simd, pixel),
                (4, _) => self.pixels::<S, 1, 4>(simd, pixel),
                (2, _) => self.pixels::<S, 1, 8>(simd, pixel),
                _ => self.pixels::<S, 1, 16>(simd, pixel),
            };
        }
    }
}

impl Run<'_> {
    /// All outputs of `P` pixels; `V` registers make a block. Returns `P`.
    #[inline(always)]
    fn pixels<S: Simd, const P: usize, const V: usize>(&mut self, simd: S, pixel: usize) -> usize {
        let inputs = self.layer.inputs;
        let mut rows: [&[f32]; P] = [&[]; P];
        let mut places = [0; P];
        for p in 0..P {
            rows[p] = &self.input[(pixel + p) * self.stride..][..inputs];
            let (y, x) = ((pixel + p) / self.grid.width, (pixel + p) % self.grid.width);
            places[p] = self.grid.first + y * self.grid.row + x;
        }
        let blocks = self.layer.bias.len() / BLOCK;
        let mut first = 0;
        while first + PANEL <= blocks {
            self.tile::<S, P, V, PANEL>(simd, rows, places, pixel, first);
            first += PANEL;
        }
        match blocks - first {
            0 => {}
            1 => self.tile::<S, P, V, 1>(simd, rows, places, pixel, first),
            _ => self.tile::<S, P, V, 2>(simd, rows, places, pixel, first),
        }
        P
    }

    /// `B` blocks of outputs, from block `first`, of `P` pixels.
    #[inline(always)]
    fn tile<S: Simd, const P: usize, const V: usize, const B: usize>(
        &mut self,
        simd: S,
        rows: [&[f32]; P],
        places: [usize; P],
        pixel: usize,
        first: usize,
    ) {
        let inputs = self.layer.inputs;
        let channels = self.layer.bias.len();
        let panel = &self.layer.panels[first * BLOCK * inputs..][..inputs * B * BLOCK];
        let panel = S::as_simd_f32s(panel).0.as_chunks::<V>().0.as_chunks::<B>().0;
        let bias = S::as_simd_f32s(&self.layer.bias[first * BLOCK..][..B * BLOCK]).0.as_chunks::<V>().0;
        let sums = sums::<S, P, V, B>(simd, rows, panel, bias);
        let (zero, six) = (simd.splat_f32s(0.0), simd.splat_f32s(6.0));
        for p in 0..P {
            let place = places[p] * channels + first * BLOCK;
            let out = S::as_mut_simd_f32s(&mut self.output[place..][..B * BLOCK]).0.as_chunks_mut::<V>().0;
            let mut values = sums[p];
            if let Some(residual) = self.residual {
                let residual = &residual[(pixel + p) * channels + first * BLOCK..][..B * BLOCK];
                let residual = S::as_simd_f32s(residual).0.as_chunks::<V>().0;
                for b in 0..B {
                    for v in 0..V {
                        values[b][v] = simd.add_f32s(values[b][v], residual[b][v]);
                    }
                }
            }
            for b in 0..B {
                for v in 0..V {
                    let clipped = simd.min_f32s(simd.max_f32s(values[b][v], zero), six);
                    out[b][v] = if self.layer.relu6 { clipped } else { values[b][v] };
                }
            }
        }
    }
}

/// Bias and products of one tile. The sums must stay in registers from the first input to the last: they are copied out
/// one by one at the end, as an array that is indexed later would be written to memory in every step.
#[inline(always)]
pub(crate) fn sums<S: Simd, const P: usize, const V: usize, const B: usize>(
    simd: S,
    rows: [&[f32]; P],
    panel: &[[[S::f32s; V]; B]],
    bias: &[[S::f32s; V]],
) -> [[[S::f32s; V]; B]; P] {
    let zero = simd.splat_f32s(0.0);
    let mut sums = [[[zero; V]; B]; P];
    for p in 0..P {
        for b in 0..B {
            for v in 0..V {
                sums[p][b][v] = bias[b][v];
            }
        }
        // Known to the compiler, this spares a check in every step of the loop below.
        assert!(rows[p].len() == panel.len());
    }
    for i in 0..panel.len() {
        let weights = panel[i];
        for p in 0..P {
            let value = simd.splat_f32s(rows[p][i]);
            for b in 0..B {
                for v in 0..V {
                    sums[p][b][v] = simd.mul_add_e_f32s(value, weights[b][v], sums[p][b][v]);
                }
            }
        }
    }
    let mut result = [[[zero; V]; B]; P];
    for p in 0..P {
        for b in 0..B {
            for v in 0..V {
                result[p][b][v] = sums[p][b][v];
            }
        }
    }
    result
}

/// What a kernel is compiled for; elsewhere the CPU's widest is taken.
#[cfg(test)]
#[derive(Clone, Copy)]
pub(crate) enum InstructionSet {
    Widest,
    Avx2,
    Scalar,
}

#[cfg(test)]
impl InstructionSet {
    pub(crate) const ALL: [Self; 3] = [Self::Widest, Self::Avx2, Self::Scalar];

    /// Runs a kernel; with the widest set where there is no AVX2.
    pub(crate) fn run<K: WithSimd>(self, kernel: K) -> K::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => match pulp::x86::V3::try_new() {
                Some(v3) => Simd::vectorize(v3, kernel),
                None => pulp::Arch::new().dispatch(kernel),
            },
            Self::Scalar => Simd::vectorize(pulp::Scalar::new(), kernel),
            _ => pulp::Arch::new().dispatch(kernel),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Grid, InstructionSet, Pointwise, Run, padded};

    fn noise(len: usize, mut seed: u32) -> Vec<f32> {
        let mut next = || {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 8) as f32 / 8388608.0 - 1.0
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn agrees_with_plain_sums() {
        for (inputs, outputs, pixels) in [(1, 1, 1), (3, 17, 9), (27, 32, 23), (40, 49, 30), (24, 130, 7)] {
            let (weights, bias) = (noise(inputs * outputs, 1), noise(outputs, 2));
            let layer = Pointwise::new(inputs, outputs, &weights, &bias, false);
            let (stride, channels) = (inputs + 5, padded(outputs));
            let input = noise(pixels * stride, 3);
            let residual = noise(pixels * channels, 4);
            for set in InstructionSet::ALL {
                let mut output = vec![9.0; pixels * channels];
                set.run(Run {
                    layer: &layer,
                    input: &input,
                    stride,
                    output: &mut output,
                    grid: Grid::packed(pixels),
                    residual: Some(&residual),
                });
                for p in 0..pixels {
                    for o in 0..outputs {
                        let row = weights[o * inputs..][..inputs].iter().zip(&input[p * stride..]);
                        let sum: f32 = row.map(|(w, x)| w * x).sum();
                        let expected = sum + bias[o] + residual[p * channels + o];
                        assert!(
                            (output[p * channels + o] - expected).abs() < 1e-5,
                            "{inputs} {outputs} {p} {o}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn writes_inside_the_border_only() {
        let layer = Pointwise::new(1, 1, &[10.0], &[0.0], true);
        let mut output = vec![-1.0; 4 * 5 * BLOCK];
        let grid = Grid { pixels: 6, width: 3, row: 5, first: 6 };
        layer.run(&[0.1, 0.2, 0.3, 0.4, -0.5, 0.6], 1, &mut output, grid, None);
        let first: Vec<f32> = output.iter().step_by(BLOCK).copied().collect();
        let n = -1.0;
        assert_eq!(first, [n, n, n, n, n, n, 1.0, 2.0, 3.0, n, n, 4.0, 0.0, 6.0, n, n, n, n, n, n]);
    }
}
