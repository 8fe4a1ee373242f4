//! Element-wise operations.

use crate::cpu::{for_rows, for_rows2, math};
use crate::kernel_args::{LaunchGrid, expect_shapes, run};
use crate::ops::{Activation, Dropout};
use crate::{Indices, Result, View, ViewMut, cpu::reduce::scale_in_place, cpu::simd::simd_kernel, error::check_shape};
use std::f32::consts::FRAC_1_SQRT_2;

/// A dropped value is stored as −0.0, which no kept value can be: the backward pass reads the mask from it.
const DROPPED_BITS: u32 = 0x8000_0000;

simd_kernel! {
    pub(super) fn film_row(h: &mut [f32], hx: &[f32], scale: &[f32], shift: &[f32], hi: &[f32]) {
        let n = h.len();
        let (hx, scale, shift, hi) = (&hx[..n], &scale[..n], &shift[..n], &hi[..n]);
        for i in 0..n {
            h[i] = (1.0 + scale[i]).mul_add(hx[i], shift[i] + hi[i]);
        }
    }

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

    fn gelu_row(y: &mut [f32], x: &[f32]) {
        for (y, x) in y.iter_mut().zip(x) { *y = 0.5 * x * (1.0 + math::erf(x * FRAC_1_SQRT_2)); }
    }

    fn relu_row(y: &mut [f32], x: &[f32]) {
        for (y, x) in y.iter_mut().zip(x) { *y = x.max(0.0); }
    }

    fn sine_row(y: &mut [f32], x: &[f32], w0: f32) {
        for (y, x) in y.iter_mut().zip(x) { *y = math::sin(w0 * x); }
    }

    fn gelu_backward_row(dx: &mut [f32], x: &[f32], dy: &[f32]) {
        const INV_SQRT_2PI: f32 = 0.398_942_3;
        for ((dx, x), dy) in dx.iter_mut().zip(x).zip(dy) {
            let cdf = 0.5 * (1.0 + math::erf(x * FRAC_1_SQRT_2));
            *dx = dy * (x * INV_SQRT_2PI).mul_add(math::exp(-0.5 * x * x), cdf);
        }
    }

    fn relu_backward_row(dx: &mut [f32], x: &[f32], dy: &[f32]) {
        for ((dx, x), dy) in dx.iter_mut().zip(x).zip(dy) { *dx = if *x > 0.0 { *dy } else { 0.0 }; }
    }

    fn sine_backward_row(dx: &mut [f32], x: &[f32], dy: &[f32], w0: f32) {
        for ((dx, x), dy) in dx.iter_mut().zip(x).zip(dy) { *dx = dy * w0 * math::cos(w0 * x); }
    }

    fn dropout_sine_backward_row(dz: &mut [f32], z: &[f32], dy: &[f32], w0: f32, scale: f32) {
        let gain = w0 * scale;
        for ((dz, z), dy) in dz.iter_mut().zip(z).zip(dy) {
            let kept = z.to_bits() != DROPPED_BITS;
            let slope = dy * gain * math::cos(w0 * z);
            *dz = if kept { slope } else { 0.0 };
        }
    }

    fn axpby_row(y: &mut [f32], a: f32, x: &[f32], b: f32) {
        if b == 0.0 {
            for (y, x) in y.iter_mut().zip(x) { *y = a * x; }
        } else {
            for (y, x) in y.iter_mut().zip(x) { *y = a.mul_add(*x, b * *y); }
        }
    }

    fn mix_row(out: &mut [f32], a: &[f32], b: &[f32], ca: f32, cb: f32) {
        for ((o, a), b) in out.iter_mut().zip(a).zip(b) { *o = ca.mul_add(*a, cb * b); }
    }
}

/// `y = f(x)`.
pub fn activate(kind: Activation, y: ViewMut<'_>, x: View<'_>) -> Result<()> {
    const OP: &str = "activate";
    expect_shapes!(OP, y.rows, y.cols; x);
    let (code, w0) = kind.kernel_args();
    run!(OP, LaunchGrid::each(&y), [&y, x, y.cols, code, w0]; y, x => for_rows(y, |r, y| match kind {
        Activation::Gelu => gelu_row(y, x.row(r)),
        Activation::Relu => relu_row(y, x.row(r)),
        Activation::Sine { w0 } => sine_row(y, x.row(r), w0),
    }))
}

/// `dx = dy⊙f′(x)`.
pub fn activate_backward(kind: Activation, dx: ViewMut<'_>, x: View<'_>, dy: View<'_>) -> Result<()> {
    const OP: &str = "activate_backward";
    expect_shapes!(OP, dx.rows, dx.cols; x, dy);
    let (code, w0) = kind.kernel_args();
    run!(OP, LaunchGrid::each(&dx), [&dx, x, dy, dx.cols, code, w0]; dx, x, dy => for_rows(dx, |r, dx| match kind {
        Activation::Gelu => gelu_backward_row(dx, x.row(r), dy.row(r)),
        Activation::Relu => relu_backward_row(dx, x.row(r), dy.row(r)),
        Activation::Sine { w0 } => sine_backward_row(dx, x.row(r), dy.row(r), w0),
    }))
}

/// Dropout of `z` in place, then `y = sin(w0·z)`: the end of a C-Siren block.
/// Dropped values of `z` are left as −0.0, from which [`dropout_sine_backward`] reads the mask.
pub fn dropout_sine(y: ViewMut<'_>, z: ViewMut<'_>, w0: f32, dropout: Option<Dropout<'_>>) -> Result<()> {
    const OP: &str = "dropout_sine";
    expect_shapes!(OP, y.rows, y.cols; z);
    let Some(dropout) = dropout.filter(|dropout| dropout.probability > 0.0) else {
        return activate(Activation::Sine { w0 }, y, z.as_view());
    };
    let (threshold, scale) = dropout.threshold_and_scale();
    run!(OP, LaunchGrid::fours(&y), [&y, &z, y.cols, w0, dropout.rng, dropout.stream, threshold, scale]; y, z, dropout =>
    for_rows2(y, z, |r, y, z| {
        dropout.apply(r, z);
        sine_row(y, z, w0);
    }))
}

/// `dz = dy⊙w0·cos(w0·z)`, times the mask and `1/(1−p)` where `probability` is above 0.
pub fn dropout_sine_backward(dz: ViewMut<'_>, z: View<'_>, dy: View<'_>, w0: f32, probability: f32) -> Result<()> {
    const OP: &str = "dropout_sine_backward";
    if probability <= 0.0 {
        return activate_backward(Activation::Sine { w0 }, dz, z, dy);
    }
    expect_shapes!(OP, dz.rows, dz.cols; z, dy);
    let scale = 1.0 / (1.0 - probability);
    run!(OP, LaunchGrid::fours(&dz), [&dz, z, dy, dz.cols, w0, scale]; dz, z, dy =>
        for_rows(dz, |r, dz| dropout_sine_backward_row(dz, z.row(r), dy.row(r), w0, scale)))
}

/// Dropout of `y` in place; dropped values are left as −0.0, from which [`dropout_backward`] reads the mask.
pub fn dropout(y: ViewMut<'_>, dropout: Dropout<'_>) -> Result<()> {
    if dropout.probability <= 0.0 {
        return Ok(());
    }
    let (threshold, scale) = dropout.threshold_and_scale();
    run!("dropout", LaunchGrid::each(&y), [&y, y.cols, dropout.rng, dropout.stream, threshold, scale]; y, dropout =>
        for_rows(y, |r, y| dropout.apply(r, y)))
}

/// The gradient before a [`dropout`] from the one after it, in place; `y` is what the dropout left.
pub fn dropout_backward(dy: ViewMut<'_>, y: View<'_>, probability: f32) -> Result<()> {
    const OP: &str = "dropout_backward";
    expect_shapes!(OP, dy.rows, dy.cols; y);
    if probability <= 0.0 {
        return Ok(());
    }
    let scale = 1.0 / (1.0 - probability);
    run!(OP, LaunchGrid::each(&dy), [&dy, y, dy.cols, scale]; dy, y => for_rows(dy, |r, dy| {
        for (dy, y) in dy.iter_mut().zip(y.row(r)) {
            *dy = if y.to_bits() == DROPPED_BITS { 0.0 } else { *dy * scale };
        }
    }))
}

/// `FiLM` with a condition: `h = (1 + α)⊙hx + ε + hi`, where `ss = [α | ε]` is twice as wide.
pub fn film(h: ViewMut<'_>, hx: View<'_>, ss: View<'_>, hi: View<'_>) -> Result<()> {
    const OP: &str = "film";
    expect_shapes!(OP, h.rows, h.cols; hx, hi);
    expect_shapes!(OP, h.rows, 2 * h.cols; ss);
    run!(OP, LaunchGrid::fours(&h), [&h, hx, ss, hi, h.cols]; h, hx, ss, hi => for_rows(h, |r, h| {
        let (scale, shift) = ss.row(r).split_at(h.len());
        film_row(h, hx.row(r), scale, shift, hi.row(r));
    }))
}

/// Gradients of [`film`]: `dhx = dh⊙(1 + α)` and `dss = [dh⊙hx | dh]`; that of `hi` is `dh` itself.
pub fn film_backward(dhx: ViewMut<'_>, dss: ViewMut<'_>, dh: View<'_>, hx: View<'_>, ss: View<'_>) -> Result<()> {
    const OP: &str = "film_backward";
    expect_shapes!(OP, dhx.rows, dhx.cols; dh, hx);
    expect_shapes!(OP, dhx.rows, 2 * dhx.cols; ss, dss);
    run!(OP, LaunchGrid::fours(&dhx), [&dhx, &dss, dh, hx, ss, dhx.cols]; dhx, dss, dh, hx, ss =>
        for_rows2(dhx, dss, |r, dhx, dss| film_backward_row(dhx, dss, dh.row(r), hx.row(r), ss.row(r))))
}

/// `y = a·x + b·y`; with `b = 0` what `y` held is ignored.
pub fn axpby(y: ViewMut<'_>, a: f32, x: View<'_>, b: f32) -> Result<()> {
    const OP: &str = "axpby";
    expect_shapes!(OP, y.rows, y.cols; x);
    run!(OP, LaunchGrid::each(&y), [&y, x, y.cols, a, b]; y, x => for_rows(y, |r, y| axpby_row(y, a, x.row(r), b)))
}

/// `y ← factor·y`.
pub fn scale(y: ViewMut<'_>, factor: f32) -> Result<()> {
    run!("scale", LaunchGrid::each(&y), [&y, y.cols, factor]; y => for_rows(y, |_, y| scale_in_place(y, factor)))
}

/// Copies `x` into `y`. Between column ranges it concatenates and splits.
///
/// ```
/// use locdiff_nn::{Device, Tensor, ops};
/// let device = Device::cpu();
/// let (a, b) = (Tensor::from_slice(&device, 2, 1, &[1.0, 2.0])?, Tensor::from_slice(&device, 2, 1, &[3.0, 4.0])?);
/// let mut both = Tensor::zeros(&device, 2, 2)?;
/// ops::copy(both.view_mut().columns(0..1), a.view())?;
/// ops::copy(both.view_mut().columns(1..2), b.view())?;
/// assert_eq!(both.to_vec()?, [1.0, 3.0, 2.0, 4.0]);
/// # Ok::<(), locdiff_nn::NnError>(())
/// ```
pub fn copy(y: ViewMut<'_>, x: View<'_>) -> Result<()> {
    axpby(y, 1.0, x, 0.0)
}

/// Row r: `out = table[indices[r]]`. An index past the table is an error on the CPU and undefined on CUDA.
pub fn gather_rows(out: ViewMut<'_>, table: View<'_>, indices: &Indices) -> Result<()> {
    const OP: &str = "gather_rows";
    expect_shapes!(OP, table.rows, out.cols; table);
    check_shape(indices.len() == out.rows, OP, || format!("{} indices for {} rows", indices.len(), out.rows))?;
    run!(OP, LaunchGrid::each(&out), [&out, table, indices, out.cols, table.rows]; out, table, indices => {
        check_indices(OP, indices, table.rows)?;
        for_rows(out, |r, out| out.copy_from_slice(table.row(indices[r] as usize)));
    })
}

/// Row r: `out = c[t_r, 0]·a + c[t_r, 1]·b`: noising with signal and noise levels per time step, and v targets.
/// An index past the coefficients is an error on the CPU and undefined on CUDA.
pub fn mix_rows(out: ViewMut<'_>, a: View<'_>, b: View<'_>, coefficients: View<'_>, t: &Indices) -> Result<()> {
    const OP: &str = "mix_rows";
    expect_shapes!(OP, out.rows, out.cols; a, b);
    expect_shapes!(OP, coefficients.rows, 2; coefficients);
    check_shape(t.len() == out.rows, OP, || format!("{} time steps for {} rows", t.len(), out.rows))?;
    let steps = coefficients.rows;
    run!(OP, LaunchGrid::each(&out), [&out, a, b, coefficients, t, out.cols, steps]; out, a, b, coefficients, t => {
        check_indices(OP, t, steps)?;
        for_rows(out, |r, out| {
            let c = coefficients.row(t[r] as usize);
            mix_row(out, a.row(r), b.row(r), c[0], c[1]);
        });
    })
}

fn check_indices(op: &'static str, indices: &[u32], rows: usize) -> Result<()> {
    match indices.iter().find(|&&index| index as usize >= rows) {
        None => Ok(()),
        Some(index) => check_shape(false, op, || format!("index {index} in a table of {rows} rows")),
    }
}

/// The sinusoidal embedding of `t` (one column): sines left, cosines right, frequencies `10⁻⁴^(j/(half−1))`, rounded to
/// f32 as `PyTorch` rounds them.
pub fn sinusoidal(out: ViewMut<'_>, t: View<'_>) -> Result<()> {
    const OP: &str = "sinusoidal";
    expect_shapes!(OP, out.rows, 1; t);
    check_shape(out.cols.is_multiple_of(2), OP, || format!("odd width {}", out.cols))?;
    let half = out.cols / 2;
    let denominator = half.saturating_sub(1).max(1) as f32;
    let frequency = |j: usize| (-(10_000.0_f64.ln() as f32) * j as f32 / denominator).exp();
    run!(OP, LaunchGrid::Elements { rows: out.rows, cols: half }, [&out, t, half]; out, t => for_rows(out, |r, out| {
        let t = t.row(r)[0];
        let (sines, cosines) = out.split_at_mut(half);
        for j in 0..half {
            let angle = t * frequency(j);
            sines[j] = angle.sin();
            cosines[j] = angle.cos();
        }
    }))
}
