//! A part of a product, made by one thread: the left side is laid out in groups of rows, the right side in panels of columns
//! unless it was packed before.

use super::kernel::{BLOCK, Group, PANEL, ROWS, WIDTH, each_register, sums, unrolled};
use super::side::{Columns, Side, Start, with_scratch};
use super::{layout::lay_columns, layout::lay_rows, packed::Packed};
use crate::aligned::Aligned;
use pulp::{Simd, WithSimd};
use std::ops::Range;

#[derive(Clone, Copy)]
pub(super) enum Weights<'a> {
    Plain(Side<'a>),
    Packed(&'a Packed),
}

impl Weights<'_> {
    /// Numbers of a sum taken at a time, so that a panel's part stays near the processor while all rows are multiplied with
    /// it. The order of a sum is the same for every length.
    fn block_length(&self, depth: usize) -> usize {
        match self {
            // Blocks of equal length, none longer than 576 by much.
            Self::Plain(_) => depth.div_ceil(depth.div_ceil(576).max(1)).max(1),
            // In one go, so that c is touched once; of longer sums so much that a panel's part fits the first cache.
            Self::Packed(_) if depth <= 1024 => depth.max(1),
            Self::Packed(_) => 128,
        }
    }
}

pub(super) struct Part<'a> {
    pub(super) out: &'a Columns<'a>,
    pub(super) x: Side<'a>,
    pub(super) weights: Weights<'a>,
    pub(super) rows: Range<usize>,
    /// They begin a panel of packed weights.
    pub(super) cols: Range<usize>,
    pub(super) start: Start<'a>,
}

impl Part<'_> {
    /// # Safety
    /// Nobody else touches these rows and columns of the output meanwhile.
    pub(super) unsafe fn run(self) {
        // SAFETY: the caller's promise.
        unsafe { self.run_by(|part| pulp::Arch::new().dispatch(part)) };
    }

    unsafe fn run_by(self, dispatch: impl FnOnce(Scratched<'_>)) {
        let (_, depth, ..) = self.x.layout();
        let length = self.weights.block_length(depth);
        with_scratch((self.rows.len().next_multiple_of(ROWS) + WIDTH) * length, |scratch| {
            let (tile, groups) = scratch.split_at_mut(WIDTH * length);
            dispatch(Scratched { part: &self, depth, length, tile, groups });
        });
    }
}

/// A part with room for its operands. Code that makes one promises what [`Part::run`] asks for.
struct Scratched<'a> {
    part: &'a Part<'a>,
    depth: usize,
    length: usize,
    tile: &'a mut [f32],
    groups: &'a mut [f32],
}

impl WithSimd for Scratched<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { part, depth, length, tile, groups } = self;
        let Part { x, weights, rows, cols, .. } = part;
        let mut unused = Aligned::default();
        for first in (0..depth.max(1)).step_by(length) {
            let block = first..(first + length).min(depth);
            lay_rows(*x, rows.clone(), block.clone(), groups, ROWS * length);
            let groups = Groups { part, values: groups, length, depth: block.len(), is_first: first == 0 };
            for col in cols.clone().step_by(WIDTH) {
                let columns = col..cols.end.min(col + WIDTH);
                let blocks = columns.len().div_ceil(BLOCK);
                let panel = match weights {
                    Weights::Packed(packed) => packed.panel(col / BLOCK, blocks, block.clone(), &mut unused),
                    Weights::Plain(side) => {
                        lay_columns(*side, columns.clone(), block.clone(), tile, blocks * BLOCK);
                        &tile[..block.len() * blocks * BLOCK]
                    }
                };
                match blocks {
                    1 => groups.add::<S, 1>(simd, panel, columns),
                    2 => groups.add::<S, 2>(simd, panel, columns),
                    _ => groups.add::<S, PANEL>(simd, panel, columns),
                }
            }
        }
    }
}

/// Some inputs of all rows of a part.
struct Groups<'a> {
    part: &'a Part<'a>,
    values: &'a [f32],
    /// Inputs that a group has room for, and those it holds.
    length: usize,
    depth: usize,
    is_first: bool,
}

impl Groups<'_> {
    #[inline(always)]
    fn add<S: Simd, const B: usize>(&self, simd: S, panel: &[f32], columns: Range<usize>) {
        let rows = &self.part.rows;
        for (group, row) in self.values.chunks_exact(ROWS * self.length).zip(rows.clone().step_by(ROWS)) {
            let group = group[..self.depth * ROWS].as_chunks::<ROWS>().0;
            match S::F32_LANES {
                16 => self.tile::<S, 0, ROWS, 1, B>(simd, group, row, panel, &columns),
                8 => self.halves::<S, 2, B>(simd, group, row, panel, &columns),
                4 => self.halves::<S, 4, B>(simd, group, row, panel, &columns),
                2 => self.halves::<S, 8, B>(simd, group, row, panel, &columns),
                _ => self.halves::<S, 16, B>(simd, group, row, panel, &columns),
            }
        }
    }

    #[inline(always)]
    fn halves<S: Simd, const V: usize, const B: usize>(
        &self,
        simd: S,
        group: &[[f32; ROWS]],
        row: usize,
        panel: &[f32],
        columns: &Range<usize>,
    ) {
        const HALF: usize = ROWS / 2;
        self.tile::<S, 0, HALF, V, B>(simd, group, row, panel, columns);
        if row + HALF < self.part.rows.end {
            self.tile::<S, HALF, HALF, V, B>(simd, group, row + HALF, panel, columns);
        }
    }

    /// `P` rows of a group from its row `FIRST` on, which is row `row` of the product.
    #[inline(always)]
    fn tile<S: Simd, const FIRST: usize, const P: usize, const V: usize, const B: usize>(
        &self,
        simd: S,
        group: &[[f32; ROWS]],
        row: usize,
        panel: &[f32],
        columns: &Range<usize>,
    ) {
        let Part { out, rows, start, .. } = self.part;
        let here = rows.end - row;
        // SAFETY: the rows and columns are this part's, and the part belongs to one thread.
        let line = |p: usize| unsafe { out.part(row + p, columns.clone()) };
        let mut begin = [[[simd.splat_f32s(0.0); V]; B]; P];
        match start {
            Start::Zero if self.is_first => {}
            Start::Row(values) if self.is_first => {
                let values = &values[columns.clone()];
                unrolled!(P, p of 0 1 2 3 4 5 6 7, each_register!(B, V; b v => {
                    begin[p][b][v] = load(simd, values, b * V + v);
                }));
            }
            _ => unrolled!(P, p of 0 1 2 3 4 5 6 7, if p < here {
                let values = line(p);
                each_register!(B, V; b v => begin[p][b][v] = load(simd, values, b * V + v));
            }),
        }
        let sums = sums::<S, _, P, V, B>(simd, Group::<FIRST>(group), panel, begin);
        unrolled!(P, p of 0 1 2 3 4 5 6 7, if p < here {
            let values = line(p);
            each_register!(B, V; b v => store(simd, values, b * V + v, sums[p][b][v]));
        });
    }
}

/// A register of values, zeros behind the last.
#[inline(always)]
fn load<S: Simd>(simd: S, values: &[f32], number: usize) -> S::f32s {
    let first = number * S::F32_LANES;
    match values.get(first..first + S::F32_LANES) {
        Some(whole) => S::as_simd_f32s(whole).0[0],
        None => simd.partial_load_f32s(values.get(first..).unwrap_or_default()),
    }
}

/// As much of a register of sums as there is room for.
#[inline(always)]
fn store<S: Simd>(simd: S, out: &mut [f32], number: usize, sums: S::f32s) {
    let first = number * S::F32_LANES;
    match out.get_mut(first..first + S::F32_LANES) {
        Some(whole) => S::as_mut_simd_f32s(whole).0[0] = sums,
        None => simd.partial_store_f32s(out.get_mut(first..).unwrap_or_default(), sums),
    }
}

#[cfg(test)]
pub(super) fn numbers(count: usize, salt: u32) -> Vec<f32> {
    let word = |i: u32| i.wrapping_mul(2_654_435_761).wrapping_add(salt) >> 8;
    (0..count as u32).map(|i| word(i) as f32 / 16_777_216.0 - 0.5).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::kernel::InstructionSet, *};
    use crate::cpu::Mat;

    /// Every instruction set takes the sums in the same order, so that an answer is the same on every processor.
    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        for (m, n, k) in [(8, 48, 97), (13, 101, 700), (3, 20, 1200), (1, 1, 1)] {
            let (x, w, start) = (numbers(m * k, 4), numbers(k * n, 3), numbers(m * n, 5));
            let side = |data, rows, cols| Side { mat: Mat { data, rows, cols, stride: cols }, transposed: false };
            let (x_side, w_side) = (side(&x[..], m, k), side(&w[..], k, n));
            let packed = Packed::of(w_side);
            for begin in [Start::Zero, Start::Kept, Start::Row(&start[..n])] {
                let first = |r: usize, c: usize| match begin {
                    Start::Zero => 0.0,
                    Start::Kept => start[r * n + c],
                    Start::Row(row) => row[c],
                };
                let sum = |r: usize, c: usize| {
                    (0..k).fold(first(r, c), |sum, i| w[i * n + c].mul_add(x[r * k + i], sum)).to_bits()
                };
                let expected: Vec<u32> = (0..m * n).map(|at| sum(at / n, at % n)).collect();
                for set in InstructionSet::ALL {
                    for weights in [Weights::Plain(w_side), Weights::Packed(&packed)] {
                        let mut c = start.clone();
                        let out = Columns::new(&mut c, m, n, n);
                        let part = Part { out: &out, x: x_side, weights, rows: 0..m, cols: 0..n, start: begin };
                        // SAFETY: no other thread has `c`.
                        unsafe { part.run_by(|part| set.run(part)) };
                        assert!(c.iter().map(|value| value.to_bits()).eq(expected.iter().copied()), "{m} {n} {k}");
                    }
                }
            }
        }
    }
}
