//! Sums and soft maxima over rows and columns.

use crate::{Result, View, ViewMut, cpu, error::check_shape, kernel_args::Grid, kernel_args::args};

/// `out = Σ rows of x`, or added to what `out` holds.
///
/// # Errors
/// Shapes that do not fit, or operands on different devices.
pub fn column_sums(out: ViewMut<'_>, x: View<'_>, accumulate: bool) -> Result<()> {
    const OP: &str = "column_sums";
    out.expect_shape(OP, "out", 1, x.cols)?;
    if let Some(context) = out.cuda() {
        let args = args!(&out, x, x.rows, x.cols, i32::from(accumulate));
        return context.launch("column_sums", Grid::Columns(x.cols), &args);
    }
    cpu::reduce::column_sums(out.cpu(OP)?, x.cpu(OP)?, accumulate);
    Ok(())
}

fn check_rows(op: &'static str, x: &View<'_>, lse: &View<'_>, bias: Option<&View<'_>>) -> Result<()> {
    check_shape(x.cols > 0, op, || "no columns".to_owned())?;
    lse.expect_shape(op, "lse", x.rows, 1)?;
    bias.map_or(Ok(()), |bias| bias.expect_shape(op, "bias", 1, x.cols))
}

/// In place `x ← scale·softmax(x + bias)` row by row, and the log-sum-exp of `x + bias` into `lse`.
///
/// # Errors
/// Shapes that do not fit, or operands on different devices.
pub fn softmax(x: ViewMut<'_>, lse: ViewMut<'_>, bias: Option<View<'_>>, scale: f32) -> Result<()> {
    const OP: &str = "softmax";
    check_rows(OP, &x.as_view(), &lse.as_view(), bias.as_ref())?;
    if let Some(context) = x.cuda() {
        return context.launch("softmax", Grid::Rows(x.rows), &args!(&x, &lse, bias, x.cols, scale));
    }
    let bias = bias.map(|bias| bias.cpu(OP)).transpose()?;
    cpu::reduce::softmax(x.cpu(OP)?, lse.cpu(OP)?, bias, scale);
    Ok(())
}

/// In place `x ← x + bias − lse` row by row, and the log-sum-exp of `x + bias` into `lse`.
///
/// # Errors
/// Shapes that do not fit, or operands on different devices.
pub fn log_softmax(x: ViewMut<'_>, lse: ViewMut<'_>, bias: Option<View<'_>>) -> Result<()> {
    const OP: &str = "log_softmax";
    check_rows(OP, &x.as_view(), &lse.as_view(), bias.as_ref())?;
    if let Some(context) = x.cuda() {
        return context.launch("log_softmax", Grid::Rows(x.rows), &args!(&x, &lse, bias, x.cols));
    }
    let bias = bias.map(|bias| bias.cpu(OP)).transpose()?;
    cpu::reduce::log_softmax(x.cpu(OP)?, lse.cpu(OP)?, bias);
    Ok(())
}

/// The log-sum-exp of every row.
///
/// # Errors
/// Shapes that do not fit, or operands on different devices.
pub fn log_sum_exp(lse: ViewMut<'_>, x: View<'_>) -> Result<()> {
    const OP: &str = "log_sum_exp";
    check_rows(OP, &x, &lse.as_view(), None)?;
    if let Some(context) = lse.cuda() {
        return context.launch("log_sum_exp", Grid::Rows(x.rows), &args!(&lse, x, x.cols));
    }
    cpu::reduce::log_sum_exp(lse.cpu(OP)?, x.cpu(OP)?);
    Ok(())
}

/// `out = alpha·(a·b) + beta·out`, one scalar product a row; with `beta = 0` what `out` held is ignored.
///
/// # Errors
/// Shapes that do not fit, or operands on different devices.
pub fn row_dot(out: ViewMut<'_>, a: View<'_>, b: View<'_>, alpha: f32, beta: f32) -> Result<()> {
    const OP: &str = "row_dot";
    b.expect_shape(OP, "b", a.rows, a.cols)?;
    out.expect_shape(OP, "out", a.rows, 1)?;
    if let Some(context) = out.cuda() {
        return context.launch("row_dot", Grid::Rows(a.rows), &args!(&out, a, b, a.cols, alpha, beta));
    }
    cpu::reduce::row_dot(out.cpu(OP)?, a.cpu(OP)?, b.cpu(OP)?, alpha, beta);
    Ok(())
}
