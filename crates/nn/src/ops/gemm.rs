//! Matrix products.

use crate::cpu::simd::{Packed, Side, Start, product, product_packed};
use crate::{Result, View, ViewMut, error::check_shape, ops, ops::Transpose};

/// The shape of an operand as the product reads it.
fn shape(view: &View<'_>, op: Transpose) -> (usize, usize) {
    match op {
        Transpose::No => (view.rows, view.cols),
        Transpose::Yes => (view.cols, view.rows),
    }
}

/// `c = op(a)·op(b) + beta·c + bias`, the bias one row added to every row. With `beta` = 0 what `c` held is ignored.
pub fn gemm(
    mut c: ViewMut<'_>,
    a: View<'_>,
    op_a: Transpose,
    b: View<'_>,
    op_b: Transpose,
    beta: f32,
    bias: Option<View<'_>>,
) -> Result<()> {
    const OP: &str = "gemm";
    let ((m, k), (k_b, n)) = (shape(&a, op_a), shape(&b, op_b));
    check_shape(k == k_b && c.rows == m && c.cols == n, OP, || {
        format!("{m}×{k} times {k_b}×{n} into {}×{}", c.rows, c.cols)
    })?;
    bias.iter().try_for_each(|bias| bias.expect_shape(OP, "bias", 1, n))?;
    if let Some(context) = c.cuda() {
        return context.gemm(&c, a, op_a, b, op_b, beta, bias);
    }
    let start = match bias {
        Some(bias) if beta == 0.0 => Start::Row(bias.cpu(OP)?.row(0)),
        Some(bias) => {
            ops::axpby(c.reborrow(), 1.0, bias.broadcast_rows(0, m), beta)?;
            Start::Kept
        }
        None if beta == 0.0 => Start::Zero,
        None => {
            if beta.to_bits() != 1.0_f32.to_bits() {
                ops::scale(c.reborrow(), beta)?;
            }
            Start::Kept
        }
    };
    let a = Side { mat: a.cpu(OP)?, transposed: op_a == Transpose::Yes };
    let b = Side { mat: b.cpu(OP)?, transposed: op_b == Transpose::Yes };
    product(&mut c.cpu(OP)?, a, b, start);
    Ok(())
}

/// The gradients `dw = dyᵀ·x` and `db = Σ rows of dy` of a layer's weight and bias.
pub(crate) fn weight_gradient(dw: ViewMut<'_>, db: ViewMut<'_>, dy: View<'_>, x: View<'_>) -> Result<()> {
    const OP: &str = "weight_gradient";
    let (rows, cols) = (dy.rows, dy.cols);
    x.expect_shape(OP, "x", rows, x.cols)?;
    dw.expect_shape(OP, "dw", cols, x.cols)?;
    db.expect_shape(OP, "db", 1, cols)?;
    if let Some(context) = dw.cuda()
        && context.gemm_with_sums(&dw, &db, dy, x)?
    {
        return Ok(());
    }
    gemm(dw, dy, Transpose::Yes, x, Transpose::No, 0.0, None)?;
    ops::column_sums(db, dy, false)
}

/// `c = x·w`, plus what the sums begin with, on the CPU for a matrix that was packed before: a row of `c` is the same numbers
/// in any batch.
pub(crate) fn gemm_packed(c: ViewMut<'_>, x: View<'_>, w: &Packed, start: Start<'_>) -> Result<()> {
    const OP: &str = "gemm";
    let (k, n, rows) = (w.inputs, w.outputs, x.rows);
    check_shape(x.cols == k && c.rows == rows && c.cols == n, OP, || {
        format!("{rows}×{} times {k}×{n} into {}×{}", x.cols, c.rows, c.cols)
    })?;
    product_packed(&mut c.cpu(OP)?, x.cpu(OP)?, w, start);
    Ok(())
}
