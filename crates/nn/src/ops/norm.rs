//! Layer norm and row normalisation.

use crate::{
    Result, View, ViewMut, cpu,
    kernel_args::{Grid, expect_shapes, on_cuda},
};

/// `y = gain⊙(x − mean)/√(var + eps) + shift`, row by row, with `gain_shift = [gain | shift]`.
pub fn layer_norm(y: ViewMut<'_>, x: View<'_>, gain_shift: View<'_>, eps: f32) -> Result<()> {
    const OP: &str = "layer_norm";
    x.expect_shape(OP, "x", y.rows, y.cols)?;
    gain_shift.expect_shape(OP, "gain_shift", y.rows, 2 * y.cols)?;
    on_cuda!(OP, y, Grid::Rows(y.rows), [&y, x, gain_shift, y.cols, eps]);
    cpu::norm::layer_norm(y.cpu(OP)?, x.cpu(OP)?, gain_shift.cpu(OP)?, eps);
    Ok(())
}

/// `y = x / max(|x|, eps)` row by row; `norms` (one column) keeps the lengths.
pub fn normalise(y: ViewMut<'_>, norms: ViewMut<'_>, x: View<'_>, eps: f32) -> Result<()> {
    const OP: &str = "normalise";
    x.expect_shape(OP, "x", y.rows, y.cols)?;
    norms.expect_shape(OP, "norms", y.rows, 1)?;
    on_cuda!(OP, y, Grid::Rows(y.rows), [&y, &norms, x, y.cols, eps]);
    cpu::norm::normalise(y.cpu(OP)?, norms.cpu(OP)?, x.cpu(OP)?, eps);
    Ok(())
}

/// `dx = (dy − y (y·dy)) / |x|` row by row, for rows longer than [`normalise`]'s `eps`.
pub fn normalise_backward(dx: ViewMut<'_>, dy: View<'_>, y: View<'_>, norms: View<'_>) -> Result<()> {
    const OP: &str = "normalise_backward";
    expect_shapes!(OP, dx.rows, dx.cols; dy, y);
    norms.expect_shape(OP, "norms", dx.rows, 1)?;
    on_cuda!(OP, dx, Grid::Rows(dx.rows), [&dx, dy, y, norms, dx.cols]);
    cpu::norm::normalise_backward(dx.cpu(OP)?, dy.cpu(OP)?, y.cpu(OP)?, norms.cpu(OP)?);
    Ok(())
}
