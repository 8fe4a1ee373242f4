//! Layer norm and row normalisation.

use super::{
    Mat, MatMut, for_rows, for_rows2,
    reduce::{dot, scale_in_place, sum},
    simd::simd_kernel,
};

simd_kernel! {
    fn centre_row(out: &mut [f32], x: &[f32], mean: f32) {
        for (o, x) in out.iter_mut().zip(x) { *o = x - mean; }
    }
}

simd_kernel! {
    fn modulate_row(y: &mut [f32], gain: &[f32], shift: &[f32], rstd: f32) {
        let n = y.len();
        let (gain, shift) = (&gain[..n], &shift[..n]);
        for i in 0..n { y[i] = gain[i].mul_add(y[i] * rstd, shift[i]); }
    }
}

/// `y = gain⊙x̂ + shift`.
pub(crate) fn layer_norm(y: MatMut<'_>, x: Mat<'_>, gain_shift: Mat<'_>, eps: f32) {
    for_rows(y, |r, y| {
        let (gain, shift) = gain_shift.row(r).split_at(x.cols);
        layer_norm_row(y, x.row(r), gain, shift, eps);
    });
}

/// `y = gain⊙x̂ + shift` of one row.
pub(crate) fn layer_norm_row(y: &mut [f32], x: &[f32], gain: &[f32], shift: &[f32], eps: f32) {
    let n = x.len() as f32;
    centre_row(y, x, sum(x) / n);
    let rstd = 1.0 / (dot(y, y) / n + eps).sqrt();
    modulate_row(y, gain, shift, rstd);
}

/// `y = x / max(|x|, eps)`; `norms` keeps the lengths.
pub(crate) fn normalise(y: MatMut<'_>, norms: MatMut<'_>, x: Mat<'_>, eps: f32) {
    for_rows2(y, norms, |r, y, norm| {
        y.copy_from_slice(x.row(r));
        norm[0] = dot(y, y).sqrt().max(eps);
        scale_in_place(y, 1.0 / norm[0]);
    });
}

simd_kernel! {
    fn tangent_row(dx: &mut [f32], y: &[f32], dy: &[f32], along: f32, inverse: f32) {
        for ((d, y), dy) in dx.iter_mut().zip(y).zip(dy) { *d = (dy - y * along) * inverse; }
    }
}

/// `dx = (dy − y (y·dy)) / |x|`.
pub(crate) fn normalise_backward(dx: MatMut<'_>, dy: Mat<'_>, y: Mat<'_>, norms: Mat<'_>) {
    for_rows(dx, |r, dx| {
        let along = dot(y.row(r), dy.row(r));
        tangent_row(dx, y.row(r), dy.row(r), along, 1.0 / norms.row(r)[0]);
    });
}
