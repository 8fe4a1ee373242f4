//! Matrix products by the tile instructions (AMX) of processors that have them, as exact as f32.
//! The instructions multiply numbers of 8 bits (bf16) and add in f32, 16 times as many in a cycle as f32 products. A
//! number of f32 is the sum of three of 8 bits, high, middle and low, without any rest; a product is then the sum of nine,
//! of which the three smallest are below what f32 rounds and left out. Six products at a sixteenth of the time each are
//! faster than one. Weights that f16 holds have no low parts, and five products.
#![allow(unsafe_code)] // reason: columns that several threads write, calls of `#[target_feature]` functions; SAFETY notes

use super::finish::{Finish, Job};
use super::tile_registers::{NOTHING, Parts, ROWS, Sums, Tile, Tiles, are_here};
use crate::aligned::Aligned;
use crate::cpu::simd::{BLOCK, Columns, PANEL, Packed};
use rayon::prelude::*;
use std::{cell::Cell, cell::RefCell, ops::Range, sync::atomic::AtomicU64, sync::atomic::Ordering};

/// Inputs of a tile.
const STEP: usize = 32;
/// Inputs and rows that are worked out together: their parts, 6 bytes a number, stay in the second cache.
const INPUTS: usize = 512;
const ROWS_TOGETHER: usize = 384;
/// Blocks of outputs that a thread takes at a time: two panels, which are three pairs of tiles.
const PIECE: usize = 2 * PANEL;
/// Pieces that each thread shall have of a shared product, so that none waits long for the last.
const PIECES: usize = 4;
/// Rows that are not cut further for that.
const LEAST_ROWS: usize = 64;
/// The upper half of a number's bits: its sign, its exponent and 7 more.
const UPPER: u32 = 0xffff_0000;

/// What a thread keeps for the next piece.
#[derive(Default)]
struct Scratch {
    /// The parts of rows, and which they are: the product's number, the first row and the first input.
    rows: Vec<Parts>,
    of: (u64, usize, usize),
    weights: Vec<Parts>,
    wide: Aligned,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
    static SUMS: Cell<Vec<Sums>> = Cell::default();
}

/// The product of a layer that has inputs; by all threads of the pool, piece by piece, where it is `shared`.
pub(super) fn run(layer: &Packed, job: Job<'_>, shared: bool) {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let Job { rows, input, stride, output, output_stride, finish } = job;
    assert!(are_here());
    if rows == 0 {
        return;
    }
    let pieces = (layer.width() / BLOCK).div_ceil(PIECE);
    let wanted = if shared { (PIECES * rayon::current_num_threads()).div_ceil(pieces.max(1)) } else { 1 };
    let groups = rows.div_ceil(ROWS_TOGETHER).max(wanted.min(rows / LEAST_ROWS));
    let group = rows.div_ceil(groups);
    // Tiles come in pairs, as few as will do. One with fewer rows takes less time, so all have the same number.
    let pairs = group.div_ceil(2 * ROWS);
    let height = group.div_ceil(2 * pairs);
    let mut sums = SUMS.take();
    // A thread by itself keeps the sums of few rows.
    let together = if shared { rows } else { group };
    for first in (0..rows).step_by(together) {
        let rows = together.min(rows - first);
        let (number, input) = (NUMBER.fetch_add(1, Ordering::Relaxed), &input[first * stride..]);
        let output = Columns::new(&mut output[first * output_stride..], rows, layer.width(), output_stride);
        let product = Product { layer, number, rows, group, pairs, height, input, stride, output, finish };
        product.run(&mut sums, shared);
    }
    SUMS.set(sums);
}

struct Product<'a> {
    layer: &'a Packed,
    /// Products have numbers of their own.
    number: u64,
    rows: usize,
    /// Rows that are worked out together, in so many pairs of tiles, each of so many rows.
    group: usize,
    pairs: usize,
    height: usize,
    input: &'a [f32],
    stride: usize,
    output: Columns<'a>,
    finish: Finish,
}

impl Product<'_> {
    fn run(&self, sums: &mut Vec<Sums>, shared: bool) {
        let blocks = self.layer.width() / BLOCK;
        let (pieces, groups) = (blocks.div_ceil(PIECE), self.rows.div_ceil(self.group));
        let one = PIECE / 2 * self.pairs;
        let sums = window(sums, groups * pieces * one, Sums([[[0.0; BLOCK]; ROWS]; 4]));
        for start in (0..self.layer.inputs).step_by(INPUTS) {
            let inputs = start..self.layer.inputs.min(start + INPUTS);
            let work = |(number, sums): (usize, &mut [Sums])| {
                let first = number % pieces * PIECE;
                let rows = number / pieces * self.group;
                let rows = rows..self.rows.min(rows + self.group);
                // SAFETY: the processor has what the function is compiled for, and each number comes once.
                SCRATCH.with_borrow_mut(|scratch| unsafe {
                    self.piece(scratch, rows, first..blocks.min(first + PIECE), &inputs, sums);
                });
            };
            if shared {
                sums.par_chunks_exact_mut(one).enumerate().with_max_len(1).for_each(work);
            } else {
                sums.chunks_exact_mut(one).enumerate().for_each(work);
            }
        }
    }

    /// Adds the products of some rows, some blocks of outputs and some inputs; after the last inputs the sums become outputs.
    ///
    /// # Safety
    /// Nobody else works on these rows and blocks meanwhile.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    unsafe fn piece(
        &self,
        scratch: &mut Scratch,
        rows: Range<usize>,
        blocks: Range<usize>,
        inputs: &Range<usize>,
        sums: &mut [Sums],
    ) {
        let Scratch { rows: parts, of, weights, wide } = scratch;
        let (pairs, height) = (self.pairs, self.height);
        let steps = inputs.len().div_ceil(STEP);
        let parts = window(parts, 2 * pairs * steps, NOTHING);
        let these = (self.number, rows.start, inputs.start);
        if *of != these {
            *of = these;
            self.split_rows(parts, height, &rows, inputs);
        }
        let weights = window(weights, blocks.len().next_multiple_of(2) * steps, NOTHING);
        for panel in (0..blocks.len()).step_by(PANEL) {
            let number = PANEL.min(blocks.len() - panel);
            let values = self.layer.panel(blocks.start + panel, number, inputs.clone(), wide);
            split_weights(&mut weights[panel * steps..], values, number, steps);
        }
        if blocks.len() % 2 == 1 {
            weights[blocks.len() * steps..].fill(NOTHING);
        }
        // What probably comes next is fetched meanwhile, the first panel with the first half of the products.
        let all = self.layer.width() / BLOCK;
        let next = [blocks.end, blocks.end + PANEL].map(|panel| {
            let number = PANEL.min(all.saturating_sub(panel));
            self.layer.place(panel.min(all), number, inputs.clone())
        });
        let pieces = blocks.len().div_ceil(2) * pairs;
        let tiles = Tiles::new(height, !self.layer.is_narrow());
        for (group, weights) in weights.chunks_exact(2 * steps).enumerate() {
            for (pair, rows) in parts.chunks_exact(2 * steps).enumerate() {
                let number = group * pairs + pair;
                let next = piece(&next[2 * number / pieces], 2 * number % pieces, pieces);
                tiles.add_products(rows, weights, &mut sums[number], inputs.start == 0, &next);
            }
        }
        if inputs.end < self.layer.inputs {
            return;
        }
        for (k, row) in rows.enumerate() {
            let (pair, tile, place) = (k / (2 * height), k / height % 2, k % height);
            let sums = |block: usize| &sums[block / 2 * pairs + pair].0[2 * tile + block % 2][place];
            // SAFETY: they are this piece's, as the caller says.
            let values = unsafe { self.output.part(row, blocks.start * BLOCK..blocks.end * BLOCK) };
            self.store(values, &blocks, sums);
        }
    }

    /// Sums of some blocks of a row as its outputs.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    fn store<'a>(&self, values: &mut [f32], blocks: &Range<usize>, sums: impl Fn(usize) -> &'a [f32; BLOCK]) {
        let bias = &self.layer.bias.as_chunks::<BLOCK>().0[blocks.clone()];
        for (block, (values, bias)) in values.as_chunks_mut::<BLOCK>().0.iter_mut().zip(bias).enumerate() {
            let (sums, old) = (sums(block), if self.finish == Finish::Add { *values } else { [0.0; BLOCK] });
            *values = std::array::from_fn(|lane| old[lane] + (sums[lane] + bias[lane]));
        }
        if let Finish::Activate(gelu) = self.finish {
            gelu.apply(values);
        }
    }

    /// The parts of some inputs of some rows: tile by tile, step by step.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    fn split_rows(&self, tiles: &mut [Parts], height: usize, rows: &Range<usize>, inputs: &Range<usize>) {
        let steps = inputs.len().div_ceil(STEP);
        for (number, tiles) in tiles.chunks_exact_mut(steps).enumerate() {
            for place in 0..height {
                let row = rows.start + number * height + place;
                let values = if row < rows.end { &self.input[row * self.stride..][inputs.clone()] } else { &[] };
                for (step, parts) in tiles.iter_mut().enumerate() {
                    let mut own = [0.0; STEP];
                    let values = &values[(step * STEP).min(values.len())..];
                    let filled = STEP.min(values.len());
                    own[..filled].copy_from_slice(&values[..filled]);
                    let split = std::array::from_fn::<_, { STEP / 2 }, _>(|k| pair(own[2 * k], own[2 * k + 1]));
                    for (part, Tile(rows)) in parts.iter_mut().enumerate() {
                        rows[place] = split.map(|parts| parts[part]);
                    }
                }
            }
        }
    }
}

/// The parts of a panel's weights: block by block, step by step, zeros behind the last input.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn split_weights(tiles: &mut [Parts], values: &[f32], blocks: usize, steps: usize) {
    let values = values.as_chunks::<BLOCK>().0;
    for step in 0..steps {
        for k in 0..STEP / 2 {
            let place = (step * STEP / 2 + k) * 2 * blocks;
            for block in 0..blocks {
                let [high, middle, low] = &mut tiles[block * steps + step];
                let even = values.get(place + block).unwrap_or(&[0.0; BLOCK]);
                let odd = values.get(place + blocks + block).unwrap_or(&[0.0; BLOCK]);
                for lane in 0..BLOCK {
                    [high.0[k][lane], middle.0[k][lane], low.0[k][lane]] = pair(even[lane], odd[lane]);
                }
            }
        }
    }
}

/// High, middle and low parts of two numbers, the first in the lower bits.
#[inline(always)]
fn pair(even: f32, odd: f32) -> [u32; 3] {
    let split = |value: f32| {
        let high = value.to_bits() & UPPER;
        let rest = value - f32::from_bits(high);
        let middle = rest.to_bits() & UPPER;
        [high, middle, (rest - f32::from_bits(middle)).to_bits() & UPPER]
    };
    let (even, odd) = (split(even), split(odd));
    std::array::from_fn(|part| even[part] >> 16 | odd[part])
}

/// The piece of a place at one of so many moments.
fn piece(place: &Range<*const i8>, moment: usize, moments: usize) -> Range<*const i8> {
    let lines = (place.end.addr() - place.start.addr()) / 64;
    let line = |moment: usize| place.start.wrapping_add(64 * (lines * moment / moments));
    line(moment)..line(moment + 2)
}

/// So many of a buffer that grows.
fn window<T: Copy>(buffer: &mut Vec<T>, len: usize, new: T) -> &mut [T] {
    if buffer.len() < len {
        buffer.resize(len, new);
    }
    &mut buffer[..len]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::simd::padded;

    /// Whether the tiles are here; reports the test as skipped if not.
    fn can_run() -> bool {
        if !are_here() {
            locdiff_testing::skipped("cannot run here: the products by AMX's tiles: this processor has none");
        }
        are_here()
    }

    fn product(layer: &Packed, rows: usize, input: &[f32]) -> Vec<f32> {
        let (stride, output_stride, finish) = (layer.inputs, layer.width(), Finish::Store);
        let mut output = vec![0.0; rows * output_stride];
        run(layer, Job { rows, input, stride, output: &mut output, output_stride, finish }, false);
        output
    }

    /// Numbers of all bits and of sizes from 2⁻¹² to 2¹².
    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let hash = |i: usize| (i as u32 ^ seed).wrapping_mul(2_654_435_761).rotate_left(15).wrapping_mul(2_246_822_519);
        let number = |bits: u32| (bits as f32 / 2_147_483_648.0 - 1.0) * ((bits % 25) as f32 - 12.0).exp2();
        (0..count).map(|i| number(hash(i))).collect()
    }

    #[test]
    fn three_parts_are_the_number_itself() {
        for value in numbers(5000, 7).into_iter().chain([0.0, -0.0, f32::MAX, f32::MIN, 1.0 + f32::EPSILON]) {
            let parts = pair(value, 0.0).map(|part| f32::from_bits(part << 16));
            assert_eq!(parts[0] + (parts[1] + parts[2]), value, "{parts:?}");
        }
    }

    /// The largest error of a row's outputs over the sum of the products' sizes.
    fn error(rows: usize, inputs: usize, outputs: usize, by_tiles: bool) -> f64 {
        let (weights, input) = (numbers(inputs * outputs, 1), numbers(rows * inputs, 2));
        let layer = Packed::new(inputs, &weights, &vec![0.0; outputs]);
        let plain = |at: usize| {
            let (row, o) = (&input[at / padded(outputs) * inputs..][..inputs], at % padded(outputs));
            row.iter().zip(weights.iter().skip(o * inputs)).fold(0.0_f32, |sum, (x, w)| x.mul_add(*w, sum))
        };
        let by_tiles = by_tiles.then(|| product(&layer, rows, &input));
        let output = by_tiles.unwrap_or_else(|| (0..rows * padded(outputs)).map(plain).collect());
        let one = |r: usize, o: usize| {
            let products = input[r * inputs..][..inputs].iter().zip(&weights[o * inputs..]);
            let products: Vec<f64> = products.map(|(x, w)| f64::from(*x) * f64::from(*w)).collect();
            let off = f64::from(output[r * padded(outputs) + o]) - products.iter().sum::<f64>();
            off.abs() / products.iter().map(|product| product.abs()).sum::<f64>()
        };
        (0..rows * outputs).map(|k| one(k / outputs, k % outputs)).fold(0.0, f64::max)
    }

    /// Against f64, beside sums in f32.
    #[test]
    fn products_are_as_exact_as_those_of_f32() {
        if !can_run() {
            return;
        }
        for (rows, inputs, outputs) in
            [(1, 1, 1), (2, 31, 16), (17, 33, 47), (33, 512, 96), (40, 1100, 113), (400, 64, 20)]
        {
            let [tiles, plain] = [true, false].map(|by_tiles| error(rows, inputs, outputs, by_tiles));
            assert!(tiles <= (2.0 * plain).max(2e-7), "{rows} {inputs} {outputs}: {tiles:e}, in f32 {plain:e}");
        }
    }

    #[test]
    fn a_row_is_the_same_bits_among_others_and_what_is_not_finite_stays_in_its_row() {
        if !can_run() {
            return;
        }
        let (rows, inputs, outputs) = (50, 600, 40);
        let layer = Packed::new(inputs, &numbers(inputs * outputs, 3), &numbers(outputs, 4));
        let mut input = numbers(rows * inputs, 5);
        for (row, bad) in [(3, f32::NAN), (20, f32::INFINITY)] {
            input[row * inputs + 5] = bad;
        }
        let together = product(&layer, rows, &input);
        for (row, values) in together.chunks_exact(padded(outputs)).enumerate() {
            let is_bad = row == 3 || row == 20;
            assert!(values[..outputs].iter().all(|value| value.is_finite() != is_bad), "{row}");
            let alone = product(&layer, 1, &input[row * inputs..]);
            assert!(is_bad || alone == values);
        }
    }

    #[test]
    fn threads_share_a_product() {
        if !can_run() {
            return;
        }
        for (rows, inputs, outputs) in [(1, 40, 16), (257, 1100, 300), (800, 70, 113), (0, 5, 5)] {
            let layer = Packed::new(inputs, &numbers(inputs * outputs, 8), &numbers(outputs, 9));
            let (input, stride) = (numbers(rows * inputs, 10), padded(outputs) + 16);
            for finish in [Finish::Store, Finish::Add, Finish::Activate(crate::Gelu::Quick)] {
                let [alone, shared] = [false, true].map(|shared| {
                    let mut output = numbers(rows * stride, 11);
                    let (input, output_stride) = (&input[..], stride);
                    let job = Job { rows, input, stride: inputs, output: &mut output, output_stride, finish };
                    run(&layer, job, shared);
                    output
                });
                assert!(alone == shared, "{rows} {inputs} {outputs} {finish:?}");
                // Nothing is written behind a row.
                let behind = |values: &[f32]| {
                    values.chunks(stride).flat_map(|row| row[padded(outputs)..].to_vec()).collect::<Vec<_>>()
                };
                assert_eq!(behind(&shared), behind(&numbers(rows * stride, 11)));
            }
        }
    }
}
