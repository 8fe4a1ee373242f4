//! Adam, weight decay and the moving average in one pass over the flat buffers.

use super::{reduce::squared_norm, simd::simd_kernel};
use crate::adam_config::{AdamConfig, Control, Rates};
use rayon::prelude::*;

/// Counts the step and works out everything that is the same for all weights.
pub(crate) fn prepare(config: &AdamConfig, step: &mut u32, control: &mut [f32], grads: &[f32]) {
    *step += 1;
    let norm_squared = if config.clip_norm > 0.0 { squared_norm(grads) } else { 0.0 };
    Control::at_step(config, *step, norm_squared).write(control);
}

simd_kernel! {
    fn adam_piece(w: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32], ema: &mut [f32], c: Control, h: Rates) {
        let n = w.len();
        let (g, m, v) = (&g[..n], &mut m[..n], &mut v[..n]);
        let shrink = c.lr.mul_add(-h.decoupled, 1.0);
        for i in 0..n {
            let gradient = h.l2.mul_add(w[i], g[i] * c.clip_scale);
            m[i] = h.one_minus_beta1.mul_add(gradient - m[i], m[i]);
            v[i] = h.beta2.mul_add(v[i], h.one_minus_beta2 * gradient * gradient);
            let step = c.step_size * m[i] / v[i].sqrt().mul_add(c.inv_sqrt_correction2, h.eps);
            w[i] = shrink.mul_add(w[i], -step);
        }
        if !ema.is_empty() {
            let ema = &mut ema[..n];
            for i in 0..n { ema[i] = c.ema_rate.mul_add(w[i] - ema[i], ema[i]); }
        }
    }
}

/// Values one task takes.
const PIECE: usize = 1 << 14;

/// `total += g`, or `total = g`.
pub(crate) fn gather_gradients(total: &mut [f32], g: &[f32], replace: bool) {
    total.par_chunks_mut(PIECE).zip(g.par_chunks(PIECE)).for_each(|(total, g)| {
        if replace {
            total.copy_from_slice(g);
        } else {
            total.iter_mut().zip(g).for_each(|(total, g)| *total += g);
        }
    });
}

/// One Adam step over all weights.
pub(crate) fn adam(
    config: &AdamConfig,
    control: &[f32],
    w: &mut [f32],
    g: &[f32],
    m: &mut [f32],
    v: &mut [f32],
    ema: Option<&mut [f32]>,
) {
    let (control, rates) = (Control::read(control), Rates::from(config));
    let pieces = w.par_chunks_mut(PIECE).zip(g.par_chunks(PIECE));
    let pieces = pieces.zip(m.par_chunks_mut(PIECE)).zip(v.par_chunks_mut(PIECE));
    match ema {
        Some(ema) => pieces
            .zip(ema.par_chunks_mut(PIECE))
            .for_each(|((((w, g), m), v), ema)| adam_piece(w, g, m, v, ema, control, rates)),
        None => pieces.for_each(|(((w, g), m), v)| adam_piece(w, g, m, v, &mut [], control, rates)),
    }
}
