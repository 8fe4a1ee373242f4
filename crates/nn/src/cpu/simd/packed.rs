//! The right side of many products, laid out once in the order in which the micro-kernel reads it.

use super::kernel::{BLOCK, PANEL, Sums, WIDTH, sums};
use super::{layout::lay_columns, side::Side};
use crate::{aligned::Aligned, cpu::Mat};
use half::{f16, slice::HalfFloatSliceExt};
use pulp::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// Channels rounded up to whole blocks of 16: the distance between neighbouring rows or pixels in a buffer, at least.
///
/// ```
/// assert_eq!(locdiff_nn::inference::padded(17), 32);
/// ```
pub const fn padded(channels: usize) -> usize {
    channels.next_multiple_of(BLOCK)
}

/// The right side of a product, and a bias for each of its columns (the outputs).
#[derive(Debug, Clone, Default)]
pub(crate) struct Packed {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// For each panel of up to [`PANEL`] blocks of outputs, for each input, the weights to these outputs.
    panels: Aligned,
    /// The same as f16. Either these or the others are empty.
    half: Vec<f16>,
    /// Padded with zeros to whole blocks.
    pub(crate) bias: Aligned,
}

impl Packed {
    /// Lays a matrix out on all threads; `w` as the product reads it.
    pub(crate) fn of(w: Side<'_>) -> Self {
        let mut packed = Self::default();
        packed.lay(w, true);
        packed
    }

    /// `weights[o * inputs + i]` leads from input `i` to output `o`.
    pub(crate) fn new(inputs: usize, weights: &[f32], bias: &[f32]) -> Self {
        assert_eq!(weights.len(), inputs * bias.len());
        let mut packed = Self::default();
        packed.pack_outputs(inputs, bias.len(), weights, inputs);
        packed.bias[..bias.len()].copy_from_slice(bias);
        packed
    }

    /// Replaces the weights, with no bias, in memory that is kept: `weights[o * stride + i]` leads from input `i` to output `o`.
    pub(crate) fn pack_outputs(&mut self, inputs: usize, outputs: usize, weights: &[f32], stride: usize) {
        self.lay(Side { mat: Mat { data: weights, rows: outputs, cols: inputs, stride }, transposed: true }, false);
    }

    /// As [`Packed::pack_outputs`], but `weights[i * stride + o]` leads from input `i` to output `o`.
    pub(crate) fn pack_inputs(&mut self, inputs: usize, outputs: usize, weights: &[f32], stride: usize) {
        self.lay(Side { mat: Mat { data: weights, rows: inputs, cols: outputs, stride }, transposed: false }, false);
    }

    fn lay(&mut self, w: Side<'_>, shared: bool) {
        let (inputs, outputs, ..) = w.layout();
        (self.inputs, self.outputs) = (inputs, outputs);
        self.half.clear();
        let width = padded(outputs);
        if self.panels.len() != inputs * width {
            self.panels = Aligned::zeros(inputs * width);
        }
        if self.bias.len() == width {
            self.bias.fill(0.0);
        } else {
            self.bias = Aligned::zeros(width);
        }
        if inputs == 0 {
            return;
        }
        let panel = |(number, out): (usize, &mut [f32])| {
            let columns = number * WIDTH..outputs.min((number + 1) * WIDTH);
            let (filled, step) = (columns.len(), padded(columns.len()));
            lay_columns(w, columns, 0..inputs, out, step);
            out.chunks_exact_mut(step).for_each(|row| row[filled..].fill(0.0));
        };
        if shared {
            self.panels.par_chunks_mut(WIDTH * inputs).enumerate().for_each(panel);
        } else {
            self.panels.chunks_mut(WIDTH * inputs).enumerate().for_each(panel);
        }
    }

    /// The same in half the memory if f16 holds every weight exactly: sums are the same bits.
    pub(crate) fn narrowed(mut self) -> Self {
        let (mut half, mut wide) = (vec![f16::ZERO; self.panels.len()], vec![0.0; self.panels.len()]);
        half.convert_from_f32_slice(&self.panels);
        half.convert_to_f32_slice(&mut wide);
        if wide[..] == self.panels[..] {
            (self.half, self.panels) = (half, Aligned::default());
        }
        self
    }

    #[cfg(any(test, all(target_arch = "x86_64", target_os = "linux")))]
    pub(crate) fn is_narrow(&self) -> bool {
        !self.half.is_empty()
    }

    /// The weights of a panel, that of so many blocks of outputs from block `first` on, from some inputs. If they are kept as
    /// f16, `scratch` holds them.
    pub(crate) fn panel<'a>(
        &'a self,
        first: usize,
        blocks: usize,
        inputs: Range<usize>,
        scratch: &'a mut Aligned,
    ) -> &'a [f32] {
        let range = self.range(first, blocks, inputs);
        if self.half.is_empty() {
            return &self.panels[range];
        }
        let wide = scratch.window(range.len());
        self.half[range].convert_to_f32_slice(wide);
        wide
    }

    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    pub(crate) fn place(&self, first: usize, blocks: usize, inputs: Range<usize>) -> Range<*const i8> {
        let range = self.range(first, blocks, inputs);
        if self.half.is_empty() {
            let Range { start, end } = self.panels[range].as_ptr_range();
            start.cast()..end.cast()
        } else {
            let Range { start, end } = self.half[range].as_ptr_range();
            start.cast()..end.cast()
        }
    }

    fn range(&self, first: usize, blocks: usize, inputs: Range<usize>) -> Range<usize> {
        let place = |input: usize| (first * self.inputs + blocks * input) * BLOCK;
        place(inputs.start)..place(inputs.end)
    }

    /// Outputs with the spare ones: values from one row of the output to the next, at least.
    pub(crate) fn width(&self) -> usize {
        self.bias.len()
    }

    /// Bias and products of all rows of `x`, tile by tile. A panel's weights stay in the caches while all rows pass by.
    #[inline(always)]
    pub(crate) fn each_tile<S: Simd>(&self, simd: S, x: Mat<'_>, end: &mut impl TileEnd) {
        let blocks = self.width() / BLOCK;
        for first in (0..blocks).step_by(PANEL) {
            match blocks - first {
                1 => self.each_row::<S, 1>(simd, x, first, end),
                2 => self.each_row::<S, 2>(simd, x, first, end),
                _ => self.each_row::<S, PANEL>(simd, x, first, end),
            }
        }
    }

    /// `B` blocks of outputs, from block `first` on, of all rows.
    #[inline(always)]
    fn each_row<S: Simd, const B: usize>(&self, simd: S, x: Mat<'_>, first: usize, end: &mut impl TileEnd) {
        let mut scratch = Aligned::default();
        let panel = self.panel(first, B, 0..self.inputs, &mut scratch);
        let mut row = 0;
        end.begin_panel();
        // Rows × registers of a tile: as many sums as there are registers for, with room for a row of weights.
        while row < x.rows {
            row += match (S::F32_LANES, x.rows - row) {
                (16, 9) => self.tile::<S, 9, 1, B>(simd, x, row, first, panel, end), // the last is not left alone
                (16, 8..) => self.tile::<S, 8, 1, B>(simd, x, row, first, panel, end),
                (16, 7) => self.tile::<S, 7, 1, B>(simd, x, row, first, panel, end),
                (16, 4..) => self.tile::<S, 4, 1, B>(simd, x, row, first, panel, end),
                (8, 2..) => self.tile::<S, 2, 2, B>(simd, x, row, first, panel, end),
                (4, 2..) => self.tile::<S, 2, 4, B>(simd, x, row, first, panel, end),
                (16, _) => self.tile::<S, 1, 1, B>(simd, x, row, first, panel, end),
                (8, _) => self.tile::<S, 1, 2, B>(simd, x, row, first, panel, end),
                (4, _) => self.tile::<S, 1, 4, B>(simd, x, row, first, panel, end),
                (2, _) => self.tile::<S, 1, 8, B>(simd, x, row, first, panel, end),
                _ => self.tile::<S, 1, 16, B>(simd, x, row, first, panel, end),
            };
        }
    }

    /// `B` blocks of outputs of `P` rows; `V` registers make a block. Returns `P`.
    #[inline(always)]
    fn tile<S: Simd, const P: usize, const V: usize, const B: usize>(
        &self,
        simd: S,
        x: Mat<'_>,
        row: usize,
        first: usize,
        panel: &[f32],
        end: &mut impl TileEnd,
    ) -> usize {
        let mut rows: [&[f32]; P] = [&[]; P];
        for p in 0..P {
            rows[p] = x.row(row + p);
        }
        let bias = S::as_simd_f32s(&self.bias[first * BLOCK..][..B * BLOCK]).0.as_chunks::<V>().0;
        let mut start = [[[simd.splat_f32s(0.0); V]; B]; P];
        for p in 0..P {
            for b in 0..B {
                start[p][b].copy_from_slice(&bias[b]);
            }
        }
        end.end(simd, row, first, sums::<S, _, P, V, B>(simd, rows, panel, start));
        P
    }
}

/// What becomes of the sums of [`Packed::each_tile`].
pub(crate) trait TileEnd {
    /// The rows begin from the first.
    fn begin_panel(&mut self) {}

    /// `B` blocks of outputs, from block `first` on, of `P` rows from `row` on.
    fn end<S: Simd, const P: usize, const V: usize, const B: usize>(
        &mut self,
        simd: S,
        row: usize,
        first: usize,
        sums: Sums<S, P, V, B>,
    );
}

#[cfg(test)]
mod tests {
    use super::{Packed, padded};

    #[test]
    fn both_ways_of_packing_agree() {
        let wave = |i: usize| ((i * 37 % 101) as f32 - 50.0) / 60.0;
        for (inputs, outputs) in [(1, 1), (5, 47), (7, 48), (64, 50), (50, 64), (3, 130)] {
            let weights: Vec<f32> = (0..inputs * outputs).map(wave).collect();
            let turned: Vec<f32> = (0..inputs * outputs).map(|k| weights[k % outputs * inputs + k / outputs]).collect();
            let (mut by_output, mut by_input) = (Packed::default(), Packed::new(9, &[3.0; 90], &[1.0; 10]));
            by_output.pack_outputs(inputs, outputs, &weights, inputs);
            by_input.pack_inputs(inputs, outputs, &turned, outputs);
            assert!(by_output.panels == by_input.panels && by_output.bias == by_input.bias);
            assert_eq!(by_output.bias[..], vec![0.0; padded(outputs)]);
            let width = padded(outputs).min(48);
            for (at, value) in by_output.panels[..width * inputs].iter().enumerate() {
                let (input, output) = (at / width, at % width);
                let expected = if output < outputs { weights[output * inputs + input] } else { 0.0 };
                assert!(*value == expected, "{inputs} {outputs}: {input} {output}");
            }
        }
    }
}
