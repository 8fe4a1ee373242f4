//! Element-wise operations.

use crate::{
    Indices, Result, View, ViewMut, cpu,
    error::check_shape,
    kernel_args::{Grid, expect_shapes, on_cuda},
    ops::{Activation, Dropout},
};

/// `y = f(x)`.
pub fn activate(kind: Activation, y: ViewMut<'_>, x: View<'_>) -> Result<()> {
    const OP: &str = "activate";
    x.expect_shape(OP, "x", y.rows, y.cols)?;
    let (code, w0) = kind.kernel_args();
    on_cuda!(OP, y, Grid::each(&y), [&y, x, y.cols, code, w0]);
    cpu::elementwise::activate(kind, y.cpu(OP)?, x.cpu(OP)?);
    Ok(())
}

/// `dx = dy⊙f′(x)`.
pub fn activate_backward(kind: Activation, dx: ViewMut<'_>, x: View<'_>, dy: View<'_>) -> Result<()> {
    const OP: &str = "activate_backward";
    expect_shapes!(OP, dx.rows, dx.cols; x, dy);
    let (code, w0) = kind.kernel_args();
    on_cuda!(OP, dx, Grid::each(&dx), [&dx, x, dy, dx.cols, code, w0]);
    cpu::elementwise::activate_backward(kind, dx.cpu(OP)?, x.cpu(OP)?, dy.cpu(OP)?);
    Ok(())
}

/// Dropout of `z` in place, then `y = sin(w0·z)`: the end of a C-Siren block.
///
/// Dropped values of `z` are left as −0.0, from which [`dropout_sine_backward`] reads the mask.
pub fn dropout_sine(y: ViewMut<'_>, z: ViewMut<'_>, w0: f32, dropout: Option<Dropout<'_>>) -> Result<()> {
    const OP: &str = "dropout_sine";
    z.expect_shape(OP, "z", y.rows, y.cols)?;
    let Some(dropout) = dropout.filter(|dropout| dropout.probability > 0.0) else {
        return activate(Activation::Sine { w0 }, y, z.as_view());
    };
    let (threshold, scale) = dropout.threshold_and_scale();
    on_cuda!(OP, y, Grid::each(&y), [&y, &z, y.cols, w0, dropout.rng, dropout.stream, threshold, scale]);
    cpu::elementwise::dropout_sine(y.cpu(OP)?, z.cpu(OP)?, w0, dropout.cpu_key(OP)?);
    Ok(())
}

/// `dz = dy⊙w0·cos(w0·z)`, times the mask and `1/(1−p)` where `probability` is above 0.
pub fn dropout_sine_backward(dz: ViewMut<'_>, z: View<'_>, dy: View<'_>, w0: f32, probability: f32) -> Result<()> {
    const OP: &str = "dropout_sine_backward";
    if probability <= 0.0 {
        return activate_backward(Activation::Sine { w0 }, dz, z, dy);
    }
    expect_shapes!(OP, dz.rows, dz.cols; z, dy);
    let scale = 1.0 / (1.0 - probability);
    on_cuda!(OP, dz, Grid::each(&dz), [&dz, z, dy, dz.cols, w0, scale]);
    cpu::elementwise::dropout_sine_backward(dz.cpu(OP)?, z.cpu(OP)?, dy.cpu(OP)?, w0, scale);
    Ok(())
}

/// Dropout of `y` in place; dropped values are left as −0.0, from which [`dropout_backward`] reads the mask.
pub fn dropout(y: ViewMut<'_>, dropout: Dropout<'_>) -> Result<()> {
    const OP: &str = "dropout";
    if dropout.probability <= 0.0 {
        return Ok(());
    }
    let (threshold, scale) = dropout.threshold_and_scale();
    on_cuda!(OP, y, Grid::each(&y), [&y, y.cols, dropout.rng, dropout.stream, threshold, scale]);
    cpu::elementwise::dropout(y.cpu(OP)?, dropout.cpu_key(OP)?);
    Ok(())
}

/// The gradient before a [`dropout`] from the one after it, in place; `y` is what the dropout left.
pub fn dropout_backward(dy: ViewMut<'_>, y: View<'_>, probability: f32) -> Result<()> {
    const OP: &str = "dropout_backward";
    y.expect_shape(OP, "y", dy.rows, dy.cols)?;
    if probability <= 0.0 {
        return Ok(());
    }
    let scale = 1.0 / (1.0 - probability);
    on_cuda!(OP, dy, Grid::each(&dy), [&dy, y, dy.cols, scale]);
    cpu::elementwise::dropout_backward(dy.cpu(OP)?, y.cpu(OP)?, scale);
    Ok(())
}

/// `FiLM` with a condition: `h = (1 + α)⊙hx + ε + hi`, where `ss = [α | ε]` is twice as wide.
pub fn film(h: ViewMut<'_>, hx: View<'_>, ss: View<'_>, hi: View<'_>) -> Result<()> {
    const OP: &str = "film";
    expect_shapes!(OP, h.rows, h.cols; hx, hi);
    ss.expect_shape(OP, "ss", h.rows, 2 * h.cols)?;
    on_cuda!(OP, h, Grid::each(&h), [&h, hx, ss, hi, h.cols]);
    cpu::elementwise::film(h.cpu(OP)?, hx.cpu(OP)?, ss.cpu(OP)?, hi.cpu(OP)?, |r| r);
    Ok(())
}

/// Gradients of [`film`]: `dhx = dh⊙(1 + α)` and `dss = [dh⊙hx | dh]`; that of `hi` is `dh` itself.
pub fn film_backward(dhx: ViewMut<'_>, dss: ViewMut<'_>, dh: View<'_>, hx: View<'_>, ss: View<'_>) -> Result<()> {
    const OP: &str = "film_backward";
    expect_shapes!(OP, dhx.rows, dhx.cols; dh, hx);
    expect_shapes!(OP, dhx.rows, 2 * dhx.cols; ss, dss);
    on_cuda!(OP, dhx, Grid::each(&dhx), [&dhx, &dss, dh, hx, ss, dhx.cols]);
    cpu::elementwise::film_backward(dhx.cpu(OP)?, dss.cpu(OP)?, dh.cpu(OP)?, hx.cpu(OP)?, ss.cpu(OP)?);
    Ok(())
}

/// `y = a·x + b·y`; with `b = 0` what `y` held is ignored.
pub fn axpby(y: ViewMut<'_>, a: f32, x: View<'_>, b: f32) -> Result<()> {
    const OP: &str = "axpby";
    x.expect_shape(OP, "x", y.rows, y.cols)?;
    on_cuda!(OP, y, Grid::each(&y), [&y, x, y.cols, a, b]);
    cpu::elementwise::axpby(y.cpu(OP)?, a, x.cpu(OP)?, b);
    Ok(())
}

/// `y ← factor·y`.
pub fn scale(y: ViewMut<'_>, factor: f32) -> Result<()> {
    const OP: &str = "scale";
    on_cuda!(OP, y, Grid::each(&y), [&y, y.cols, factor]);
    cpu::elementwise::scale(y.cpu(OP)?, factor);
    Ok(())
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
    table.expect_shape(OP, "table", table.rows, out.cols)?;
    check_shape(indices.len() == out.rows, OP, || format!("{} indices for {} rows", indices.len(), out.rows))?;
    on_cuda!(OP, out, Grid::each(&out), [&out, table, indices, out.cols, table.rows]);
    let indices = indices.cpu(OP)?;
    check_indices(OP, indices, table.rows)?;
    cpu::elementwise::gather_rows(out.cpu(OP)?, table.cpu(OP)?, indices);
    Ok(())
}

/// Row r: `out = c[t_r, 0]·a + c[t_r, 1]·b`: noising with signal and noise levels per time step, and v targets.
/// Fails for an index out of range.
pub fn mix_rows(out: ViewMut<'_>, a: View<'_>, b: View<'_>, coefficients: View<'_>, t: &Indices) -> Result<()> {
    const OP: &str = "mix_rows";
    expect_shapes!(OP, out.rows, out.cols; a, b);
    coefficients.expect_shape(OP, "coefficients", coefficients.rows, 2)?;
    check_shape(t.len() == out.rows, OP, || format!("{} time steps for {} rows", t.len(), out.rows))?;
    on_cuda!(OP, out, Grid::each(&out), [&out, a, b, coefficients, t, out.cols, coefficients.rows]);
    let t = t.cpu(OP)?;
    check_indices(OP, t, coefficients.rows)?;
    cpu::elementwise::mix_rows(out.cpu(OP)?, a.cpu(OP)?, b.cpu(OP)?, coefficients.cpu(OP)?, t);
    Ok(())
}

fn check_indices(op: &'static str, indices: &[u32], rows: usize) -> Result<()> {
    match indices.iter().find(|&&index| index as usize >= rows) {
        None => Ok(()),
        Some(index) => check_shape(false, op, || format!("index {index} in a table of {rows} rows")),
    }
}

/// The sinusoidal embedding of `t` (one column): sines left, cosines right, frequencies `10⁻⁴^(j/(half−1))`.
pub fn sinusoidal(out: ViewMut<'_>, t: View<'_>) -> Result<()> {
    const OP: &str = "sinusoidal";
    t.expect_shape(OP, "t", out.rows, 1)?;
    check_shape(out.cols.is_multiple_of(2), OP, || format!("odd width {}", out.cols))?;
    on_cuda!(OP, out, Grid::Elements { rows: out.rows, cols: out.cols / 2 }, [&out, t, out.cols / 2]);
    cpu::elementwise::sinusoidal(out.cpu(OP)?, t.cpu(OP)?);
    Ok(())
}
