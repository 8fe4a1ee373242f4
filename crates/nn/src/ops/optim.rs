//! The optimiser's update: Adam, weight decay and the moving average in one pass over the flat buffers.

use crate::adam_config::{AdamConfig, Control, LrSchedule, NORM_PARTIALS, Rates};
use crate::kernel_args::{Arg, LaunchGrid, args, expect_shapes, run};
use crate::{Indices, Result, View, ViewMut, cpu::reduce::squared_norm, cpu::simd::simd_kernel, error::check_shape};
use rayon::prelude::*;

const PIECE: usize = 1 << 14;

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

pub(crate) struct AdamBuffers<'a> {
    pub(crate) w: ViewMut<'a>,
    pub(crate) g: View<'a>,
    pub(crate) m: ViewMut<'a>,
    pub(crate) v: ViewMut<'a>,
    pub(crate) ema: Option<ViewMut<'a>>,
    pub(crate) step: &'a mut Indices,
    pub(crate) control: ViewMut<'a>,
    pub(crate) scratch: ViewMut<'a>,
}

/// `total += g`, or `total = g`, for flat buffers.
pub(crate) fn gather_gradients(total: ViewMut<'_>, g: View<'_>, replace: bool) -> Result<()> {
    const OP: &str = "gather_gradients";
    expect_shapes!(OP, 1, total.cols; g);
    let len = total.cols;
    run!(OP, LaunchGrid::Flat(len), [&total, g, Arg::Long(len), i32::from(replace)]; total, g =>
    total.data.par_chunks_mut(PIECE).zip(g.data.par_chunks(PIECE)).for_each(|(total, g)| {
        if replace {
            total.copy_from_slice(g);
        } else {
            total.iter_mut().zip(g).for_each(|(total, g)| *total += g);
        }
    }))
}

pub(crate) fn adam_step(config: &AdamConfig, buffers: AdamBuffers<'_>) -> Result<()> {
    const OP: &str = "adam_step";
    let AdamBuffers { w, g, m, v, ema, step, control, scratch } = buffers;
    let (len, rates) = (w.cols, Rates::from(config));
    check_shape(g.cols == len && m.cols == len && v.cols == len, OP, || {
        format!("{len} weights, {} gradients, {} and {} moments", g.cols, m.cols, v.cols)
    })?;
    if let Some(context) = w.cuda() {
        let (warmup, total, low) = match config.schedule {
            LrSchedule::Constant => (-1, 0, 0.0),
            LrSchedule::WarmupCosine { warmup_steps, total_steps, final_fraction } => {
                (warmup_steps as i32, total_steps as i32, final_fraction)
            }
        };
        let AdamConfig { lr, beta1, beta2, clip_norm, ema_warmup, .. } = *config;
        let decay = config.ema_decay.unwrap_or(0.0);
        let (len_arg, blocks) = (Arg::Long(len), if clip_norm > 0.0 { NORM_PARTIALS } else { 1 });
        let args = args! {
            &*step, &control, &scratch, g, len_arg, lr, warmup, total, low, beta1, beta2, clip_norm, decay, ema_warmup
        };
        context.launch("adam_prepare", LaunchGrid::Blocks { blocks, threads: 256 }, &args)?;
        let Rates { beta2, one_minus_beta1, one_minus_beta2, eps, l2, decoupled } = rates;
        let (ema, len_arg) = (ema.as_ref().map(ViewMut::as_view), Arg::Long(len));
        let args = args! {
            &w, g, &m, &v, ema, &control, len_arg, beta2, one_minus_beta1, one_minus_beta2, eps, l2, decoupled
        };
        return context.launch("adam", LaunchGrid::Flat(len.div_ceil(4)), &args);
    }
    let (w, g, m, v) = (w.cpu(OP)?.data, g.cpu(OP)?.data, m.cpu(OP)?.data, v.cpu(OP)?.data);
    let counter = &mut step.cpu_mut(OP)?[0];
    *counter += 1;
    let norm_squared = if config.clip_norm > 0.0 { squared_norm(g) } else { 0.0 };
    let now = Control::at_step(config, *counter, norm_squared);
    now.write(control.cpu(OP)?.data);
    let pieces = w.par_chunks_mut(PIECE).zip(g.par_chunks(PIECE));
    let pieces = pieces.zip(m.par_chunks_mut(PIECE)).zip(v.par_chunks_mut(PIECE));
    match ema {
        Some(ema) => pieces
            .zip(ema.cpu(OP)?.data.par_chunks_mut(PIECE))
            .for_each(|((((w, g), m), v), ema)| adam_piece(w, g, m, v, ema, now, rates)),
        None => pieces.for_each(|(((w, g), m), v)| adam_piece(w, g, m, v, &mut [], now, rates)),
    }
    Ok(())
}
