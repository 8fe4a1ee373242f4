//! `c = x·w` for a matrix `w` that many products read: it is laid out once, in tiles of columns, and every sum is taken in
//! order with fused multiplications. A row of `c` is therefore the same numbers however many rows stand beside it, and on
//! every processor; a general product would cut its sums by all three sizes.

use super::{
    layout::{lay_columns, lay_rows, plain},
    scratch::with_scratch,
    side::Side,
    tile::{ROWS, Tile, TileStart, WIDTH},
};
use crate::aligned::Aligned;
use crate::cpu::{Mat, MatMut};
use rayon::prelude::*;

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
    tiles: Aligned,
    depth: usize,
    cols: usize,
}

impl Packed {
    /// Lays a matrix out; `w` as the product reads it.
    pub(crate) fn new(w: Side<'_>) -> Self {
        let (depth, cols, ..) = w.layout();
        let mut tiles = Aligned::zeros(cols.div_ceil(WIDTH) * WIDTH * depth);
        if depth > 0 {
            let tile = |(number, out): (usize, &mut [f32])| {
                lay_columns(w, number * WIDTH..cols.min((number + 1) * WIDTH), 0..depth, out);
            };
            tiles.par_chunks_exact_mut(WIDTH * depth).enumerate().for_each(tile);
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
        assert!(c.rows == rows && c.cols == cols && x.cols == depth, "x is {rows}×{}, w {depth}×{cols}", x.cols);
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
        with_scratch(rows.len().next_multiple_of(ROWS) * length, |packed| {
            for start in (0..self.depth.max(1)).step_by(length) {
                let block = start..(start + length).min(self.depth);
                lay_rows(plain(x), rows.clone(), block.clone(), packed, ROWS * length);
                for tile in tiles.clone() {
                    let weights = &self.tiles[tile * WIDTH * self.depth..][block.start * WIDTH..];
                    let weights = &weights[..block.len() * WIDTH];
                    let (first, width) = (tile * WIDTH, WIDTH.min(self.cols - tile * WIDTH));
                    for (group, x) in packed.chunks_exact(ROWS * length).enumerate() {
                        let row = rows.start + group * ROWS;
                        let tile = Tile {
                            // SAFETY: the caller's promise: the tile's rows and columns are inside `c` and ours.
                            c: unsafe { c.data.add(row * c.stride + first) },
                            stride: c.stride,
                            rows: ROWS.min(rows.end - row),
                            cols: width,
                            start: if start == 0 && !accumulate { TileStart::Zero } else { TileStart::Kept },
                        };
                        // SAFETY: as above.
                        unsafe { tile.add(weights, &x[..block.len() * ROWS]) };
                    }
                }
            }
        });
    }
}

/// Where a product goes, so that several threads can write parts of it.
struct Out {
    data: *mut f32,
    stride: usize,
}

// SAFETY: every thread writes rows or columns that no other thread touches.
unsafe impl Sync for Out {}

#[cfg(test)]
mod tests {
    use super::{super::tile::numbers, *};

    /// What a row becomes does not depend on the rows beside it: an answer must not depend on the batch.
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
                assert!(run(first, m) == all[first * n..(first + m) * n], "{n} {k} {transposed}: {first} {m}");
            }
        }
    }

    #[test]
    fn accumulating_adds_to_what_is_there() {
        let (x, w) = (numbers(3 * 4, 1), numbers(4 * 50, 2));
        let packed = Packed::new(Side { mat: Mat { data: &w, rows: 4, cols: 50, stride: 50 }, transposed: false });
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
