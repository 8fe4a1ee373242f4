//! Weights of a matrix product in the order its kernels read them, and the sums of one tile.

use crate::aligned::Aligned;
use half::{f16, slice::HalfFloatSliceExt};
use pulp::Simd;
#[cfg(test)]
use pulp::WithSimd;
use std::ops::Range;

/// Channels are laid out in whole blocks of this many values (one AVX-512 register); the spare ones hold 0.
pub(super) const BLOCK: usize = 16;
/// Blocks of outputs that a tile covers.
pub(super) const PANEL: usize = 3;

/// Channels rounded up to whole blocks of 16: the distance between neighbouring rows or pixels in a buffer, at least.
///
/// ```
/// assert_eq!(locdiff_nn::inference::padded(17), 32);
/// ```
pub const fn padded(channels: usize) -> usize {
    channels.next_multiple_of(BLOCK)
}

/// The right side of a product, and a bias for each of its columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Packed {
    pub(super) inputs: usize,
    /// For each panel of up to `PANEL` blocks of outputs, for each input, the weights to these outputs.
    panels: Aligned,
    /// The same as f16, where they are kept so; then the others are none.
    half: Vec<f16>,
    /// Padded with zeros to whole blocks.
    bias: Aligned,
}

impl Packed {
    /// `weights[o * inputs + i]` leads from input `i` to output `o`.
    pub(super) fn new(inputs: usize, weights: &[f32], bias: &[f32]) -> Self {
        assert_eq!(weights.len(), inputs * bias.len());
        let mut packed = Self::default();
        packed.pack_outputs(inputs, bias.len(), |o| &weights[o * inputs..][..inputs]);
        packed.bias[..bias.len()].copy_from_slice(bias);
        packed
    }

    /// Other weights, no bias, in memory that is kept: `row(o)` leads from all inputs to output `o`.
    pub(super) fn pack_outputs<'a>(&mut self, inputs: usize, outputs: usize, row: impl Fn(usize) -> &'a [f32]) {
        self.clear(inputs, outputs);
        let width = self.width();
        for o in 0..outputs {
            let first = o - o % (PANEL * BLOCK);
            let step = (PANEL * BLOCK).min(width - first);
            let places = self.panels[first * inputs + o - first..].iter_mut().step_by(step);
            for (place, weight) in places.zip(&row(o)[..inputs]) {
                *place = *weight;
            }
        }
    }

    /// As [`Packed::pack_outputs`], but `row(i)` leads from input `i` to all outputs.
    pub(super) fn pack_inputs<'a>(&mut self, inputs: usize, outputs: usize, row: impl Fn(usize) -> &'a [f32]) {
        self.clear(inputs, outputs);
        let width = self.width();
        for first in (0..outputs).step_by(PANEL * BLOCK) {
            let step = (PANEL * BLOCK).min(width - first);
            let filled = step.min(outputs - first);
            let places = self.panels[first * inputs..].chunks_exact_mut(step).take(inputs);
            for (i, place) in places.enumerate() {
                place[..filled].copy_from_slice(&row(i)[first..first + filled]);
            }
        }
    }

    /// The same in half the memory, where f16 holds every weight exactly: sums are the same bits.
    pub(super) fn narrowed(mut self) -> Self {
        let (mut half, mut wide) = (vec![f16::ZERO; self.panels.len()], vec![0.0; self.panels.len()]);
        half.convert_from_f32_slice(&self.panels);
        half.convert_to_f32_slice(&mut wide);
        if wide[..] == self.panels[..] {
            (self.half, self.panels) = (half, Aligned::default());
        }
        self
    }

    /// Whether they are kept as f16.
    #[cfg(any(test, all(target_arch = "x86_64", target_os = "linux")))]
    pub(super) fn is_narrow(&self) -> bool {
        !self.half.is_empty()
    }

    /// The weights of a panel, that of so many blocks of outputs from `first` on, from some inputs; widened in `scratch` where they are narrow.
    pub(super) fn panel<'a>(
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

    /// Where the weights of a panel from some inputs lie.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    pub(super) fn place(&self, first: usize, blocks: usize, inputs: Range<usize>) -> Range<*const i8> {
        let range = self.range(first, blocks, inputs);
        if self.half.is_empty() {
            let Range { start, end } = self.panels[range].as_ptr_range();
            start.cast()..end.cast()
        } else {
            let Range { start, end } = self.half[range].as_ptr_range();
            start.cast()..end.cast()
        }
    }

    /// Which of the weights those of a panel from some inputs are.
    fn range(&self, first: usize, blocks: usize, inputs: Range<usize>) -> Range<usize> {
        let place = |input: usize| (first * self.inputs + blocks * input) * BLOCK;
        place(inputs.start)..place(inputs.end)
    }

    /// One for each output, with the spare ones.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    pub(super) fn bias(&self) -> &[f32] {
        &self.bias
    }

    /// Zeros everywhere.
    fn clear(&mut self, inputs: usize, outputs: usize) {
        self.inputs = inputs;
        self.half.clear();
        reset(&mut self.panels, inputs * padded(outputs));
        reset(&mut self.bias, padded(outputs));
    }

    /// Outputs with the spare ones: values from one row of the output to the next, at least.
    pub(super) fn width(&self) -> usize {
        self.bias.len()
    }

    /// The sums of `B` blocks of outputs, from block `first`, for `P` rows of inputs; `V` registers make a block.
    #[inline(always)]
    pub(super) fn tile<S: Simd, const P: usize, const V: usize, const B: usize>(
        &self,
        simd: S,
        rows: [&[f32]; P],
        first: usize,
    ) -> [[[S::f32s; V]; B]; P] {
        self.tile_of(simd, rows, first, &self.panels[first * BLOCK * self.inputs..][..self.inputs * B * BLOCK])
    }

    /// The same with the weights of these blocks at hand.
    #[inline(always)]
    pub(super) fn tile_of<S: Simd, const P: usize, const V: usize, const B: usize>(
        &self,
        simd: S,
        rows: [&[f32]; P],
        first: usize,
        panel: &[f32],
    ) -> [[[S::f32s; V]; B]; P] {
        let panel = S::as_simd_f32s(panel).0.as_chunks::<V>().0.as_chunks::<B>().0;
        let bias = S::as_simd_f32s(&self.bias[first * BLOCK..][..B * BLOCK]).0.as_chunks::<V>().0;
        sums::<S, P, V, B>(simd, rows, panel, bias)
    }
}

/// A product panel by panel: a panel's weights stay in the caches while all rows pass by.
pub(super) trait Panels {
    /// Blocks of outputs.
    fn blocks(&self) -> usize;

    /// `B` blocks of outputs, from block `first`, of all rows.
    fn panel<S: Simd, const B: usize>(&mut self, simd: S, first: usize);

    /// All panels.
    #[inline(always)]
    fn panels<S: Simd>(&mut self, simd: S) {
        let (blocks, mut first) = (self.blocks(), 0);
        while first + PANEL <= blocks {
            self.panel::<S, PANEL>(simd, first);
            first += PANEL;
        }
        match blocks - first {
            0 => {}
            1 => self.panel::<S, 1>(simd, first),
            _ => self.panel::<S, 2>(simd, first),
        }
    }
}

/// So many zeros, in memory that is kept where it has the size.
fn reset(values: &mut Aligned, len: usize) {
    if values.len() == len {
        values.fill(0.0);
    } else {
        *values = Aligned::zeros(len);
    }
}

/// The body once for each `k` below a constant, without a loop: an index that is a number keeps an array in registers whatever the compiler makes of
/// loops around it.
macro_rules! unrolled {
    ($count:expr, $k:ident of $($number:literal)*, $body:expr) => {{$(
        if $number < $count {
            let $k = $number;
            $body
        }
    )*}};
}

/// Bias and products of one tile. The sums must stay in registers from the first input to the last: one index that is not a number, here or in the
/// copy at the end, and all of them are written to memory in every step.
#[inline(always)]
fn sums<S: Simd, const P: usize, const V: usize, const B: usize>(
    simd: S,
    rows: [&[f32]; P],
    panel: &[[[S::f32s; V]; B]],
    bias: &[[S::f32s; V]],
) -> [[[S::f32s; V]; B]; P] {
    const { assert!(P <= 9 && B <= PANEL) };
    let zero = simd.splat_f32s(0.0);
    let mut sums = [[[zero; V]; B]; P];
    for p in 0..P {
        for b in 0..B {
            sums[p][b].copy_from_slice(&bias[b]);
        }
        // Known to the compiler, this spares a check in every step of the loops below.
        assert!(rows[p].len() == panel.len());
    }
    if V > 2 {
        // Registers of four numbers or fewer: they hold the sums of one block only.
        for b in 0..B {
            let mut own = [[zero; V]; P];
            for p in 0..P {
                own[p] = sums[p][b];
            }
            for i in 0..panel.len() {
                let weights = panel[i][b];
                for p in 0..P {
                    let value = simd.splat_f32s(rows[p][i]);
                    for v in 0..V {
                        own[p][v] = simd.mul_add_e_f32s(value, weights[v], own[p][v]);
                    }
                }
            }
            for p in 0..P {
                sums[p][b] = own[p];
            }
        }
        return sums;
    }
    let mut own = [[[zero; V]; B]; P];
    unrolled!(P, p of 0 1 2 3 4 5 6 7 8, unrolled!(B, b of 0 1 2, unrolled!(V, v of 0 1, own[p][b][v] = sums[p][b][v])));
    for i in 0..panel.len() {
        let weights = &panel[i];
        unrolled!(P, p of 0 1 2 3 4 5 6 7 8, {
            let value = simd.splat_f32s(rows[p][i]);
            unrolled!(B, b of 0 1 2, unrolled!(V, v of 0 1, own[p][b][v] = simd.mul_add_e_f32s(value, weights[b][v], own[p][b][v])));
        });
    }
    unrolled!(P, p of 0 1 2 3 4 5 6 7 8, unrolled!(B, b of 0 1 2, unrolled!(V, v of 0 1, sums[p][b][v] = own[p][b][v])));
    sums
}

/// What a kernel is compiled for; elsewhere the CPU's widest is taken.
#[cfg(test)]
#[derive(Clone, Copy)]
pub(super) enum InstructionSet {
    Widest,
    Avx2,
    Scalar,
}

#[cfg(test)]
impl InstructionSet {
    pub(super) const ALL: [Self; 3] = [Self::Widest, Self::Avx2, Self::Scalar];

    /// Runs a kernel; with the widest set where there is no AVX2.
    pub(super) fn run<K: WithSimd>(self, kernel: K) -> K::Output {
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
    use super::{Packed, padded};

    #[test]
    fn both_ways_of_packing_agree() {
        let wave = |i: usize| ((i * 37 % 101) as f32 - 50.0) / 60.0;
        for (inputs, outputs) in [(1, 1), (5, 47), (7, 48), (64, 50), (50, 64), (3, 130)] {
            let weights: Vec<f32> = (0..inputs * outputs).map(wave).collect();
            let turned: Vec<f32> = (0..inputs * outputs).map(|k| weights[k % outputs * inputs + k / outputs]).collect();
            let (mut by_output, mut by_input) = (Packed::default(), Packed::new(9, &[3.0; 90], &[1.0; 10]));
            by_output.pack_outputs(inputs, outputs, |o| &weights[o * inputs..]);
            by_input.pack_inputs(inputs, outputs, |i| &turned[i * outputs..]);
            assert!(by_output.panels == by_input.panels && by_output.bias == by_input.bias);
            assert_eq!(by_output.bias[..], vec![0.0; padded(outputs)]);
        }
    }
}
