//! Sums, norms and soft maxima. The order of every sum is fixed, so the result does not depend on the thread count.

use super::{
    Mat, MatMut, for_rows, for_rows2, math,
    simd::{LANES, simd_kernel},
};
use rayon::prelude::*;

/// Adds partial sums in one fixed tree.
pub(crate) fn tree(lanes: [f32; LANES]) -> f32 {
    let mut sums = lanes;
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
        half /= 2;
    }
    sums[0]
}

simd_kernel! {
    pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
        let n = a.len();
        let b = &b[..n];
        let mut sums = [0.0_f32; LANES];
        let whole = n / LANES * LANES;
        for (a, b) in a[..whole].chunks_exact(LANES).zip(b[..whole].chunks_exact(LANES)) {
            for k in 0..LANES { sums[k] = a[k].mul_add(b[k], sums[k]); }
        }
        for i in whole..n { sums[i - whole] = a[i].mul_add(b[i], sums[i - whole]); }
        tree(sums)
    }
}

simd_kernel! {
    pub(crate) fn sum(a: &[f32]) -> f32 {
        let mut sums = [0.0_f32; LANES];
        let (whole, rest) = a.as_chunks::<LANES>();
        for a in whole {
            for k in 0..LANES { sums[k] += a[k]; }
        }
        for (s, a) in sums.iter_mut().zip(rest) { *s += a; }
        tree(sums)
    }
}

simd_kernel! {
    pub(crate) fn max_with(a: &mut [f32], bias: &[f32]) -> f32 {
        let mut best = [f32::NEG_INFINITY; LANES];
        if !bias.is_empty() {
            for (a, b) in a.iter_mut().zip(bias) { *a += b; }
        }
        let (whole, rest) = a.as_chunks::<LANES>();
        for a in whole {
            for k in 0..LANES { best[k] = if a[k] > best[k] { a[k] } else { best[k] }; }
        }
        for (m, a) in best.iter_mut().zip(rest) { *m = if *a > *m { *a } else { *m }; }
        best.into_iter().fold(f32::NEG_INFINITY, f32::max)
    }
}

simd_kernel! {
    fn exp_in_place(a: &mut [f32], max: f32) -> f32 {
        let mut sums = [0.0_f32; LANES];
        let (whole, rest) = a.as_chunks_mut::<LANES>();
        for a in whole {
            for k in 0..LANES { a[k] = math::exp(a[k] - max); sums[k] += a[k]; }
        }
        for (s, a) in sums.iter_mut().zip(rest) { *a = math::exp(*a - max); *s += *a; }
        tree(sums)
    }
}

simd_kernel! {
    pub(crate) fn exp_sum(a: &[f32], max: f32) -> f32 {
        let mut sums = [0.0_f32; LANES];
        let (whole, rest) = a.as_chunks::<LANES>();
        for a in whole {
            for k in 0..LANES { sums[k] += math::exp(a[k] - max); }
        }
        for (s, a) in sums.iter_mut().zip(rest) { *s += math::exp(*a - max); }
        tree(sums)
    }
}

simd_kernel! {
    pub(crate) fn scale_in_place(a: &mut [f32], factor: f32) {
        for a in a { *a *= factor; }
    }
}

simd_kernel! {
    fn subtract_in_place(a: &mut [f32], value: f32) {
        for a in a { *a -= value; }
    }
}

/// In place `x ← scale·softmax(x + bias)`, and the log-sum-exp of `x + bias` into `lse`.
pub(crate) fn softmax(x: MatMut<'_>, lse: MatMut<'_>, bias: Option<Mat<'_>>, scale: f32) {
    let bias = bias.map_or(&[][..], |b| b.row(0));
    for_rows2(x, lse, |_, x, lse| {
        lse[0] = softmax_row(x, bias, scale);
    });
}

/// In place `x ← scale·softmax(x + bias)`; returns the log-sum-exp of `x + bias`.
pub(crate) fn softmax_row(x: &mut [f32], bias: &[f32], scale: f32) -> f32 {
    let max = max_with(x, bias);
    let total = exp_in_place(x, max);
    scale_in_place(x, scale / total);
    max + total.ln()
}

/// In place `x ← x + bias − lse`, and the log-sum-exp into `lse`.
pub(crate) fn log_softmax(x: MatMut<'_>, lse: MatMut<'_>, bias: Option<Mat<'_>>) {
    let bias = bias.map_or(&[][..], |b| b.row(0));
    for_rows2(x, lse, |_, x, lse| lse[0] = log_softmax_row(x, bias));
}

/// In place `x ← x + bias − lse`; returns lse.
pub(crate) fn log_softmax_row(x: &mut [f32], bias: &[f32]) -> f32 {
    let max = max_with(x, bias);
    let value = max + exp_sum(x, max).ln();
    subtract_in_place(x, value);
    value
}

/// `out = alpha·(a·b) + beta·out`, row by row.
pub(crate) fn row_dot(out: MatMut<'_>, a: Mat<'_>, b: Mat<'_>, alpha: f32, beta: f32) {
    for_rows(out, |r, out| {
        let kept = if beta == 0.0 { 0.0 } else { beta * out[0] };
        out[0] = alpha.mul_add(dot(a.row(r), b.row(r)), kept);
    });
}

simd_kernel! {
    fn add_row(out: &mut [f32], x: &[f32]) {
        for (o, x) in out.iter_mut().zip(x) { *o += x; }
    }
}

simd_kernel! {
    fn add_four_rows(out: &mut [f32], x: [&[f32]; 4]) {
        let n = out.len();
        let [a, b, c, d] = x.map(|row| &row[..n]);
        for i in 0..n { out[i] += (a[i] + b[i]) + (c[i] + d[i]); }
    }
}

/// `out = Σ rows of x`, or added to `out`.
pub(crate) fn column_sums(mut out: MatMut<'_>, x: Mat<'_>, accumulate: bool) {
    let piece = if x.rows * x.cols < super::PARALLEL_FROM {
        x.cols.max(1)
    } else {
        x.cols.div_ceil(rayon::current_num_threads()).max(64)
    };
    out.row(0).par_chunks_mut(piece).enumerate().for_each(|(k, out)| {
        if !accumulate {
            out.fill(0.0);
        }
        let row = |r: usize| &x.row(r)[k * piece..];
        let fours = x.rows / 4 * 4;
        (0..fours).step_by(4).for_each(|r| add_four_rows(out, [row(r), row(r + 1), row(r + 2), row(r + 3)]));
        (fours..x.rows).for_each(|r| add_row(out, row(r)));
    });
}

/// Values one partial sum of [`squared_norm`] covers.
const NORM_BLOCK: usize = 1 << 15;

/// Σ x².
pub(crate) fn squared_norm(x: &[f32]) -> f64 {
    let partial: Vec<f64> = x
        .par_chunks(NORM_BLOCK)
        .map(|block| block.chunks(1024).map(|piece| f64::from(dot(piece, piece))).sum())
        .collect();
    partial.iter().sum()
}
