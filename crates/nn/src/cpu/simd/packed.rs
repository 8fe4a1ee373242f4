//! `c = x·w` for a matrix `w` that many products read: it is laid out once, in tiles of columns, and every sum is taken in
//! order with fused multiplications. A row of `c` is therefore the same numbers however many rows stand beside it, and on
//! every processor; a general product would cut its sums by all three sizes.

use super::{LANES, Side};
use crate::cpu::{AlignedVec, Mat, MatMut};
use rayon::prelude::*;

/// Columns in a tile: three registers of AVX-512.
const WIDTH: usize = 48;
/// Rows of x that a tile is multiplied with at a time.
const ROWS: usize = 8;
/// Sums up to this length are taken in one go, so that c is touched once; of longer ones this much at a time: such a block of
/// a tile fits the first cache. The order of a sum is the same either way.
const WHOLE: usize = 1024;
const BLOCK: usize = 128;
/// Rows of x for each thread from which reading the whole of w is cheap beside multiplying with it.
const MANY_ROWS: usize = 64;
/// Under this many multiplications a product stays on one thread.
const PARALLEL_FROM: usize = 1 << 20;

/// A matrix in tiles of [`WIDTH`] columns, each row by row; columns that are not there are 0.
pub(crate) struct Packed {
    tiles: AlignedVec,
    depth: usize,
    cols: usize,
}

/// The sums of a tile.
type Sums = [[f32; WIDTH]; ROWS];

impl Packed {
    /// Lays a matrix out; `w` as the product reads it.
    pub(crate) fn new(w: Side<'_>) -> Self {
        let (depth, cols, ..) = w.layout();
        let mut tiles = AlignedVec::zeros(cols.div_ceil(WIDTH) * WIDTH * depth);
        if depth > 0 {
            let tile = |(number, out): (usize, &mut [f32])| {
                let columns = number * WIDTH..cols.min((number + 1) * WIDTH);
                if w.transposed {
                    // A cache line of every row at a time.
                    for (block, out) in out.chunks_mut(LANES * WIDTH).enumerate() {
                        let some = block * LANES..depth.min((block + 1) * LANES);
                        for (c, column) in columns.clone().enumerate() {
                            let values = &w.mat.row(column)[some.clone()];
                            out[c..]
                                .iter_mut()
                                .step_by(WIDTH)
                                .zip(values)
                                .for_each(|(out, value)| *out = *value);
                        }
                    }
                } else {
                    for (k, out) in out.chunks_exact_mut(WIDTH).enumerate() {
                        out[..columns.len()].copy_from_slice(&w.mat.row(k)[columns.clone()]);
                    }
                }
            };
            tiles.as_mut_slice().par_chunks_exact_mut(WIDTH * depth).enumerate().for_each(tile);
        }
        Self { tiles, depth, cols }
    }

    /// Rows and columns of the matrix as the product reads it.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.depth, self.cols)
    }

    /// `c = x·w`, or `c += x·w` with `accumulate`.
    pub(crate) fn product(&self, c: &mut MatMut<'_>, x: Mat<'_>, accumulate: bool) {
        let (rows, cols, depth) = (x.rows, self.cols, self.depth);
        assert!(
            c.rows == rows && c.cols == cols && x.cols == depth,
            "x is {rows}×{}, w {depth}×{cols}",
            x.cols
        );
        if rows == 0 || cols == 0 {
            return;
        }
        assert!(c.stride >= cols && c.data.len() >= (rows - 1) * c.stride + cols);
        let (threads, tiles) = (rayon::current_num_threads(), cols.div_ceil(WIDTH));
        let out = Out { data: c.data.as_mut_ptr(), stride: c.stride };
        if threads == 1 || rows * cols * depth < PARALLEL_FROM {
            // SAFETY: `c` covers all rows and columns and is borrowed for us alone.
            unsafe { self.part(&out, x, 0..rows, 0..tiles, accumulate) };
            return;
        }
        // Threads share the rows where there are many, so that each packs its own, else the tiles.
        let by_tiles = rows < MANY_ROWS * threads;
        let (long, least) = if by_tiles { (tiles, 1) } else { (rows, ROWS) };
        let strip = long.div_ceil(threads).next_multiple_of(least);
        rayon::scope(|scope| {
            for start in (0..long).step_by(strip) {
                let (range, out) = (start..(start + strip).min(long), &out);
                scope.spawn(move |_| {
                    // SAFETY: as above, and the parts of `c` are disjoint.
                    unsafe {
                        if by_tiles {
                            self.part(out, x, 0..rows, range, accumulate);
                        } else {
                            self.part(out, x, range, 0..tiles, accumulate);
                        }
                    }
                });
            }
        });
    }

    /// Some rows against some tiles.
    ///
    /// # Safety
    /// `c` must cover the rows and the tiles' columns, and no other thread may touch them.
    unsafe fn part(
        &self,
        c: &Out,
        x: Mat<'_>,
        rows: std::ops::Range<usize>,
        tiles: std::ops::Range<usize>,
        accumulate: bool,
    ) {
        let length = if self.depth <= WHOLE { self.depth.max(1) } else { BLOCK };
        let mut packed = AlignedVec::zeros(rows.len().next_multiple_of(ROWS) * length);
        for start in (0..self.depth.max(1)).step_by(length) {
            let block = start..(start + length).min(self.depth);
            pack_rows(x, rows.clone(), block.clone(), packed.as_mut_slice(), ROWS * length);
            for tile in tiles.clone() {
                let weights = &self.tiles.as_slice()[tile * WIDTH * self.depth..][block.start * WIDTH..];
                let weights = &weights[..block.len() * WIDTH];
                let (first, width) = (tile * WIDTH, WIDTH.min(self.cols - tile * WIDTH));
                for (group, x) in packed.as_slice().chunks_exact(ROWS * length).enumerate() {
                    let row = rows.start + group * ROWS;
                    let used = ROWS.min(rows.end - row);
                    let tile = Tile {
                        // SAFETY: the caller's promise: the tile's rows and columns are inside `c` and ours.
                        c: unsafe { c.data.add(row * c.stride + first) },
                        stride: c.stride,
                        rows: used,
                        cols: width,
                        is_fresh: start == 0 && !accumulate,
                    };
                    // SAFETY: as above.
                    unsafe { tile.add(weights, &x[..block.len() * ROWS]) };
                }
            }
        }
    }
}

/// Where a product goes, so that several threads can write parts of it.
struct Out {
    data: *mut f32,
    stride: usize,
}

// SAFETY: every thread writes rows or columns that no other thread touches.
unsafe impl Sync for Out {}

/// Columns `block` of some rows of x, [`ROWS`] rows side by side in `size` numbers, so that a tile reads them in one stream;
/// rows that are not there repeat the last one, and what they give is dropped.
fn pack_rows(
    x: Mat<'_>,
    rows: std::ops::Range<usize>,
    block: std::ops::Range<usize>,
    packed: &mut [f32],
    size: usize,
) {
    for (group, out) in packed.chunks_exact_mut(size).enumerate() {
        let first = rows.start + group * ROWS;
        let lines: [&[f32]; ROWS] =
            std::array::from_fn(|r| &x.row((first + r).min(rows.end - 1))[block.clone()]);
        for (k, out) in out.chunks_exact_mut(ROWS).take(block.len()).enumerate() {
            out.iter_mut().zip(lines).for_each(|(out, line)| *out = line[k]);
        }
    }
}

/// A part of `c`: up to [`ROWS`] rows and [`WIDTH`] columns.
struct Tile {
    c: *mut f32,
    stride: usize,
    rows: usize,
    cols: usize,
    /// Whether what it holds is ignored.
    is_fresh: bool,
}

impl Tile {
    /// Adds the product of [`ROWS`] rows (side by side) and a tile's block.
    ///
    /// # Safety
    /// The rows and columns must be there, and no one else's.
    unsafe fn add(&self, weights: &[f32], x: &[f32]) {
        #[cfg(target_arch = "x86_64")]
        if super::level() == super::Level::Avx512 {
            // SAFETY: the caller's promise, and `level` names only what the processor has.
            return unsafe { wide::avx512(self, weights, x) };
        }
        // SAFETY: the caller's promise.
        let line =
            |r: usize| unsafe { std::slice::from_raw_parts_mut(self.c.add(r * self.stride), self.cols) };
        let mut sums = [[0.0; WIDTH]; ROWS];
        if !self.is_fresh {
            (0..self.rows).for_each(|r| sums[r][..self.cols].copy_from_slice(line(r)));
        }
        match super::level() {
            // SAFETY: `level` names only what the processor has.
            #[cfg(target_arch = "x86_64")]
            super::Level::Avx2 => unsafe { wide::avx2(&mut sums, weights, x) },
            _ => plain(&mut sums, weights, x),
        }
        (0..self.rows).for_each(|r| line(r).copy_from_slice(&sums[r][..self.cols]));
    }
}

/// The same sums in plain Rust.
fn plain(sums: &mut Sums, weights: &[f32], x: &[f32]) {
    for (weights, x) in weights.chunks_exact(WIDTH).zip(x.chunks_exact(ROWS)) {
        for (sums, x) in sums.iter_mut().zip(x) {
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum = weight.mul_add(*x, *sum));
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{ROWS, Sums, Tile, WIDTH};
    use std::arch::x86_64::{
        __m256, __m512, __mmask16, _MM_HINT_T0, _mm_prefetch, _mm256_broadcast_ss, _mm256_fmadd_ps,
        _mm256_loadu_ps, _mm256_storeu_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mask_storeu_ps,
        _mm512_maskz_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps,
    };

    /// Weights are fetched from the second cache this many rows before their turn: ten per cent faster, measured.
    const AHEAD: usize = 6;

    /// 24 sums in registers, read from and written to `c` itself.
    ///
    /// # Safety
    /// As [`Tile::add`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    pub(super) unsafe fn avx512(tile: &Tile, weights: &[f32], x: &[f32]) {
        const WIDE: usize = WIDTH / 16;
        let masks: [__mmask16; WIDE] = std::array::from_fn(|v| match tile.cols.saturating_sub(16 * v) {
            some if some >= 16 => __mmask16::MAX,
            some => (1 << some) - 1,
        });
        let line = |r: usize| tile.c.wrapping_add(r * tile.stride);
        // SAFETY: lanes outside the tile are masked and never touched, rows outside it neither; weights and x are cut into
        // pieces of known size.
        unsafe {
            let mut sums = [[_mm512_setzero_ps(); WIDE]; ROWS];
            if !tile.is_fresh {
                for r in 0..tile.rows {
                    for v in 0..WIDE {
                        sums[r][v] = _mm512_maskz_loadu_ps(masks[v], line(r).wrapping_add(16 * v));
                    }
                }
            }
            for (weights, x) in weights.chunks_exact(WIDTH).zip(x.chunks_exact(ROWS)) {
                for v in 0..WIDE {
                    _mm_prefetch::<_MM_HINT_T0>(weights.as_ptr().wrapping_add(AHEAD * WIDTH + 16 * v).cast());
                }
                let weights: [__m512; WIDE] =
                    std::array::from_fn(|v| _mm512_loadu_ps(weights.as_ptr().add(16 * v)));
                for r in 0..ROWS {
                    let value = _mm512_set1_ps(*x.get_unchecked(r));
                    for v in 0..WIDE {
                        sums[r][v] = _mm512_fmadd_ps(weights[v], value, sums[r][v]);
                    }
                }
            }
            for r in 0..tile.rows {
                for v in 0..WIDE {
                    _mm512_mask_storeu_ps(line(r).wrapping_add(16 * v), masks[v], sums[r][v]);
                }
            }
        }
    }

    /// Four rows and half the columns at a time: twelve sums in registers.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn avx2(sums: &mut Sums, weights: &[f32], x: &[f32]) {
        const WIDE: usize = WIDTH / 16;
        const FEW: usize = ROWS / 2;
        for first in [0, FEW] {
            for half in [0, WIDTH / 2] {
                // SAFETY: a half row of sums holds three registers; weights and x are cut into pieces of known size.
                unsafe {
                    let load = |from: *const f32| -> [__m256; WIDE] {
                        std::array::from_fn(|v| _mm256_loadu_ps(from.add(8 * v)))
                    };
                    let mut kept: [[__m256; WIDE]; FEW] =
                        std::array::from_fn(|r| load(sums[first + r].as_ptr().add(half)));
                    for (weights, x) in weights.chunks_exact(WIDTH).zip(x.chunks_exact(ROWS)) {
                        let weights = load(weights.as_ptr().add(half));
                        for r in 0..FEW {
                            let value = _mm256_broadcast_ss(&x[first + r]);
                            for v in 0..WIDE {
                                kept[r][v] = _mm256_fmadd_ps(weights[v], value, kept[r][v]);
                            }
                        }
                    }
                    for (row, kept) in sums[first..].iter_mut().zip(kept) {
                        for (v, sum) in kept.into_iter().enumerate() {
                            _mm256_storeu_ps(row.as_mut_ptr().add(half + 8 * v), sum);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, salt: u32) -> Vec<f32> {
        let word = |i: u32| i.wrapping_mul(2_654_435_761).wrapping_add(salt) >> 8;
        (0..count as u32).map(|i| word(i) as f32 / 16_777_216.0 - 0.5).collect()
    }

    /// What a row becomes does not depend on the rows beside it: an answer must not depend on company.
    #[test]
    fn a_row_is_the_same_in_any_batch() {
        for (n, k, transposed) in
            [(300, 77, true), (577, 300, true), (130, 900, false), (64, 2100, false), (1, 5, true)]
        {
            let (x, w) = (numbers(200 * k, 1), numbers(n * k, 2));
            let (rows, cols) = if transposed { (n, k) } else { (k, n) };
            let packed = Packed::new(Side { mat: Mat { data: &w, rows, cols, stride: cols }, transposed });
            assert_eq!(packed.shape(), (k, n));
            let run = |first: usize, m: usize| -> Vec<f32> {
                let mut c = vec![7.0; m * n];
                let a = Mat { data: &x[first * k..(first + m) * k], rows: m, cols: k, stride: k };
                packed.product(&mut MatMut { data: &mut c, rows: m, cols: n, stride: n }, a, false);
                c
            };
            let all = run(0, 200);
            for (r, row) in all.chunks_exact(n).enumerate().step_by(37) {
                for (j, value) in row.iter().enumerate() {
                    let weight = |i: usize| if transposed { w[j * k + i] } else { w[i * n + j] };
                    let exact = (0..k).fold(0.0_f32, |sum, i| weight(i).mul_add(x[r * k + i], sum));
                    assert_eq!(value.to_bits(), exact.to_bits(), "{n} {k} {transposed}: row {r} column {j}");
                }
            }
            for (first, m) in [(0, 16), (16, 16), (3, 1), (100, 64), (20, 130)] {
                assert!(
                    run(first, m) == all[first * n..(first + m) * n],
                    "{n} {k} {transposed}: {first} {m}"
                );
            }
        }
    }

    /// Every instruction set takes the sums in the same order, so that an answer is the same on every processor.
    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let (weights, x, start) = (numbers(97 * WIDTH, 3), numbers(97 * ROWS, 4), numbers(ROWS * WIDTH, 5));
        let run = |kernel: &dyn Fn(&mut Sums)| {
            let mut sums = [[0.0; WIDTH]; ROWS];
            sums.iter_mut()
                .zip(start.chunks_exact(WIDTH))
                .for_each(|(sums, start)| sums.copy_from_slice(start));
            kernel(&mut sums);
            sums
        };
        let expected = run(&|sums| plain(sums, &weights, &x));
        let add = |sums: &mut Sums| {
            let c = sums.as_flattened_mut().as_mut_ptr();
            let tile = Tile { c, stride: WIDTH, rows: ROWS, cols: WIDTH, is_fresh: false };
            // SAFETY: the tile is the whole of `sums`.
            unsafe { tile.add(&weights, &x) };
        };
        assert!(run(&add) == expected);
        #[cfg(target_arch = "x86_64")]
        if super::super::level() >= super::super::Level::Avx2 {
            // SAFETY: the processor has AVX2 and FMA.
            assert!(run(&|sums| unsafe { wide::avx2(sums, &weights, &x) }) == expected);
        }
    }

    #[test]
    fn accumulating_adds_to_what_is_there() {
        let (x, w) = (numbers(3 * 4, 1), numbers(4 * 50, 2));
        let packed =
            Packed::new(Side { mat: Mat { data: &w, rows: 4, cols: 50, stride: 50 }, transposed: false });
        let x = Mat { data: &x, rows: 3, cols: 4, stride: 4 };
        let (mut once, mut twice) = (vec![0.0; 3 * 60], vec![0.0; 3 * 60]);
        packed.product(&mut MatMut { data: &mut once, rows: 3, cols: 50, stride: 60 }, x, false);
        for accumulate in [false, true] {
            packed.product(&mut MatMut { data: &mut twice, rows: 3, cols: 50, stride: 60 }, x, accumulate);
        }
        for (once, twice) in once.chunks_exact(60).zip(twice.chunks_exact(60)) {
            assert!(once[..50].iter().zip(&twice[..50]).all(|(a, b)| (2.0 * a - b).abs() < 1e-6));
            assert!(twice[50..].iter().all(|value| *value == 0.0), "nothing beside the columns is written");
        }
    }
}
