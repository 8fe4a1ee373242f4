//! The CPU backend: plain loops over rows, vectorised by [`simd`], spread over rayon's threads.

pub(crate) mod math;
pub(crate) mod random;
pub(crate) mod reduce;
pub(crate) mod simd;

use rayon::prelude::*;

/// Under this many values a loop stays on one thread: waking another costs more.
pub(crate) const PARALLEL_FROM: usize = 16 * 1024;

/// A read-only strided matrix in memory.
#[derive(Clone, Copy)]
pub(crate) struct Mat<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) stride: usize,
}

impl<'a> Mat<'a> {
    #[inline]
    pub(crate) fn row(&self, r: usize) -> &'a [f32] {
        &self.data[r * self.stride..r * self.stride + self.cols]
    }
}

/// A writable strided matrix in memory.
pub(crate) struct MatMut<'a> {
    pub(crate) data: &'a mut [f32],
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) stride: usize,
}

impl MatMut<'_> {
    #[inline]
    pub(crate) fn row(&mut self, r: usize) -> &mut [f32] {
        &mut self.data[r * self.stride..r * self.stride + self.cols]
    }
}

/// Rows one task takes, so that every thread has about two tasks.
fn rows_per_task(rows: usize, cols: usize) -> usize {
    let threads = rayon::current_num_threads();
    if threads == 1 || rows * cols < PARALLEL_FROM { rows.max(1) } else { rows.div_ceil(threads * 2).max(1) }
}

/// Calls `f(r, row)` for every row of `out`, on all threads where it pays.
pub(crate) fn for_rows(out: MatMut<'_>, f: impl Fn(usize, &mut [f32]) + Sync) {
    let MatMut { data, rows, cols, stride } = out;
    if rows == 0 || cols == 0 {
        return;
    }
    let task = rows_per_task(rows, cols);
    let run = |first: usize, block: &mut [f32]| {
        for (i, row) in block.chunks_mut(stride).enumerate() {
            f(first + i, &mut row[..cols]);
        }
    };
    if task >= rows {
        run(0, data);
    } else {
        data.par_chunks_mut(task * stride).enumerate().for_each(|(k, block)| run(k * task, block));
    }
}

/// Calls `f(r, row of a, row of b)` for every row of two outputs of the same height.
pub(crate) fn for_rows2(a: MatMut<'_>, b: MatMut<'_>, f: impl Fn(usize, &mut [f32], &mut [f32]) + Sync) {
    let MatMut { data: a_data, rows, cols: a_cols, stride: a_stride } = a;
    let MatMut { data: b_data, cols: b_cols, stride: b_stride, .. } = b;
    if rows == 0 || a_cols == 0 || b_cols == 0 {
        return;
    }
    let task = rows_per_task(rows, a_cols.max(b_cols));
    let run = |first: usize, x: &mut [f32], y: &mut [f32]| {
        for (i, (p, q)) in x.chunks_mut(a_stride).zip(y.chunks_mut(b_stride)).enumerate() {
            f(first + i, &mut p[..a_cols], &mut q[..b_cols]);
        }
    };
    if task >= rows {
        run(0, a_data, b_data);
    } else {
        let blocks = a_data.par_chunks_mut(task * a_stride).zip(b_data.par_chunks_mut(task * b_stride));
        blocks.enumerate().for_each(|(k, (x, y))| run(k * task, x, y));
    }
}
