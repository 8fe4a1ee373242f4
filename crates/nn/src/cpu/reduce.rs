//! Sums, norms and soft maxima. The order of every sum is fixed, so the result does not depend on the thread count.

use super::{math, simd::LANES, simd::simd_kernel};
use rayon::prelude::*;

/// Adds partial sums in one fixed tree.
pub(crate) fn tree(mut sums: [f32; LANES]) -> f32 {
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

    pub(crate) fn sum(a: &[f32]) -> f32 {
        let mut sums = [0.0_f32; LANES];
        let (whole, rest) = a.as_chunks::<LANES>();
        for a in whole {
            for k in 0..LANES { sums[k] += a[k]; }
        }
        for (s, a) in sums.iter_mut().zip(rest) { *s += a; }
        tree(sums)
    }

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

    fn exp_in_place(a: &mut [f32], max: f32) -> f32 {
        let mut sums = [0.0_f32; LANES];
        let (whole, rest) = a.as_chunks_mut::<LANES>();
        for a in whole {
            for k in 0..LANES { a[k] = math::exp(a[k] - max); sums[k] += a[k]; }
        }
        for (s, a) in sums.iter_mut().zip(rest) { *a = math::exp(*a - max); *s += *a; }
        tree(sums)
    }

    pub(crate) fn exp_sum(a: &[f32], max: f32) -> f32 {
        let mut sums = [0.0_f32; LANES];
        let (whole, rest) = a.as_chunks::<LANES>();
        for a in whole {
            for k in 0..LANES { sums[k] += math::exp(a[k] - max); }
        }
        for (s, a) in sums.iter_mut().zip(rest) { *s += math::exp(*a - max); }
        tree(sums)
    }

    pub(crate) fn scale_in_place(a: &mut [f32], factor: f32) {
        for a in a { *a *= factor; }
    }

    pub(crate) fn add_row(out: &mut [f32], x: &[f32]) {
        for (o, x) in out.iter_mut().zip(x) { *o += x; }
    }

    pub(crate) fn add_four_rows(out: &mut [f32], x: [&[f32]; 4]) {
        let n = out.len();
        let [a, b, c, d] = x.map(|row| &row[..n]);
        for i in 0..n { out[i] += (a[i] + b[i]) + (c[i] + d[i]); }
    }
}

/// In place `x ← scale·softmax(x + bias)`; returns the log-sum-exp of `x + bias`.
pub(crate) fn softmax_row(x: &mut [f32], bias: &[f32], scale: f32) -> f32 {
    let max = max_with(x, bias);
    let total = exp_in_place(x, max);
    scale_in_place(x, scale / total);
    max + total.ln()
}

/// Σ x², in blocks of 2¹⁵ values.
pub(crate) fn squared_norm(x: &[f32]) -> f64 {
    let block = |block: &[f32]| block.chunks(1024).map(|piece| f64::from(dot(piece, piece))).sum();
    x.par_chunks(1 << 15).map(block).collect::<Vec<f64>>().iter().sum()
}
