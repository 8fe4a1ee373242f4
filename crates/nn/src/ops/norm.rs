//! Layer norm, adaptive layer norm and row normalisation.

use crate::{Result, View, ViewMut, cpu, kernel_args::Grid, kernel_args::args};

/// What multiplies the normalised row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormGain {
    /// The gain itself: plain layer norm with learned gain and shift.
    Plain,
    /// One plus the gain: adaptive layer norm, where gain and shift come from a condition.
    OnePlus,
}

impl NormGain {
    fn offset(self) -> f32 {
        match self {
            Self::Plain => 0.0,
            Self::OnePlus => 1.0,
        }
    }
}

/// `y = g⊙(x − mean)/√(var + eps) + shift`, row by row, with `gain_shift = [gain | shift]` (one row broadcast for plain
/// layer norm, one row a sample for the adaptive one) and `g` the gain or one plus it.
///
/// `stats` (two columns) keeps what [`layer_norm_backward`] needs.
///
/// # Errors
/// Shapes that do not fit, or operands on different devices.
pub fn layer_norm(
    y: ViewMut<'_>,
    stats: ViewMut<'_>,
    x: View<'_>,
    gain_shift: View<'_>,
    gain: NormGain,
    eps: f32,
) -> Result<()> {
    const OP: &str = "layer_norm";
    x.expect_shape(OP, "x", y.rows, y.cols)?;
    stats.expect_shape(OP, "stats", y.rows, 2)?;
    gain_shift.expect_shape(OP, "gain_shift", y.rows, 2 * y.cols)?;
    if let Some(context) = y.cuda() {
        let args = args!(&y, &stats, x, gain_shift, y.cols, gain.offset(), eps);
        return context.launch("layer_norm", Grid::Rows(y.rows), &args);
    }
    cpu::norm::layer_norm(y.cpu(OP)?, stats.cpu(OP)?, x.cpu(OP)?, gain_shift.cpu(OP)?, gain.offset(), eps);
    Ok(())
}

/// Gradients of [`layer_norm`]: `dx`, and `d_gain_shift = [dy⊙x̂ | dy]` row by row (its column sums are the gradients
/// of a plain layer norm's gain and shift).
///
/// # Errors
/// Shapes that do not fit, or operands on different devices.
pub fn layer_norm_backward(
    dx: ViewMut<'_>,
    d_gain_shift: ViewMut<'_>,
    dy: View<'_>,
    x: View<'_>,
    stats: View<'_>,
    gain_shift: View<'_>,
    gain: NormGain,
) -> Result<()> {
    const OP: &str = "layer_norm_backward";
    for (name, view) in [("dy", &dy), ("x", &x)] {
        view.expect_shape(OP, name, dx.rows, dx.cols)?;
    }
    stats.expect_shape(OP, "stats", dx.rows, 2)?;
    gain_shift.expect_shape(OP, "gain_shift", dx.rows, 2 * dx.cols)?;
    d_gain_shift.expect_shape(OP, "d_gain_shift", dx.rows, 2 * dx.cols)?;
    if let Some(context) = dx.cuda() {
        let args = args!(&dx, &d_gain_shift, dy, x, stats, gain_shift, dx.cols, gain.offset());
        return context.launch("layer_norm_backward", Grid::Rows(dx.rows), &args);
    }
    cpu::norm::layer_norm_backward(
        dx.cpu(OP)?,
        d_gain_shift.cpu(OP)?,
        dy.cpu(OP)?,
        x.cpu(OP)?,
        stats.cpu(OP)?,
        gain_shift.cpu(OP)?,
        gain.offset(),
    );
    Ok(())
}

/// `y = x / max(|x|, eps)` row by row; `norms` (one column) keeps the lengths.
///
/// # Errors
/// Shapes that do not fit, or operands on different devices.
pub fn normalise(y: ViewMut<'_>, norms: ViewMut<'_>, x: View<'_>, eps: f32) -> Result<()> {
    const OP: &str = "normalise";
    x.expect_shape(OP, "x", y.rows, y.cols)?;
    norms.expect_shape(OP, "norms", y.rows, 1)?;
    if let Some(context) = y.cuda() {
        return context.launch("normalise", Grid::Rows(y.rows), &args!(&y, &norms, x, y.cols, eps));
    }
    cpu::norm::normalise(y.cpu(OP)?, norms.cpu(OP)?, x.cpu(OP)?, eps);
    Ok(())
}

/// `dx = (dy − y (y·dy)) / |x|` row by row, for rows longer than [`normalise`]'s `eps`.
///
/// # Errors
/// Shapes that do not fit, or operands on different devices.
pub fn normalise_backward(dx: ViewMut<'_>, dy: View<'_>, y: View<'_>, norms: View<'_>) -> Result<()> {
    const OP: &str = "normalise_backward";
    for (name, view) in [("dy", &dy), ("y", &y)] {
        view.expect_shape(OP, name, dx.rows, dx.cols)?;
    }
    norms.expect_shape(OP, "norms", dx.rows, 1)?;
    if let Some(context) = dx.cuda() {
        return context.launch("normalise_backward", Grid::Rows(dx.rows), &args!(&dx, dy, y, norms, dx.cols));
    }
    cpu::norm::normalise_backward(dx.cpu(OP)?, dy.cpu(OP)?, y.cpu(OP)?, norms.cpu(OP)?);
    Ok(())
}
