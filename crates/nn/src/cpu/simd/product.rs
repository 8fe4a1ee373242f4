//! Matrix products, cut into parts for threads: with AVX-512 by our own tiles ([`super::strip`]) and [`super::skinny`] for small
//! batches, in WebAssembly by the tiles alone, elsewhere by the f32 part of the `gemm` crate.

use super::{
    LANES, Level, level,
    side::{Side, Start},
    skinny, strip,
    tile::ROWS,
};
use crate::cpu::MatMut;
use std::ops::Range;

/// Under this many multiplications a product stays on one thread.
const PARALLEL_PRODUCT_FROM: usize = 1 << 20;
/// Reading the other side takes as long as this many rows' multiplications.
const ROWS_TO_READ: usize = 4;

/// `c = a·b`, plus what the sums begin with.
///
/// `c` is cut into one part a thread; each part is a product of its own, and what a sum gives does not depend on the parts.
pub(crate) fn product(c: &mut MatMut<'_>, a: Side<'_>, b: Side<'_>, start: Start<'_>) {
    let (m, k, ..) = a.layout();
    let (k_b, n, ..) = b.layout();
    assert!(c.rows == m && c.cols == n && k == k_b, "product {m}×{k} · {k_b}×{n} into {}×{}", c.rows, c.cols);
    if m == 0 || n == 0 {
        return;
    }
    // A stride of 0 (a repeated row) is read-only and fits; `c` always has stride ≥ cols.
    assert!(c.stride >= c.cols && c.data.len() >= (m - 1) * c.stride + n);
    assert!(a.mat.rows == 0 || a.mat.data.len() >= (a.mat.rows - 1) * a.mat.stride + a.mat.cols);
    assert!(b.mat.rows == 0 || b.mat.data.len() >= (b.mat.rows - 1) * b.mat.stride + b.mat.cols);
    let kernel = Kernel::choose(a, b);
    let start = match start {
        Start::Row(row) if kernel != Kernel::Tiles => {
            (0..m).for_each(|r| c.row(r).copy_from_slice(row));
            Start::Kept
        }
        Start::Row(row) => {
            assert!(row.len() == n, "{} numbers to begin {n} columns with", row.len());
            start
        }
        _ => start,
    };
    let parts = Parts { c: c.data.as_mut_ptr(), c_stride: c.stride, a, b, start };
    let threads = rayon::current_num_threads();
    if threads == 1 || m.max(ROWS_TO_READ) * n * k < PARALLEL_PRODUCT_FROM {
        // SAFETY: the asserts above show that all three matrices have the product's extents.
        unsafe { parts.run(kernel, 0..m, 0..n) };
        return;
    }
    let (rows, cols) = kernel.part(m, n, threads, (a.transposed, b.transposed));
    rayon::scope(|scope| {
        for row in (0..m).step_by(rows) {
            for col in (0..n).step_by(cols) {
                let (range, parts) = ((row..m.min(row + rows), col..n.min(col + cols)), &parts);
                // SAFETY: as above, and the parts of `c` are disjoint.
                scope.spawn(move |_| unsafe { parts.run(kernel, range.0, range.1) });
            }
        }
    });
}

/// Who computes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kernel {
    Skinny,
    Tiles,
    Gemm,
}

impl Kernel {
    /// By the whole product, so that its parts do not choose otherwise.
    fn choose(a: Side<'_>, b: Side<'_>) -> Self {
        if !a.transposed && b.transposed && skinny::pays(a.mat.rows) {
            // `x·wᵀ` with few rows of x, both with contiguous rows: the shape of a sampler's layers.
            return Self::Skinny;
        }
        #[cfg(target_arch = "x86_64")]
        if level() == Level::Avx512 {
            return Self::Tiles;
        }
        let _ = (level(), Level::Baseline);
        if cfg!(target_family = "wasm") { Self::Tiles } else { Self::Gemm }
    }

    /// Rows and columns of a thread's part.
    fn part(self, m: usize, n: usize, threads: usize, transposed: (bool, bool)) -> (usize, usize) {
        let strip = |long: usize, parts: usize, least: usize| long.div_ceil(parts).next_multiple_of(least);
        if self != Self::Tiles {
            return if n >= m { (m, strip(n, threads, LANES)) } else { (strip(m, threads, LANES), n) };
        }
        // What a part costs: multiplying, and laying out its share of both sides; turning costs twice what copying does.
        let (per_row, per_column) = (if transposed.0 { 4 } else { 8 }, if transposed.1 { 8 } else { 4 });
        let part = |across: usize| (strip(m, across, ROWS).min(m), strip(n, threads / across, LANES).min(n));
        let cost = |(rows, cols): (usize, usize)| rows * cols + per_row * rows + per_column * cols;
        (1..=threads).map(part).min_by_key(|part| cost(*part)).unwrap_or((m, n))
    }
}

/// A product's operands, so that parts of one `c` can be written by several threads.
struct Parts<'a> {
    c: *mut f32,
    c_stride: usize,
    a: Side<'a>,
    b: Side<'a>,
    start: Start<'a>,
}

// SAFETY: `a` and `b` are only read; every thread writes rows and columns of `c` that no other thread touches.
unsafe impl Sync for Parts<'_> {}

impl Parts<'_> {
    /// # Safety
    /// The matrices must have the product's extents, and no other thread may touch these rows and columns of `c`.
    unsafe fn run(&self, kernel: Kernel, rows: Range<usize>, cols: Range<usize>) {
        let Self { a, b, start, .. } = *self;
        let (c_stride, row, col) = (self.c_stride as isize, rows.start as isize, cols.start as isize);
        // SAFETY: inside `c`.
        let c = unsafe { self.c.offset(row * c_stride + col) };
        if kernel == Kernel::Tiles {
            let out = strip::Out { c, stride: self.c_stride };
            // SAFETY: guaranteed by the caller.
            return unsafe { strip::product(&out, a, b, rows, cols, start) };
        }
        #[cfg_attr(target_family = "wasm", expect(unused_variables, reason = "there is no `gemm`"))]
        let (_, k, a_rs, a_cs) = a.layout();
        #[cfg_attr(target_family = "wasm", expect(unused_variables, reason = "there is no `gemm`"))]
        let (.., b_rs, b_cs) = b.layout();
        // SAFETY: guaranteed by the caller; offsets stay inside the operands' extents.
        let (a, b) = unsafe { (a.mat.data.as_ptr().offset(row * a_rs), b.mat.data.as_ptr().offset(col * b_cs)) };
        let accumulate = matches!(start, Start::Kept);
        if kernel == Kernel::Skinny {
            let sizes = (rows.len(), cols.len(), k);
            // SAFETY: guaranteed by the caller.
            return unsafe {
                skinny::product(&skinny::Operands {
                    c,
                    x: a,
                    w: b,
                    c_stride,
                    x_stride: a_rs,
                    w_stride: b_cs,
                    sizes,
                    accumulate,
                });
            };
        }
        // SAFETY: guaranteed by the caller.
        #[cfg(not(target_family = "wasm"))]
        unsafe {
            // The kernels want column-major results: cᵀ = bᵀ·aᵀ. Column strides come before row strides.
            gemm_f32::gemm::f32::get_gemm_fn()(
                cols.len(),
                rows.len(),
                k,
                c,
                c_stride,
                1,
                accumulate,
                b,
                b_rs,
                b_cs,
                a,
                a_rs,
                a_cs,
                1.0_f32,
                1.0_f32,
                false,
                false,
                false,
                gemm_common::Parallelism::None,
            );
        }
    }
}
