//! Matrix products, cut into parts for threads: with AVX-512 by our own tiles ([`super::part`]) and [`super::skinny`] for small
//! batches, in WebAssembly by the tiles alone, elsewhere by the f32 part of the `gemm` crate. Packed matrices are always
//! multiplied by the tiles.

use super::side::{Columns, Side, Start};
use super::{LANES, Level, kernel::ROWS, kernel::WIDTH, level, packed::Packed, part::Part, part::Weights, skinny};
use crate::cpu::{Mat, MatMut};
use std::ops::Range;

/// Under this many multiplications a product stays on one thread.
const PARALLEL_PRODUCT_FROM: usize = 1 << 20;
/// Reading the other side takes as long as this many rows' multiplications.
const ROWS_TO_READ: usize = 4;
/// Rows of x a thread from which reading the whole of a packed matrix is cheap compared with multiplying.
const MANY_ROWS: usize = 64;

/// `c = x·w`, plus what the sums begin with, for a matrix that many products read. A row of `c` is the same numbers however
/// many rows `x` has, and on every processor; a general product would cut its sums by all three sizes.
pub(crate) fn product_packed(c: &mut MatMut<'_>, x: Mat<'_>, w: &Packed, start: Start<'_>) {
    let (rows, cols, depth) = (x.rows, w.outputs, w.inputs);
    assert!(c.rows == rows && c.cols == cols && x.cols == depth, "x is {rows}×{}, w {depth}×{cols}", x.cols);
    if rows == 0 || cols == 0 {
        return;
    }
    let threads = rayon::current_num_threads();
    // Threads share the rows if there are many, so that each lays out its own, else the panels.
    let strip = |long: usize, least: usize| long.div_ceil(least).div_ceil(threads) * least;
    let (row_step, col_step) = if threads == 1 || rows * cols * depth < PARALLEL_PRODUCT_FROM {
        (rows, cols)
    } else if rows < MANY_ROWS * threads {
        (rows, strip(cols, WIDTH))
    } else {
        (rows.div_ceil(threads).next_multiple_of(ROWS), cols)
    };
    let out = Columns::new(c.data, rows, cols, c.stride);
    let (x, weights) = (Side { mat: x, transposed: false }, Weights::Packed(w));
    in_parts((rows, cols), (row_step, col_step), |rows, cols| {
        // SAFETY: the parts of `c` are disjoint, and it is borrowed for us alone.
        unsafe { Part { out: &out, x, weights, rows, cols, start }.run() };
    });
}

/// Calls `run` for all parts of so many rows and columns, on all threads unless there is one.
fn in_parts((m, n): (usize, usize), (rows, cols): (usize, usize), run: impl Fn(Range<usize>, Range<usize>) + Sync) {
    if rows >= m && cols >= n {
        return run(0..m, 0..n);
    }
    rayon::scope(|scope| {
        for row in (0..m).step_by(rows) {
            for col in (0..n).step_by(cols) {
                let run = &run;
                scope.spawn(move |_| run(row..m.min(row + rows), col..n.min(col + cols)));
            }
        }
    });
}

/// `c = a·b`, plus what the sums begin with. `c` is cut into one part a thread; what a sum gives does not depend on the
/// parts.
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
    let out = Columns::new(c.data, m, n, c.stride);
    let parts = Parts { c: &out, c_stride: c.stride as isize, a, b, start };
    let threads = rayon::current_num_threads();
    let step = if threads == 1 || m.max(ROWS_TO_READ) * n * k < PARALLEL_PRODUCT_FROM {
        (m, n)
    } else {
        kernel.part(m, n, threads, (a.transposed, b.transposed))
    };
    // SAFETY: the asserts above show that all three matrices have the product's extents, and the parts of `c` are disjoint.
    in_parts((m, n), step, |rows, cols| unsafe { parts.run(kernel, rows, cols) });
}

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

struct Parts<'a> {
    c: &'a Columns<'a>,
    c_stride: isize,
    a: Side<'a>,
    b: Side<'a>,
    start: Start<'a>,
}

impl Parts<'_> {
    /// # Safety
    /// The matrices must have the product's extents, and no other thread may touch these rows and columns of `c`.
    unsafe fn run(&self, kernel: Kernel, rows: Range<usize>, cols: Range<usize>) {
        let Self { c: out, c_stride, a, b, start } = *self;
        if kernel == Kernel::Tiles {
            // SAFETY: guaranteed by the caller.
            return unsafe { Part { out, x: a, weights: Weights::Plain(b), rows, cols, start }.run() };
        }
        let (c, row, col) = (out.place(rows.start, cols.start), rows.start as isize, cols.start as isize);
        #[cfg_attr(target_family = "wasm", expect(unused_variables, reason = "there is no `gemm`"))]
        let (_, k, a_rs, a_cs) = a.layout();
        #[cfg_attr(target_family = "wasm", expect(unused_variables, reason = "there is no `gemm`"))]
        let (.., b_rs, b_cs) = b.layout();
        // SAFETY: guaranteed by the caller; offsets stay inside the operands' extents.
        let (a, b) = unsafe { (a.mat.data.as_ptr().offset(row * a_rs), b.mat.data.as_ptr().offset(col * b_cs)) };
        let accumulate = matches!(start, Start::Kept);
        if kernel == Kernel::Skinny {
            let (sizes, strides) = ((rows.len(), cols.len(), k), [c_stride, a_rs, b_cs]);
            // SAFETY: guaranteed by the caller.
            return unsafe { skinny::product(&skinny::Operands { c, x: a, w: b, strides, sizes, accumulate }) };
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

#[cfg(test)]
mod tests {
    use super::{super::part::numbers, *};

    /// What a row becomes does not depend on the rows beside it: an answer must not depend on the batch.
    #[test]
    fn a_row_is_the_same_in_any_batch() {
        let cases = [(300, 77, true), (577, 300, true), (130, 900, false), (64, 2100, false), (1, 5, true)];
        for (n, k, transposed) in cases {
            let (x, w) = (numbers(200 * k, 1), numbers(n * k, 2));
            let (rows, cols) = if transposed { (n, k) } else { (k, n) };
            let packed = Packed::of(Side { mat: Mat { data: &w, rows, cols, stride: cols }, transposed });
            assert_eq!((packed.inputs, packed.outputs), (k, n));
            let run = |first: usize, m: usize| -> Vec<f32> {
                let mut c = vec![7.0; m * n];
                let a = Mat { data: &x[first * k..(first + m) * k], rows: m, cols: k, stride: k };
                product_packed(&mut MatMut { data: &mut c, rows: m, cols: n, stride: n }, a, &packed, Start::Zero);
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
        let packed = Packed::of(Side { mat: Mat { data: &w, rows: 4, cols: 50, stride: 50 }, transposed: false });
        let x = Mat { data: &x, rows: 3, cols: 4, stride: 4 };
        let (mut once, mut twice) = (vec![0.0; 3 * 60], vec![0.0; 3 * 60]);
        product_packed(&mut MatMut { data: &mut once, rows: 3, cols: 50, stride: 60 }, x, &packed, Start::Zero);
        for start in [Start::Zero, Start::Kept] {
            product_packed(&mut MatMut { data: &mut twice, rows: 3, cols: 50, stride: 60 }, x, &packed, start);
        }
        for (once, twice) in once.chunks_exact(60).zip(twice.chunks_exact(60)) {
            assert!(once[..50].iter().zip(&twice[..50]).all(|(a, b)| (2.0 * a - b).abs() < 1e-6));
            assert!(twice[50..].iter().all(|value| *value == 0.0), "nothing beside the columns is written");
        }
    }
}
