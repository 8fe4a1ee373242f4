//! The optimiser's update.

use crate::{
    Indices, Result, View, ViewMut,
    adam_config::{AdamConfig, LrSchedule, NORM_PARTIALS, Rates},
    cpu,
    error::check_shape,
    kernel_args::{Arg, Grid, args, on_cuda},
};

/// The flat buffers one Adam step reads and writes.
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
    g.expect_shape(OP, "g", 1, total.cols)?;
    on_cuda!(OP, total, Grid::Flat(total.cols), [&total, g, Arg::Long(total.cols), i32::from(replace)]);
    cpu::optim::gather_gradients(total.cpu(OP)?.data, g.cpu(OP)?.data, replace);
    Ok(())
}

pub(crate) fn adam_step(config: &AdamConfig, buffers: &mut AdamBuffers<'_>) -> Result<()> {
    const OP: &str = "adam_step";
    let AdamBuffers { w, g, m, v, ema, step, control, scratch } = buffers;
    let len = w.cols;
    check_shape(g.cols == len && m.cols == len && v.cols == len, OP, || {
        format!("{len} weights, {} gradients, {} and {} moments", g.cols, m.cols, v.cols)
    })?;
    if let Some(context) = w.cuda() {
        if config.clip_norm > 0.0 {
            let args = args!(&*scratch, *g, Arg::Long(len));
            context.launch("squared_norm_partials", Grid::Blocks { blocks: NORM_PARTIALS, threads: 256 }, &args)?;
        }
        let (warmup, total, low) = match config.schedule {
            LrSchedule::Constant => (-1, 0, 0.0),
            LrSchedule::WarmupCosine { warmup_steps, total_steps, final_fraction } => {
                (warmup_steps as i32, total_steps as i32, final_fraction)
            }
        };
        let args = args!(
            &**step,
            &*control,
            &*scratch,
            NORM_PARTIALS,
            config.lr,
            warmup,
            total,
            low,
            config.beta1,
            config.beta2,
            config.clip_norm,
            config.ema_decay.unwrap_or(0.0),
            config.ema_warmup
        );
        context.launch("adam_prepare", Grid::Blocks { blocks: 1, threads: 256 }, &args)?;
        let rates = Rates::from(config);
        let args = args!(
            &*w,
            *g,
            &*m,
            &*v,
            ema.as_ref().map(ViewMut::as_view),
            &*control,
            Arg::Long(len),
            rates.beta2,
            rates.one_minus_beta1,
            rates.one_minus_beta2,
            rates.eps,
            rates.l2,
            rates.decoupled
        );
        return context.launch("adam", Grid::Flat(len.div_ceil(4)), &args);
    }
    let gradients = g.cpu(OP)?.data;
    let control = control.reborrow().cpu(OP)?.data;
    let counter = &mut step.cpu_mut(OP)?[0];
    cpu::optim::prepare(config, counter, control, gradients);
    cpu::optim::adam(
        config,
        control,
        w.reborrow().cpu(OP)?.data,
        gradients,
        m.reborrow().cpu(OP)?.data,
        v.reborrow().cpu(OP)?.data,
        ema.as_mut().map(|ema| ema.reborrow().cpu(OP).map(|ema| ema.data)).transpose()?,
    );
    Ok(())
}
