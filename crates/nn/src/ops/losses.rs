//! Losses of rows, with their gradients.

use crate::cpu::reduce::{dot, exp_sum, max_with, tree};
use crate::cpu::{MatMut, for_rows2, math};
use crate::kernel_args::{LaunchGrid, expect_shapes, run};
use crate::{Result, View, ViewMut, cpu::simd::LANES, cpu::simd::simd_kernel, ops::PointLoss};

simd_kernel! {
    /// `p ← exp(q − max)` and `q ← q − p`; returns Σ exp(q − max) and Σ exp(q − max)·(q − p).
    fn weigh(q: &mut [f32], p: &mut [f32], max: f32) -> (f32, f32) {
        let (mut sums, mut means) = ([0.0_f32; LANES], [0.0_f32; LANES]);
        let (q, q_rest) = q.as_chunks_mut::<LANES>();
        let (p, p_rest) = p.as_chunks_mut::<LANES>();
        for (q, p) in q.iter_mut().zip(p) {
            for k in 0..LANES {
                let (weight, apart) = (math::exp(q[k] - max), q[k] - p[k]);
                sums[k] += weight;
                means[k] = weight.mul_add(apart, means[k]);
                p[k] = weight;
                q[k] = apart;
            }
        }
        for (k, (q, p)) in q_rest.iter_mut().zip(p_rest).enumerate() {
            let (weight, apart) = (math::exp(*q - max), *q - *p);
            sums[k] += weight;
            means[k] = weight.mul_add(apart, means[k]);
            *p = weight;
            *q = apart;
        }
        (tree(sums), tree(means))
    }

    fn kl_gradient(apart: &mut [f32], weights: &[f32], mean: f32, scale: f32) {
        for (apart, weight) in apart.iter_mut().zip(weights) { *apart = scale * weight * (*apart - mean); }
    }

    fn squared(de: &mut [f32], e: &[f32], y: &[f32], scale: f32) -> f32 {
        let n = de.len();
        let (e, y) = (&e[..n], &y[..n]);
        for i in 0..n { de[i] = e[i] - y[i]; }
        let total = dot(de, de);
        for d in de { *d *= 2.0 * scale; }
        total
    }

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
    expect_shapes!(OP, de.rows, 1; loss);
    let n = e.cols as f32;
    run!(OP, LaunchGrid::Rows(de.rows), [&de, &loss, e, y, de.cols, kind as i32, scale]; de, loss, e, y =>
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
    }))
}

/// KL(q‖p) of every row, where q and p are the softmax of the logits plus `bias` (one row of log-weights).
/// `q_logits` becomes `scale` times the gradient by q's logits; `p_logits` is used as scratch. With weights w of q,
/// KL = Σ w·(q − p) − lse q + lse p, and its gradient w·(q − p − Σ w·(q − p)): each exponential is taken once.
pub fn reverse_kl(
    q_logits: ViewMut<'_>,
    p_logits: ViewMut<'_>,
    bias: Option<View<'_>>,
    loss: ViewMut<'_>,
    scale: f32,
) -> Result<()> {
    const OP: &str = "reverse_kl";
    expect_shapes!(OP, q_logits.rows, q_logits.cols; p_logits);
    expect_shapes!(OP, q_logits.rows, 1; loss);
    bias.iter().try_for_each(|bias| bias.expect_shape(OP, "bias", 1, q_logits.cols))?;
    let (rows, cols) = (q_logits.rows, q_logits.cols);
    run!(OP, LaunchGrid::Rows(rows), [&q_logits, &p_logits, bias, &loss, cols, scale]; q_logits, p_logits, loss => {
        let bias = bias.map(|bias| bias.cpu(OP)).transpose()?.map_or(&[][..], |bias| bias.row(0));
        // Two outputs at a time: the loss travels in the first logit of p, which is no longer used then.
        let (MatMut { data, stride, .. }, mut loss) = (p_logits, loss);
        for_rows2(q_logits, MatMut { data: &mut *data, rows, cols, stride }, |_, q, p| {
            let (q_max, p_max) = (max_with(q, bias), max_with(p, bias));
            let p_sum = exp_sum(p, p_max);
            let (q_sum, weighed) = weigh(q, p, q_max);
            let mean = weighed / q_sum;
            kl_gradient(q, p, mean, scale / q_sum);
            p[0] = mean - ((q_max - p_max) + (q_sum / p_sum).ln());
        });
        (0..rows).for_each(|r| loss.row(r)[0] = data[r * stride]);
    })
}
