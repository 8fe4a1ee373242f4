//! 1×1 convolutions as matrix products: pixels × input channels times input × output channels, with bias, ReLU6 and
//! residual done before a tile leaves the registers.

use crate::cpu::Mat;
use crate::cpu::simd::{BLOCK, Packed, Sums, TileEnd};
use pulp::{Simd, WithSimd};

/// A 1×1 convolution with its bias, and ReLU6 where wanted.
#[derive(Debug, Clone)]
pub struct Pointwise {
    weights: Packed,
    relu6: bool,
}

impl Pointwise {
    /// `weights[o * inputs + i]` leads from input `i` to output `o`; there are as many outputs as biases.
    /// Panics if the weights are not `inputs` times as many as the biases.
    pub fn new(inputs: usize, weights: &[f32], bias: &[f32], relu6: bool) -> Self {
        Self { weights: Packed::new(inputs, weights, bias), relu6 }
    }

    /// Channels that come in.
    pub fn inputs(&self) -> usize {
        self.weights.inputs
    }

    /// Channels that come out, without the spare ones.
    pub fn outputs(&self) -> usize {
        self.weights.outputs
    }

    /// Applies the product to the pixels of `input`, `stride` values apart, and writes them to `output` where `grid`
    /// says, adding `residual` (pixels packed one after another, in the output's channels).
    /// Panics if the buffers are too short for that.
    pub fn run(&self, input: &[f32], stride: usize, output: &mut [f32], grid: PixelGrid, residual: Option<&[f32]>) {
        pulp::Arch::new().dispatch(Run { layer: self, input, stride, output, grid, residual, walk: Walk::default() });
    }
}

/// Where the pixels of a picture lie in a buffer that may have a border.
#[derive(Debug, Clone, Copy)]
pub struct PixelGrid {
    /// Pixels to write.
    pub pixels: usize,
    /// Pixels in a row of the picture.
    pub width: usize,
    /// Pixels in a row of the buffer.
    pub row: usize,
    /// Place of the first pixel in the buffer.
    pub first: usize,
}

impl PixelGrid {
    /// Pixels one after another, no border.
    pub fn packed(pixels: usize) -> Self {
        Self { pixels, width: pixels, row: pixels, first: 0 }
    }
}

/// The way from pixel to pixel of a grid, without a division for each.
#[derive(Default)]
struct Walk {
    /// Column of the next pixel.
    x: usize,
    /// Place in the buffer where its row begins.
    line: usize,
}

impl Walk {
    /// The place of the next pixel.
    #[inline(always)]
    fn next(&mut self, grid: PixelGrid) -> usize {
        if self.x == grid.width {
            self.x = 0;
            self.line += grid.row;
        }
        self.x += 1;
        self.line + self.x - 1
    }
}

struct Run<'a> {
    layer: &'a Pointwise,
    input: &'a [f32],
    stride: usize,
    output: &'a mut [f32],
    grid: PixelGrid,
    residual: Option<&'a [f32]>,
    walk: Walk,
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let weights = &self.layer.weights;
        let x = Mat { data: self.input, rows: self.grid.pixels, cols: weights.inputs, stride: self.stride };
        weights.each_tile(simd, x, &mut self);
    }
}

impl TileEnd for Run<'_> {
    #[inline(always)]
    fn begin_panel(&mut self) {
        self.walk = Walk { x: 0, line: self.grid.first };
    }

    #[inline(always)]
    fn end<S: Simd, const P: usize, const V: usize, const B: usize>(
        &mut self,
        simd: S,
        pixel: usize,
        first: usize,
        sums: Sums<S, P, V, B>,
    ) {
        let channels = self.layer.weights.width();
        let (zero, six) = (simd.splat_f32s(0.0), simd.splat_f32s(6.0));
        for p in 0..P {
            let place = self.walk.next(self.grid) * channels + first * BLOCK;
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

#[cfg(test)]
mod tests {
    use super::{BLOCK, PixelGrid, Pointwise, Run, Walk};
    use crate::cpu::simd::{InstructionSet, padded};

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
            let layer = Pointwise::new(inputs, &weights, &bias, false);
            let (stride, channels) = (inputs + 5, padded(outputs));
            let (input, residual) = (noise(pixels * stride, 3), noise(pixels * channels, 4));
            for set in InstructionSet::ALL {
                let mut output = vec![9.0; pixels * channels];
                let (layer, input, output_to) = (&layer, &input[..], &mut output);
                let (grid, walk) = (PixelGrid::packed(pixels), Walk::default());
                set.run(Run { layer, input, stride, output: output_to, grid, residual: Some(&residual), walk });
                for (p, o) in (0..pixels * outputs).map(|at| (at / outputs, at % outputs)) {
                    let row = weights[o * inputs..][..inputs].iter().zip(&input[p * stride..]);
                    let sum: f32 = row.map(|(w, x)| w * x).sum();
                    let expected = sum + bias[o] + residual[p * channels + o];
                    assert!((output[p * channels + o] - expected).abs() < 1e-5, "{inputs} {outputs} {p} {o}");
                }
            }
        }
    }

    #[test]
    fn writes_inside_the_border_only() {
        let layer = Pointwise::new(1, &[10.0], &[0.0], true);
        let mut output = vec![-1.0; 4 * 5 * BLOCK];
        let grid = PixelGrid { pixels: 6, width: 3, row: 5, first: 6 };
        layer.run(&[0.1, 0.2, 0.3, 0.4, -0.5, 0.6], 1, &mut output, grid, None);
        let first: Vec<f32> = output.iter().step_by(BLOCK).copied().collect();
        let n = -1.0;
        assert_eq!(first, [n, n, n, n, n, n, 1.0, 2.0, 3.0, n, n, 4.0, 0.0, 6.0, n, n, n, n, n, n]);
    }
}
