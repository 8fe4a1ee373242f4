//! Losses of rows, with their gradients.

use crate::{
    Result, View, ViewMut, cpu,
    kernel_args::{Grid, expect_shapes, on_cuda},
    ops::PointLoss,
};

/// The loss of every row into `loss`, and `scale` times its gradient into `de`.
pub fn point_loss(
    kind: PointLoss,
    de: ViewMut<'_>,
    loss: ViewMut<'_>,
    e: View<'_>,
    y: View<'_>,
    scale: f32,
) -> Result<()> {
    const OP: &str = "point_loss";
    expect_shapes!(OP, de.rows, de.cols; e, y);
    loss.expect_shape(OP, "loss", de.rows, 1)?;
    let code = match kind {
        PointLoss::Cosine => 0,
        PointLoss::L1 => 1,
        PointLoss::L2 => 2,
    };
    on_cuda!(OP, de, Grid::Rows(de.rows), [&de, &loss, e, y, de.cols, code, scale]);
    cpu::losses::point_loss(kind, de.cpu(OP)?, loss.cpu(OP)?, e.cpu(OP)?, y.cpu(OP)?, scale);
    Ok(())
}

/// KL(q‖p) of every row, where q and p are the softmax of the logits plus `bias` (one row of log-weights).
///
/// `q_logits` becomes `scale` times the gradient by q's logits; `p_logits` is used as scratch.
pub fn reverse_kl(
    q_logits: ViewMut<'_>,
    p_logits: ViewMut<'_>,
    bias: Option<View<'_>>,
    loss: ViewMut<'_>,
    scale: f32,
) -> Result<()> {
    const OP: &str = "reverse_kl";
    p_logits.expect_shape(OP, "p_logits", q_logits.rows, q_logits.cols)?;
    loss.expect_shape(OP, "loss", q_logits.rows, 1)?;
    if let Some(bias) = &bias {
        bias.expect_shape(OP, "bias", 1, q_logits.cols)?;
    }
    on_cuda!(OP, q_logits, Grid::Rows(q_logits.rows), [&q_logits, &p_logits, bias, &loss, q_logits.cols, scale]);
    let bias = bias.map(|bias| bias.cpu(OP)).transpose()?;
    cpu::losses::reverse_kl(q_logits.cpu(OP)?, p_logits.cpu(OP)?, bias, loss.cpu(OP)?, scale);
    Ok(())
}
