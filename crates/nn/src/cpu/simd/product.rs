//! Matrix products: the f32 part of the `gemm` crate, cut into strips for threads, and [`super::skinny`] for small batches.

use super::{LANES, skinny};
use crate::cpu::{Mat, MatMut};
use gemm_common::Parallelism;
use std::ops::Range;

/// One side of a product: a matrix, read as it is or transposed.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) mat: Mat<'a>,
    pub(crate) transposed: bool,
}

impl Side<'_> {
    /// Rows, columns, row stride and column stride as the product sees them.
    pub(super) fn layout(&self) -> (usize, usize, isize, isize) {
        let Mat { rows, cols, stride, .. } = self.mat;
        if self.transposed { (cols, rows, 1, stride as isize) } else { (rows, cols, stride as isize, 1) }
    }
}

/// Under this many multiplications a product stays on one thread.
const PARALLEL_PRODUCT_FROM: usize = 1 << 20;
/// Reading the other side takes as long as this many rows' multiplications.
const ROWS_TO_READ: usize = 4;

/// `c = a·b`, or `c += a·b` with `accumulate`.
///
/// The wider of the two sides of `c` is cut into one strip a thread; each strip is a product of its own.
pub(crate) fn product(c: &mut MatMut<'_>, a: Side<'_>, b: Side<'_>, accumulate: bool) {
    let (m, k, a_rs, a_cs) = a.layout();
    let (k_b, n, b_rs, b_cs) = b.layout();
    assert!(c.rows == m && c.cols == n && k == k_b, "product {m}×{k} · {k_b}×{n} into {}×{}", c.rows, c.cols);
    if m == 0 || n == 0 {
        return;
    }
    // A stride of 0 (a repeated row) is read-only and fits; `c` always has stride ≥ cols.
    assert!(c.stride >= c.cols && c.data.len() >= (m - 1) * c.stride + n);
    assert!(a.mat.rows == 0 || a.mat.data.len() >= (a.mat.rows - 1) * a.mat.stride + a.mat.cols);
    assert!(b.mat.rows == 0 || b.mat.data.len() >= (b.mat.rows - 1) * b.mat.stride + b.mat.cols);
    let threads = rayon::current_num_threads();
    let c_stride = c.stride as isize;
    let strips = Strips {
        c: c.data.as_mut_ptr(),
        a: a.mat.data.as_ptr(),
        b: b.mat.data.as_ptr(),
        c_stride,
        a_strides: (a_rs, a_cs),
        b_strides: (b_rs, b_cs),
        k,
        accumulate,
    };
    if threads == 1 || m.max(ROWS_TO_READ) * n * k < PARALLEL_PRODUCT_FROM {
        // SAFETY: the asserts above show that all three pointers cover the strides' extents.
        unsafe { strips.run(0..m, 0..n) };
        return;
    }
    let (wide, long) = (n >= m, n.max(m));
    let strip = long.div_ceil(threads).next_multiple_of(LANES);
    rayon::scope(|scope| {
        for start in (0..long).step_by(strip) {
            let range = start..(start + strip).min(long);
            let strips = &strips;
            scope.spawn(move |_| {
                // SAFETY: as above, and the strips of `c` are disjoint.
                unsafe { if wide { strips.run(0..m, range) } else { strips.run(range, 0..n) } }
            });
        }
    });
}

/// A product's operands as raw parts, so that strips of one `c` can be written by several threads.
struct Strips {
    c: *mut f32,
    a: *const f32,
    b: *const f32,
    c_stride: isize,
    a_strides: (isize, isize),
    b_strides: (isize, isize),
    k: usize,
    accumulate: bool,
}

// SAFETY: `a` and `b` are only read; every thread writes rows or columns of `c` that no other thread touches.
unsafe impl Sync for Strips {}

impl Strips {
    /// # Safety
    /// The pointers must cover the given rows and columns, and no other thread may touch them in `c`.
    unsafe fn run(&self, rows: Range<usize>, cols: Range<usize>) {
        let (row, col) = (rows.start as isize, cols.start as isize);
        // `x·wᵀ` with few rows of x, both with contiguous rows: the shape of a sampler's layers.
        if self.a_strides.1 == 1 && self.b_strides.0 == 1 && skinny::pays(rows.len()) {
            // SAFETY: guaranteed by the caller, as below.
            unsafe {
                skinny::product(&skinny::Operands {
                    c: self.c.offset(row * self.c_stride + col),
                    x: self.a.offset(row * self.a_strides.0),
                    w: self.b.offset(col * self.b_strides.1),
                    c_stride: self.c_stride,
                    x_stride: self.a_strides.0,
                    w_stride: self.b_strides.1,
                    sizes: (rows.len(), cols.len(), self.k),
                    accumulate: self.accumulate,
                });
            }
            return;
        }
        // SAFETY: guaranteed by the caller; offsets stay inside the operands' extents.
        unsafe {
            // The kernels want column-major results: cᵀ = bᵀ·aᵀ. Column strides come before row strides.
            gemm_f32::gemm::f32::get_gemm_fn()(
                cols.len(),
                rows.len(),
                self.k,
                self.c.offset(row * self.c_stride + col),
                self.c_stride,
                1,
                self.accumulate,
                self.b.offset(col * self.b_strides.1),
                self.b_strides.0,
                self.b_strides.1,
                self.a.offset(row * self.a_strides.0),
                self.a_strides.0,
                self.a_strides.1,
                1.0_f32,
                1.0_f32,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
    }
}
