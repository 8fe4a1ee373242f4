//! Sums and soft maxima over rows and columns.

use crate::{
    Result, View, ViewMut, cpu,
    error::check_shape,
    kernel_args::{Grid, on_cuda},
};

/// `out = Σ rows of x`, or added to what `out` holds.
pub fn column_sums(out: ViewMut<'_>, x: View<'_>, accumulate: bool) -> Result<()> {
    const OP: &str = "column_sums";
    out.expect_shape(OP, "out", 1, x.cols)?;
    on_cuda!(OP, out, Grid::Columns(x.cols), [&out, x, x.rows, x.cols, i32::from(accumulate)]);
    cpu::reduce::column_sums(out.cpu(OP)?, x.cpu(OP)?, accumulate);
    Ok(())
}

fn check_rows(op: &'static str, x: &View<'_>, lse: &View<'_>, bias: Option<&View<'_>>) -> Result<()> {
    check_shape(x.cols > 0, op, || "no columns".to_owned())?;
    lse.expect_shape(op, "lse", x.rows, 1)?;
    bias.map_or(Ok(()), |bias| bias.expect_shape(op, "bias", 1, x.cols))
}

/// In place `x ← scale·softmax(x + bias)` row by row, and the log-sum-exp of `x + bias` into `lse`.
pub fn softmax(x: ViewMut<'_>, lse: ViewMut<'_>, bias: Option<View<'_>>, scale: f32) -> Result<()> {
    const OP: &str = "softmax";
    check_rows(OP, &x.as_view(), &lse.as_view(), bias.as_ref())?;
    on_cuda!(OP, x, Grid::Rows(x.rows), [&x, &lse, bias, x.cols, scale]);
    let bias = bias.map(|bias| bias.cpu(OP)).transpose()?;
    cpu::reduce::softmax(x.cpu(OP)?, lse.cpu(OP)?, bias, scale);
    Ok(())
}

/// In place `x ← x + bias − lse` row by row, and the log-sum-exp of `x + bias` into `lse`.
pub fn log_softmax(x: ViewMut<'_>, lse: ViewMut<'_>, bias: Option<View<'_>>) -> Result<()> {
    const OP: &str = "log_softmax";
    check_rows(OP, &x.as_view(), &lse.as_view(), bias.as_ref())?;
    on_cuda!(OP, x, Grid::Rows(x.rows), [&x, &lse, bias, x.cols]);
    let bias = bias.map(|bias| bias.cpu(OP)).transpose()?;
    cpu::reduce::log_softmax(x.cpu(OP)?, lse.cpu(OP)?, bias);
    Ok(())
}

/// `out = alpha·(a·b) + beta·out`, one scalar product a row; with `beta = 0` what `out` held is ignored.
pub fn row_dot(out: ViewMut<'_>, a: View<'_>, b: View<'_>, alpha: f32, beta: f32) -> Result<()> {
    const OP: &str = "row_dot";
    b.expect_shape(OP, "b", a.rows, a.cols)?;
    out.expect_shape(OP, "out", a.rows, 1)?;
    on_cuda!(OP, out, Grid::Rows(a.rows), [&out, a, b, a.cols, alpha, beta]);
    cpu::reduce::row_dot(out.cpu(OP)?, a.cpu(OP)?, b.cpu(OP)?, alpha, beta);
    Ok(())
}
