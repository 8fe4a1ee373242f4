//! The C-Siren block (the paper's section on CS-UNet).

use crate::{
    Device, Gradients, Params, ParamsBuilder, Result, Tensor, View, ViewMut,
    layers::{Accumulate, Linear, Times},
    ops::{self, Dropout},
};

/// `h = (1 + α)⊙Linear(x) + ε + h_I`, `y = sin(w0·dropout(Linear(h)))`.
///
/// The projection `h_I` of the image embedding and the hidden layer `s` of the time MLP come from outside, since all
/// blocks of a network read the same embedding and the same time: the network computes them for all blocks with one
/// product each. `(α, ε) = Linear(s)` is the block's own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CSiren {
    pub(crate) x: Linear,
    film: Linear,
    pub(crate) out: Linear,
    pub(crate) w0: f32,
}

/// What a block keeps from its forward pass for its backward pass.
pub(crate) struct CSirenState {
    hx: Tensor,
    pub(crate) ss: Tensor,
    h: Tensor,
    z: Tensor,
}

/// Where a block's backward pass leaves the gradients inside it.
pub(crate) struct CSirenGradients {
    dz: Tensor,
    dss: Tensor,
    dhx: Tensor,
}

#[allow(clippy::too_many_arguments)] // reason: one argument for each of the block's ports
impl CSiren {
    /// A block named `name`: parameters `name.x`, `name.t.2` and `name.o`, each with weight and bias (the names of the
    /// `PyTorch` prototype, where `name.t.0` and `name.I` are the shared parts).
    pub(crate) fn new(
        builder: &mut ParamsBuilder,
        name: &str,
        (inputs, middle, outputs): (usize, usize, usize),
        time_width: usize,
        w0: f32,
    ) -> Self {
        Self {
            x: Linear::new(builder, &format!("{name}.x"), inputs, middle),
            film: Linear::new(builder, &format!("{name}.t.2"), time_width, 2 * middle),
            out: Linear::new(builder, &format!("{name}.o"), middle, outputs),
            w0,
        }
    }

    /// Width at which time and image come in.
    pub(crate) fn middle(&self) -> usize {
        self.x.outputs()
    }

    /// Storage for a forward pass over `batch` rows.
    pub(crate) fn state(&self, device: &Device, batch: usize) -> Result<CSirenState> {
        let zeros = |cols: usize| Tensor::zeros(device, batch, cols);
        let (middle, outputs) = (self.middle(), self.out.outputs());
        Ok(CSirenState { hx: zeros(middle)?, ss: zeros(2 * middle)?, h: zeros(middle)?, z: zeros(outputs)? })
    }

    /// Storage for a backward pass over `batch` rows.
    pub(crate) fn gradients(&self, device: &Device, batch: usize) -> Result<CSirenGradients> {
        let zeros = |cols: usize| Tensor::zeros(device, batch, cols);
        let (middle, outputs) = (self.middle(), self.out.outputs());
        Ok(CSirenGradients { dz: zeros(outputs)?, dss: zeros(2 * middle)?, dhx: zeros(middle)? })
    }

    /// `(α, ε)` side by side from the time MLP's hidden layer.
    pub(crate) fn time_modulation(&self, params: &Params, ss: ViewMut<'_>, time: View<'_>) -> Result<()> {
        self.film.forward(params, ss, time)
    }

    /// The block's output into `y`, with the dropout's mask drawn where one is given. Rows of one time share a row of
    /// `(α, ε)` where they are grouped.
    pub(crate) fn forward(
        &self,
        params: &Params,
        state: &mut CSirenState,
        y: ViewMut<'_>,
        x: View<'_>,
        h_cond: View<'_>,
        dropout: Option<Dropout<'_>>,
        times: &Times,
    ) -> Result<()> {
        let CSirenState { hx, ss, h, z } = state;
        self.x.forward(params, hx.view_mut(), x)?;
        times.film(h.view_mut(), hx.view(), times.of(ss), h_cond)?;
        self.out.forward(params, z.view_mut(), h.view())?;
        ops::dropout_sine(y, z.view_mut(), self.w0, dropout)
    }

    /// The part of the backward pass that later blocks wait for: from `dy` to the gradient of `h` (which is also that
    /// of `h_cond`) into `dh`, those of `(α, ε)` and `Linear(x)` into `inner`, and that of `x` into `dx`.
    pub(crate) fn backward_inputs(
        &self,
        params: &Params,
        state: &CSirenState,
        inner: &mut CSirenGradients,
        mut dh: ViewMut<'_>,
        (dx, accumulate): (ViewMut<'_>, Accumulate),
        dy: View<'_>,
        dropout_probability: f32,
        times: &Times,
    ) -> Result<()> {
        let CSirenGradients { dz, dss, dhx } = inner;
        ops::dropout_sine_backward(dz.view_mut(), state.z.view(), dy, self.w0, dropout_probability)?;
        self.out.input_gradient(params, dh.reborrow(), dz.view(), Accumulate::No)?;
        let (d_time, ss) = (times.of_mut(dss), times.of(&state.ss));
        times.film_backward(dhx.view_mut(), d_time, dh.as_view(), state.hx.view(), ss)?;
        self.x.input_gradient(params, dx, dhx.view(), accumulate)
    }

    /// The rest, which nothing waits for: the weights' gradients, and that of `time` into `d_time`.
    pub(crate) fn backward_weights(
        &self,
        params: &Params,
        grads: &mut Gradients,
        state: &CSirenState,
        inner: &CSirenGradients,
        x: View<'_>,
        time: View<'_>,
        d_time: ViewMut<'_>,
        times: &Times,
    ) -> Result<()> {
        self.film.input_gradient(params, d_time, times.of(&inner.dss), Accumulate::No)?;
        self.film.weight_gradient(grads, time, times.of(&inner.dss))?;
        self.out.weight_gradient(grads, state.h.view(), inner.dz.view())?;
        self.x.weight_gradient(grads, x, inner.dhx.view())
    }
}
