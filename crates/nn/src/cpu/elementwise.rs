//! Element-wise kernels: `FiLM`, activations, the dropped-out sine, scaled sums.

use super::{Mat, MatMut, for_rows, for_rows2, math, random::DropoutKey, simd::simd_kernel};
use crate::kinds::Activation;

/// A dropped value is stored as −0.0, which no kept value can be: the backward pass reads the mask from it.
const DROPPED_BITS: u32 = 0x8000_0000;

simd_kernel! {
    fn film_row(h: &mut [f32], hx: &[f32], scale: &[f32], shift: &[f32], hi: &[f32]) {
        let n = h.len();
        let (hx, scale, shift, hi) = (&hx[..n], &scale[..n], &shift[..n], &hi[..n]);
        for i in 0..n {
            h[i] = (1.0 + scale[i]).mul_add(hx[i], shift[i] + hi[i]);
        }
    }
}

/// `h = (1 + α)⊙hx + ε + hi` with `[α | ε]` the row of `ss` that `of_row` names.
pub(crate) fn film(h: MatMut<'_>, hx: Mat<'_>, ss: Mat<'_>, hi: Mat<'_>, of_row: impl Fn(usize) -> usize + Sync) {
    for_rows(h, |r, h| {
        let (scale, shift) = ss.row(of_row(r)).split_at(h.len());
        film_row(h, hx.row(r), scale, shift, hi.row(r));
    });
}

simd_kernel! {
    fn film_backward_row(dhx: &mut [f32], dss: &mut [f32], dh: &[f32], hx: &[f32], scale: &[f32]) {
        let n = dhx.len();
        let (d_scale, d_shift) = dss.split_at_mut(n);
        let (d_shift, dh, hx, scale) = (&mut d_shift[..n], &dh[..n], &hx[..n], &scale[..n]);
        for i in 0..n {
            d_scale[i] = dh[i] * hx[i];
            d_shift[i] = dh[i];
            dhx[i] = dh[i] * (1.0 + scale[i]);
        }
    }
}

/// Gradients of [`film`]: `dss = [dh⊙hx | dh]`, `dhx = dh⊙(1 + α)`; that of `hi` is `dh` itself.
pub(crate) fn film_backward(dhx: MatMut<'_>, dss: MatMut<'_>, dh: Mat<'_>, hx: Mat<'_>, ss: Mat<'_>) {
    for_rows2(dhx, dss, |r, dhx, dss| film_backward_row(dhx, dss, dh.row(r), hx.row(r), ss.row(r)));
}

simd_kernel! {
    fn film_input_gradient_row(dhx: &mut [f32], dh: &[f32], scale: &[f32]) {
        let n = dhx.len();
        let (dh, scale) = (&dh[..n], &scale[..n]);
        for i in 0..n { dhx[i] = dh[i] * (1.0 + scale[i]); }
    }
}

/// `dhx = dh⊙(1 + α)`, α in the row of `ss` that `of_row` names.
pub(crate) fn film_input_gradient(dhx: MatMut<'_>, dh: Mat<'_>, ss: Mat<'_>, of_row: impl Fn(usize) -> usize + Sync) {
    for_rows(dhx, |r, dhx| film_input_gradient_row(dhx, dh.row(r), ss.row(of_row(r))));
}

simd_kernel! {
    fn add_film_gradient(d_scale: &mut [f32], d_shift: &mut [f32], dh: &[f32], hx: &[f32]) {
        let n = d_scale.len();
        let (d_shift, dh, hx) = (&mut d_shift[..n], &dh[..n], &hx[..n]);
        for i in 0..n {
            d_scale[i] = dh[i].mul_add(hx[i], d_scale[i]);
            d_shift[i] += dh[i];
        }
    }
}

/// `dss = Σ [dh⊙hx | dh]` over the members of each group.
pub(crate) fn film_group_gradient<'a>(
    dss: MatMut<'_>,
    dh: Mat<'_>,
    hx: Mat<'_>,
    members: impl Fn(usize) -> &'a [u32] + Sync,
) {
    for_rows(dss, |group, dss| {
        dss.fill(0.0);
        let (d_scale, d_shift) = dss.split_at_mut(dh.cols);
        for row in members(group) {
            add_film_gradient(d_scale, d_shift, dh.row(*row as usize), hx.row(*row as usize));
        }
    });
}

simd_kernel! {
    fn gelu_row(y: &mut [f32], x: &[f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = 0.5 * x * (1.0 + math::erf(x * std::f32::consts::FRAC_1_SQRT_2));
        }
    }
}
simd_kernel! {
    fn relu_row(y: &mut [f32], x: &[f32]) {
        for (y, x) in y.iter_mut().zip(x) { *y = x.max(0.0); }
    }
}
simd_kernel! {
    fn gelu_backward_row(dx: &mut [f32], x: &[f32], dy: &[f32]) {
        const INV_SQRT_2PI: f32 = 0.398_942_3;
        for ((dx, x), dy) in dx.iter_mut().zip(x).zip(dy) {
            let cdf = 0.5 * (1.0 + math::erf(x * std::f32::consts::FRAC_1_SQRT_2));
            *dx = dy * (x * INV_SQRT_2PI).mul_add(math::exp(-0.5 * x * x), cdf);
        }
    }
}
simd_kernel! {
    fn relu_backward_row(dx: &mut [f32], x: &[f32], dy: &[f32]) {
        for ((dx, x), dy) in dx.iter_mut().zip(x).zip(dy) { *dx = if *x > 0.0 { *dy } else { 0.0 }; }
    }
}
simd_kernel! {
    fn sine_row(y: &mut [f32], x: &[f32], w0: f32) {
        for (y, x) in y.iter_mut().zip(x) { *y = math::sin(w0 * x); }
    }
}
simd_kernel! {
    fn sine_backward_row(dx: &mut [f32], x: &[f32], dy: &[f32], w0: f32) {
        for ((dx, x), dy) in dx.iter_mut().zip(x).zip(dy) { *dx = dy * w0 * math::cos(w0 * x); }
    }
}

/// `y = f(x)`.
pub(crate) fn activate(kind: Activation, y: MatMut<'_>, x: Mat<'_>) {
    for_rows(y, |r, y| match kind {
        Activation::Gelu => gelu_row(y, x.row(r)),
        Activation::Relu => relu_row(y, x.row(r)),
        Activation::Sine { w0 } => sine_row(y, x.row(r), w0),
    });
}

/// `dx = dy⊙f′(x)`.
pub(crate) fn activate_backward(kind: Activation, dx: MatMut<'_>, x: Mat<'_>, dy: Mat<'_>) {
    for_rows(dx, |r, dx| match kind {
        Activation::Gelu => gelu_backward_row(dx, x.row(r), dy.row(r)),
        Activation::Relu => relu_backward_row(dx, x.row(r), dy.row(r)),
        Activation::Sine { w0 } => sine_backward_row(dx, x.row(r), dy.row(r), w0),
    });
}

/// Dropout of `z` in place, then `y = sin(w0·z)`.
pub(crate) fn dropout_sine(y: MatMut<'_>, z: MatMut<'_>, w0: f32, key: DropoutKey) {
    for_rows2(y, z, |r, y, z| {
        key.apply(r, z);
        sine_row(y, z, w0);
    });
}

simd_kernel! {
    fn dropout_sine_backward_row(dz: &mut [f32], z: &[f32], dy: &[f32], w0: f32, scale: f32) {
        let gain = w0 * scale;
        for ((dz, z), dy) in dz.iter_mut().zip(z).zip(dy) {
            let kept = z.to_bits() != DROPPED_BITS;
            let slope = dy * gain * math::cos(w0 * z);
            *dz = if kept { slope } else { 0.0 };
        }
    }
}

/// `dz = dy⊙w0·cos(w0·z)⊙mask/(1−p)`, the mask read from the stored `z`.
pub(crate) fn dropout_sine_backward(dz: MatMut<'_>, z: Mat<'_>, dy: Mat<'_>, w0: f32, scale: f32) {
    for_rows(dz, |r, dz| dropout_sine_backward_row(dz, z.row(r), dy.row(r), w0, scale));
}

/// Dropout of `y` in place; dropped values are left as −0.0.
pub(crate) fn dropout(y: MatMut<'_>, key: DropoutKey) {
    for_rows(y, |r, y| key.apply(r, y));
}

/// `dy ← dy⊙mask·scale`, the mask read from what [`dropout`] left.
pub(crate) fn dropout_backward(dy: MatMut<'_>, y: Mat<'_>, scale: f32) {
    for_rows(dy, |r, dy| {
        for (dy, y) in dy.iter_mut().zip(y.row(r)) {
            *dy = if y.to_bits() == DROPPED_BITS { 0.0 } else { *dy * scale };
        }
    });
}

simd_kernel! {
    fn axpby_row(y: &mut [f32], a: f32, x: &[f32], b: f32) {
        if b == 0.0 {
            for (y, x) in y.iter_mut().zip(x) { *y = a * x; }
        } else {
            for (y, x) in y.iter_mut().zip(x) { *y = a.mul_add(*x, b * *y); }
        }
    }
}

/// `y = a·x + b·y`; with `b = 0` what `y` held does not matter.
pub(crate) fn axpby(y: MatMut<'_>, a: f32, x: Mat<'_>, b: f32) {
    for_rows(y, |r, y| axpby_row(y, a, x.row(r), b));
}

/// `y ← factor·y`.
pub(crate) fn scale(y: MatMut<'_>, factor: f32) {
    for_rows(y, |_, y| super::reduce::scale_in_place(y, factor));
}

simd_kernel! {
    fn mix_row(out: &mut [f32], a: &[f32], b: &[f32], ca: f32, cb: f32) {
        for ((o, a), b) in out.iter_mut().zip(a).zip(b) { *o = ca.mul_add(*a, cb * b); }
    }
}

/// Row r: `out = c[t_r, 0]·a + c[t_r, 1]·b`.
pub(crate) fn mix_rows(out: MatMut<'_>, a: Mat<'_>, b: Mat<'_>, coefficients: Mat<'_>, t: &[u32]) {
    for_rows(out, |r, out| {
        let c = coefficients.row(t[r] as usize);
        mix_row(out, a.row(r), b.row(r), c[0], c[1]);
    });
}

/// Row r: `out = table[t_r]`.
pub(crate) fn gather_rows(out: MatMut<'_>, table: Mat<'_>, indices: &[u32]) {
    for_rows(out, |r, out| out.copy_from_slice(table.row(indices[r] as usize)));
}

/// Sines in the left half, cosines in the right, of `t` times geometric frequencies from 1 down to 1/10⁴.
pub(crate) fn sinusoidal(out: MatMut<'_>, t: Mat<'_>) {
    let half = out.cols / 2;
    for_rows(out, |r, out| {
        let t = t.row(r)[0];
        let (sines, cosines) = out.split_at_mut(half);
        for j in 0..half {
            let angle = t * frequency(j, half);
            sines[j] = angle.sin();
            cosines[j] = angle.cos();
        }
    });
}

/// `10⁻⁴^(j / (half − 1))`, rounded to f32 as `PyTorch` rounds it.
fn frequency(j: usize, half: usize) -> f32 {
    let denominator = half.saturating_sub(1).max(1) as f32;
    (-(10_000.0_f64.ln() as f32) * j as f32 / denominator).exp()
}
