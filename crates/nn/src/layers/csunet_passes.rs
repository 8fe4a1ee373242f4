//! The network's forward and backward passes, and the storage for them.

use crate::layers::{Accumulate, CSirenGradients, CSirenState, CsUnet, Times};
use crate::ops::{Activation, Dropout};
use crate::{Device, Gradients, NnError, Params, Result, Rng, Tensor, View, layers::csunet::two, ops};
use locdiff_base::setting;

/// What the backward pass writes besides the weights' gradients.
struct Backward {
    buffers: Vec<Tensor>,
    inner: Vec<CSirenGradients>,
    h_cond: Tensor,
    time_hidden: Tensor,
    time_pre: Tensor,
}

/// Storage for [`CsUnet::forward`] and [`CsUnet::backward`] at one batch size, made once.
pub struct CsUnetWorkspace {
    times: Times,
    time_embedding: Tensor,
    time_pre: Tensor,
    time_hidden: Tensor,
    h_cond: Tensor,
    states: Vec<CSirenState>,
    buffers: Vec<Tensor>,
    output: Tensor,
    backward: Option<Backward>,
    /// The dropout of the last forward pass.
    dropout: f32,
}

impl CsUnet {
    /// Storage for `batch` rows; `training` adds what the backward pass needs.
    pub fn workspace(&self, device: &Device, batch: usize, training: bool) -> Result<CsUnetWorkspace> {
        let zeros = |cols: usize| Tensor::zeros(device, batch, cols);
        let buffers = || self.buffer_widths.iter().map(|&cols| zeros(cols)).collect::<Result<Vec<_>>>();
        let backward = || -> Result<Backward> {
            let inner = self.blocks.iter().map(|wired| wired.block.gradients(device, batch));
            Ok(Backward {
                buffers: buffers()?,
                inner: inner.collect::<Result<_>>()?,
                h_cond: zeros(self.cond.outputs())?,
                time_hidden: zeros(self.time.outputs())?,
                time_pre: zeros(self.time.outputs())?,
            })
        };
        let states = self.blocks.iter().map(|wired| wired.block.state(device, batch));
        Ok(CsUnetWorkspace {
            times: Times::new(device, batch)?,
            time_embedding: zeros(self.time.inputs())?,
            time_pre: zeros(self.time.outputs())?,
            time_hidden: zeros(self.time.outputs())?,
            h_cond: zeros(self.cond.outputs())?,
            states: states.collect::<Result<_>>()?,
            buffers: buffers()?,
            output: zeros(self.config().code_dim)?,
            backward: training.then(backward).transpose()?,
            dropout: 0.0,
        })
    }
}

impl CsUnetWorkspace {
    /// The output of the last forward pass, batch × `code_dim`.
    pub fn output(&self) -> View<'_> {
        self.output.view()
    }

    /// The output's tensor, to be read back.
    pub fn output_tensor(&self) -> &Tensor {
        &self.output
    }
}

/// Training or not.
#[derive(Clone, Copy)]
pub enum ForwardMode<'a> {
    /// No dropout.
    Evaluate,
    /// Dropout drawn from `rng`, whose counter must differ from step to step; every block uses a stream of its own, from
    /// `first_stream` on.
    #[allow(missing_docs, reason = "the variant explains its fields")]
    Train { rng: &'a Rng, first_stream: u32 },
}

impl<'a> ForwardMode<'a> {
    /// The dropout of layer `k`, none in evaluation.
    pub(crate) fn dropout(self, probability: f32, k: usize) -> Option<Dropout<'a>> {
        let Self::Train { rng, first_stream } = self else { return None };
        Some(Dropout { probability, rng, stream: first_stream + k as u32 })
    }
}

impl CsUnet {
    /// The network's output for noisy codes `x` (batch × `code_dim`), embeddings `cond` (batch × `cond_dim`) and time
    /// steps `t` (batch × 1), left in the workspace.
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
            work.dropout = mode.dropout(self.config().dropout, 0).map_or(0.0, |dropout| dropout.probability);
            device.on_lane(1, || self.cond.forward(params, work.h_cond.view_mut(), cond))?;
            work.times.set(t)?;
            let modulate = |work: &mut CsUnetWorkspace, k: usize| {
                let time = work.times.of(&work.time_hidden).columns(self.blocks[k].time.clone());
                let ss = work.times.of_mut(&mut work.states[k].ss);
                self.blocks[k].block.time_modulation(params, ss, time)
            };
            device.on_lane(0, || {
                let times = &work.times;
                ops::sinusoidal(times.of_mut(&mut work.time_embedding), times.values(t))?;
                self.time.forward(params, times.of_mut(&mut work.time_pre), times.of(&work.time_embedding))?;
                ops::activate(Activation::Gelu, times.of_mut(&mut work.time_hidden), times.of(&work.time_pre))?;
                modulate(work, 0)
            })?;
            self.inp.forward(params, self.inp_to.write(&mut work.buffers[self.inp_to.buffer]), x)?;
            for (k, wired) in self.blocks.iter().enumerate() {
                wired.block.project(params, &mut work.states[k], wired.from.read(&work.buffers))?;
                if k == 0 {
                    device.join_lane(0)?;
                    device.join_lane(1)?;
                    device.on_lane(0, || (1..self.blocks.len()).try_for_each(|k| modulate(work, k)))?;
                } else if k == 1 {
                    device.join_lane(0)?;
                }
                let dropout = mode.dropout(self.config().dropout, k);
                let y = wired.to.write(&mut work.buffers[wired.to.buffer]);
                let (state, h_cond) = (&mut work.states[k], work.h_cond.view().columns(wired.cond.clone()));
                wired.block.forward(params, state, y, h_cond, dropout, &work.times)?;
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
            let forward_only = || setting::<NnError>("training", false, "make the workspace with training = true");
            let back = work.backward.as_mut().ok_or_else(forward_only)?;
            let out_in = self.out_from.read(&work.buffers);
            let d_out_in = self.out_from.write(&mut back.buffers[self.out_from.buffer]);
            device.on_lane(0, || self.out.weight_gradient(grads, out_in, d_out))?;
            self.out.input_gradient(params, d_out_in, d_out, Accumulate::No)?;
            for (k, wired) in self.blocks.iter().enumerate().rev() {
                let (from, to) = two(&mut back.buffers, wired.from.buffer, wired.to.buffer);
                let (state, inner) = (&work.states[k], &mut back.inner[k]);
                let (dx, dy) = (wired.from.write(from), to.view().columns(wired.to.columns.clone()));
                let (dh, dx) = (back.h_cond.view_mut().columns(wired.cond.clone()), (dx, wired.skip_gradient));
                wired.block.backward_film(params, state, inner, dh, dy, dropout, times)?;
                let time = times.of(&work.time_hidden).columns(wired.time.clone());
                let d_time = times.of_mut(&mut back.time_hidden).columns(wired.time.clone());
                let x = wired.from.read(&work.buffers);
                device.on_lane(1, || wired.block.backward_weights(grads, state, inner, time, times))?;
                device.on_lane(2, || wired.block.backward_x(grads, inner, x))?;
                device.on_lane(3, || wired.block.backward_time(params, inner, d_time, times))?;
                if k == 0 {
                    device.on_lane(0, || self.cond.weight_gradient(grads, cond, back.h_cond.view()))?;
                }
                wired.block.backward_input(params, inner, dx)?;
            }
            device.on_lane(3, || {
                let (pre, d_hidden) = (times.of(&work.time_pre), times.of(&back.time_hidden));
                ops::activate_backward(Activation::Gelu, times.of_mut(&mut back.time_pre), pre, d_hidden)?;
                self.time.weight_gradient(grads, times.of(&work.time_embedding), times.of(&back.time_pre))
            })?;
            self.inp.weight_gradient(grads, x, self.inp_to.read(&back.buffers))?;
            (0..Device::LANES).try_for_each(|lane| device.join_lane(lane))
        })
    }
}
