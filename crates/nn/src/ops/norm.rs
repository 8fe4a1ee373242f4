//! Layer norm and row normalisation.

use crate::cpu::reduce::{dot, scale_in_place, sum};
use crate::kernel_args::{LaunchGrid, expect_shapes, run};
use crate::{Result, View, ViewMut, cpu::for_rows, cpu::for_rows2, cpu::simd::simd_kernel};

simd_kernel! {
    fn centre_row(out: &mut [f32], x: &[f32], mean: f32) {
        for (o, x) in out.iter_mut().zip(x) { *o = x - mean; }
    }

    fn modulate_row(y: &mut [f32], gain: &[f32], shift: &[f32], rstd: f32) {
        let n = y.len();
        let (gain, shift) = (&gain[..n], &shift[..n]);
        for i in 0..n { y[i] = gain[i].mul_add(y[i] * rstd, shift[i]); }
    }

    fn tangent_row(dx: &mut [f32], y: &[f32], dy: &[f32], along: f32, inverse: f32) {
        for ((d, y), dy) in dx.iter_mut().zip(y).zip(dy) { *d = (dy - y * along) * inverse; }
    }
}

/// `y = gain⊙(x − mean)/√(var + eps) + shift`, row by row, with `gain_shift = [gain | shift]`.
pub fn layer_norm(y: ViewMut<'_>, x: View<'_>, gain_shift: View<'_>, eps: f32) -> Result<()> {
    const OP: &str = "layer_norm";
    expect_shapes!(OP, y.rows, y.cols; x);
    expect_shapes!(OP, y.rows, 2 * y.cols; gain_shift);
    run!(OP, LaunchGrid::Rows(y.rows), [&y, x, gain_shift, y.cols, eps]; y, x, gain_shift => for_rows(y, |r, y| {
        let (gain, shift) = gain_shift.row(r).split_at(x.cols);
        layer_norm_row(y, x.row(r), gain, shift, eps);
    }))
}

/// [`layer_norm`] of one row on the CPU.
pub(crate) fn layer_norm_row(y: &mut [f32], x: &[f32], gain: &[f32], shift: &[f32], eps: f32) {
    let n = x.len() as f32;
    centre_row(y, x, sum(x) / n);
    let rstd = 1.0 / (dot(y, y) / n + eps).sqrt();
    modulate_row(y, gain, shift, rstd);
}

/// `y = x / max(|x|, eps)` row by row; `norms` (one column) keeps the lengths.
pub fn normalise(y: ViewMut<'_>, norms: ViewMut<'_>, x: View<'_>, eps: f32) -> Result<()> {
    const OP: &str = "normalise";
    expect_shapes!(OP, y.rows, y.cols; x);
    expect_shapes!(OP, y.rows, 1; norms);
    run!(OP, LaunchGrid::Rows(y.rows), [&y, &norms, x, y.cols, eps]; y, norms, x => for_rows2(y, norms, |r, y, norm| {
        y.copy_from_slice(x.row(r));
        norm[0] = dot(y, y).sqrt().max(eps);
        scale_in_place(y, 1.0 / norm[0]);
    }))
}

/// `dx = (dy − y (y·dy)) / |x|` row by row, for rows longer than [`normalise`]'s `eps`.
pub fn normalise_backward(dx: ViewMut<'_>, dy: View<'_>, y: View<'_>, norms: View<'_>) -> Result<()> {
    const OP: &str = "normalise_backward";
    expect_shapes!(OP, dx.rows, dx.cols; dy, y);
    expect_shapes!(OP, dx.rows, 1; norms);
    run!(OP, LaunchGrid::Rows(dx.rows), [&dx, dy, y, norms, dx.cols]; dx, dy, y, norms => for_rows(dx, |r, dx| {
        let along = dot(y.row(r), dy.row(r));
        tangent_row(dx, y.row(r), dy.row(r), along, 1.0 / norms.row(r)[0]);
    }))
}
