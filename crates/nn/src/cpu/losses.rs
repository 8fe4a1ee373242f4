//! Row losses with their gradients.

use super::{
    Mat, MatMut, for_rows2, math,
    reduce::{dot, log_softmax_row, tree},
    simd::{LANES, simd_kernel},
};
use crate::ops::PointLoss;

simd_kernel! {
    fn kl_sum(lq: &[f32], lp: &[f32]) -> f32 {
        let mut sums = [0.0_f32; LANES];
        let (q, q_rest) = lq.as_chunks::<LANES>();
        let (p, p_rest) = lp.as_chunks::<LANES>();
        for (q, p) in q.iter().zip(p) {
            for k in 0..LANES { sums[k] = math::exp(q[k]).mul_add(q[k] - p[k], sums[k]); }
        }
        for ((s, q), p) in sums.iter_mut().zip(q_rest).zip(p_rest) { *s = math::exp(*q).mul_add(q - p, *s); }
        tree(sums)
    }
}

simd_kernel! {
    fn kl_gradient(lq: &mut [f32], lp: &[f32], kl: f32, scale: f32) {
        for (q, p) in lq.iter_mut().zip(lp) { *q = scale * math::exp(*q) * ((*q - p) - kl); }
    }
}

/// KL(q‖p) of every row of logits; `q_logits` becomes `scale` times its gradient, `p_logits` its log-softmax.
pub(crate) fn reverse_kl(
    q_logits: MatMut<'_>,
    p_logits: MatMut<'_>,
    bias: Option<Mat<'_>>,
    mut loss: MatMut<'_>,
    scale: f32,
) {
    let bias = bias.map_or(&[][..], |b| b.row(0));
    // Two outputs at a time: the loss travels in the first logit of p, which is no longer used then.
    let MatMut { data, rows, cols, stride } = p_logits;
    for_rows2(q_logits, MatMut { data: &mut *data, rows, cols, stride }, |_, q, p| {
        log_softmax_row(q, bias);
        log_softmax_row(p, bias);
        let kl = kl_sum(q, p);
        kl_gradient(q, p, kl, scale);
        p[0] = kl;
    });
    for r in 0..rows {
        loss.row(r)[0] = data[r * stride];
    }
}

simd_kernel! {
    fn squared(de: &mut [f32], e: &[f32], y: &[f32], scale: f32) -> f32 {
        let n = de.len();
        let (e, y) = (&e[..n], &y[..n]);
        for i in 0..n { de[i] = e[i] - y[i]; }
        let total = dot(de, de);
        for d in de { *d *= 2.0 * scale; }
        total
    }
}

simd_kernel! {
    fn absolute(de: &mut [f32], e: &[f32], y: &[f32], scale: f32) -> f32 {
        let n = de.len();
        let (e, y) = (&e[..n], &y[..n]);
        let mut total = 0.0;
        for i in 0..n {
            let d = e[i] - y[i];
            total += d.abs();
            de[i] = if d > 0.0 { scale } else if d < 0.0 { -scale } else { 0.0 };
        }
        total
    }
}

/// `loss` per row and `scale` times its gradient.
pub(crate) fn point_loss(
    kind: PointLoss,
    de: MatMut<'_>,
    loss: MatMut<'_>,
    e: Mat<'_>,
    y: Mat<'_>,
    scale: f32,
) {
    let n = e.cols as f32;
    for_rows2(de, loss, |r, de, loss| {
        let (e, y) = (e.row(r), y.row(r));
        loss[0] = match kind {
            PointLoss::L2 => squared(de, e, y, scale / n) / n,
            PointLoss::L1 => absolute(de, e, y, scale / n) / n,
            PointLoss::Cosine => {
                // PyTorch's cosine_similarity: both lengths at least 1e-8.
                let (e_norm, y_norm) = (dot(e, e).sqrt().max(1e-8), dot(y, y).sqrt().max(1e-8));
                let cosine = dot(e, y) / (e_norm * y_norm);
                for ((d, e), y) in de.iter_mut().zip(e).zip(y) {
                    *d = -scale * (y / y_norm - cosine * e / e_norm) / e_norm;
                }
                1.0 - cosine
            }
        };
    });
}
