//! The network's forward and backward passes.

use crate::{
    Device, Gradients, Params, Result, Rng, View,
    layers::{Accumulate, CsUnet, CsUnetWorkspace, csunet::two},
    ops::{self, Activation, Dropout},
};

/// Training or not.
#[derive(Clone, Copy)]
pub enum ForwardMode<'a> {
    /// No dropout.
    Evaluate,
    /// Dropout drawn from `rng`, the blocks using the streams from `first_stream` on.
    Train {
        /// The generator; its counter must differ from step to step.
        rng: &'a Rng,
        /// The first of as many streams as there are blocks.
        first_stream: u32,
    },
}

impl CsUnet {
    /// The network's output for noisy codes `x`, embeddings `cond` and time steps `t`, left in the workspace.
    ///
    /// # Shapes
    /// `x`: batch × `code_dim`, `cond`: batch × `cond_dim`, `t`: batch × 1.
    pub fn forward(
        &self,
        params: &Params,
        work: &mut CsUnetWorkspace,
        x: View<'_>,
        cond: View<'_>,
        t: View<'_>,
        mode: ForwardMode<'_>,
    ) -> Result<()> {
        params.device().in_pool(|| {
            let device = params.device();
            work.dropout = match mode {
                ForwardMode::Evaluate => 0.0,
                ForwardMode::Train { .. } => self.config().dropout,
            };
            device.on_lane(1, || self.cond.forward(params, work.h_cond.view_mut(), cond))?;
            work.times.set(t)?;
            let times = &work.times;
            ops::sinusoidal(times.of_mut(&mut work.time_embedding), times.values(t))?;
            self.time.forward(params, times.of_mut(&mut work.time_pre), times.of(&work.time_embedding))?;
            ops::activate(Activation::Gelu, times.of_mut(&mut work.time_hidden), times.of(&work.time_pre))?;
            let modulate = |work: &mut CsUnetWorkspace, k: usize| {
                let time = work.times.of(&work.time_hidden).columns(self.blocks[k].time.clone());
                let ss = work.times.of_mut(&mut work.states[k].ss);
                self.blocks[k].block.time_modulation(params, ss, time)
            };
            device.on_lane(0, || (1..self.blocks.len()).try_for_each(|k| modulate(work, k)))?;
            modulate(work, 0)?;
            let inp_to = work.buffers[self.inp_to.buffer].view_mut().columns(self.inp_to.columns.clone());
            self.inp.forward(params, inp_to, x)?;
            device.join_lane(1)?;
            for (k, wired) in self.blocks.iter().enumerate() {
                if k == 1 {
                    device.join_lane(0)?;
                }
                let dropout = match mode {
                    ForwardMode::Evaluate => None,
                    ForwardMode::Train { rng, first_stream } => {
                        Some(Dropout { probability: self.config().dropout, rng, stream: first_stream + k as u32 })
                    }
                };
                let (from, to) = two(&mut work.buffers, wired.from.buffer, wired.to.buffer);
                wired.block.forward(
                    params,
                    &mut work.states[k],
                    to.view_mut().columns(wired.to.columns.clone()),
                    from.view().columns(wired.from.columns.clone()),
                    work.h_cond.view().columns(wired.cond.clone()),
                    dropout,
                    &work.times,
                )?;
            }
            if self.blocks.len() == 1 {
                device.join_lane(0)?;
            }
            self.out.forward(params, work.output.view_mut(), self.out_from.read(&work.buffers))
        })
    }

    /// The gradients of all weights for the gradient `d_out` of the output; `x` and `cond` as in the forward pass.
    /// Fails for a workspace made without a backward part.
    pub fn backward(
        &self,
        params: &Params,
        grads: &mut Gradients,
        work: &mut CsUnetWorkspace,
        x: View<'_>,
        cond: View<'_>,
        d_out: View<'_>,
    ) -> Result<()> {
        params.device().in_pool(|| {
            let device = params.device();
            let (dropout, times) = (work.dropout, &work.times);
            let back = work.backward.as_mut().ok_or_else(CsUnetWorkspace::forward_only)?;
            let out_in = self.out_from.read(&work.buffers);
            let d_out_in = back.buffers[self.out_from.buffer].view_mut().columns(self.out_from.columns.clone());
            device.on_lane(0, || self.out.weight_gradient(grads, out_in, d_out))?;
            self.out.input_gradient(params, d_out_in, d_out, Accumulate::No)?;
            for (k, wired) in self.blocks.iter().enumerate().rev() {
                let (from, to) = two(&mut back.buffers, wired.from.buffer, wired.to.buffer);
                let (state, inner) = (&work.states[k], &mut back.inner[k]);
                wired.block.backward_inputs(
                    params,
                    state,
                    inner,
                    back.h_cond.view_mut().columns(wired.cond.clone()),
                    Some((from.view_mut().columns(wired.from.columns.clone()), wired.skip_gradient)),
                    to.view().columns(wired.to.columns.clone()),
                    dropout,
                    times,
                )?;
                device.on_lane(1 + k % (Device::LANES - 1), || {
                    wired.block.backward_weights(
                        params,
                        grads,
                        state,
                        inner,
                        wired.from.read(&work.buffers),
                        times.of(&work.time_hidden).columns(wired.time.clone()),
                        times.of_mut(&mut back.time_hidden).columns(wired.time.clone()),
                        times,
                    )
                })?;
            }
            device.on_lane(0, || self.cond.weight_gradient(grads, cond, back.h_cond.view()))?;
            self.inp.weight_gradient(grads, x, self.inp_to.read(&back.buffers))?;
            (0..Device::LANES).try_for_each(|lane| device.join_lane(lane))?;
            let (pre, d_hidden) = (times.of(&work.time_pre), times.of(&back.time_hidden));
            ops::activate_backward(Activation::Gelu, times.of_mut(&mut back.time_pre), pre, d_hidden)?;
            self.time.weight_gradient(grads, times.of(&work.time_embedding), times.of(&back.time_pre))
        })
    }
}
