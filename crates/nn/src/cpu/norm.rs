//! Layer norm (affine and adaptive) and row normalisation.

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
    fn modulate_row(y: &mut [f32], gain: &[f32], shift: &[f32], offset: f32, rstd: f32) {
        let n = y.len();
        let (gain, shift) = (&gain[..n], &shift[..n]);
        for i in 0..n { y[i] = (offset + gain[i]).mul_add(y[i] * rstd, shift[i]); }
    }
}

/// `y = (offset + gain)⊙x̂ + shift`; `stats` keeps each row's mean and reciprocal deviation.
pub(crate) fn layer_norm(y: MatMut<'_>, stats: MatMut<'_>, x: Mat<'_>, gain_shift: Mat<'_>, offset: f32, eps: f32) {
    for_rows2(y, stats, |r, y, stats| {
        let (gain, shift) = gain_shift.row(r).split_at(x.cols);
        (stats[0], stats[1]) = layer_norm_row(y, x.row(r), gain, shift, offset, eps);
    });
}

/// `y = (offset + gain)⊙x̂ + shift` of one row; returns its mean and reciprocal deviation.
pub(crate) fn layer_norm_row(
    y: &mut [f32],
    x: &[f32],
    gain: &[f32],
    shift: &[f32],
    offset: f32,
    eps: f32,
) -> (f32, f32) {
    let n = x.len() as f32;
    let mean = sum(x) / n;
    centre_row(y, x, mean);
    let rstd = 1.0 / (dot(y, y) / n + eps).sqrt();
    modulate_row(y, gain, shift, offset, rstd);
    (mean, rstd)
}

simd_kernel! {
    fn norm_backward_row(
        dx: &mut [f32], d_gain: &mut [f32], dy: &[f32], x: &[f32], gain: &[f32], offset: f32, mean: f32, rstd: f32,
    ) {
        let n = dx.len();
        let (d_gain, dy, x, gain) = (&mut d_gain[..n], &dy[..n], &x[..n], &gain[..n]);
        for i in 0..n {
            let x_hat = (x[i] - mean) * rstd;
            d_gain[i] = dy[i] * x_hat;
            dx[i] = dy[i] * (offset + gain[i]);
        }
    }
}

simd_kernel! {
    fn project_row(dx: &mut [f32], x: &[f32], mean: f32, rstd: f32, mean_d: f32, mean_dx: f32) {
        for (d, x) in dx.iter_mut().zip(x) {
            let x_hat = (x - mean) * rstd;
            *d = rstd * (*d - mean_d - x_hat * mean_dx);
        }
    }
}

/// Gradients of [`layer_norm`]: `dx`, and `d_gain_shift = [dy⊙x̂ | dy]` row by row.
pub(crate) fn layer_norm_backward(
    dx: MatMut<'_>,
    d_gain_shift: MatMut<'_>,
    dy: Mat<'_>,
    x: Mat<'_>,
    stats: Mat<'_>,
    gain_shift: Mat<'_>,
    offset: f32,
) {
    let n = x.cols;
    for_rows2(dx, d_gain_shift, |r, dx, d_gain_shift| {
        let (mean, rstd) = (stats.row(r)[0], stats.row(r)[1]);
        let (d_gain, d_shift) = d_gain_shift.split_at_mut(n);
        let gain = &gain_shift.row(r)[..n];
        norm_backward_row(dx, d_gain, dy.row(r), x.row(r), gain, offset, mean, rstd);
        d_shift.copy_from_slice(dy.row(r));
        // mean of g and of g⊙x̂ with g = dy⊙(offset + gain); d_shift holds dy, d_gain dy⊙x̂.
        let mean_d = sum(dx) / n as f32;
        let mean_dx = (dot(d_gain, gain) + offset * sum(d_gain)) / n as f32;
        project_row(dx, x.row(r), mean, rstd, mean_d, mean_dx);
    });
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
