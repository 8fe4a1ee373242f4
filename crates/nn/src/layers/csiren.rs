//! The C-Siren block (the paper's section on CS-UNet), and the times of a batch's rows.

use crate::layers::{Accumulate, Linear};
use crate::ops::{Dropout, RowGroups};
use crate::{Device, Gradients, Params, ParamsBuilder, Result, Tensor, View, ViewMut, ops};

/// `h = (1 + α)⊙Linear(x) + ε + h_I`, `y = sin(w0·dropout(Linear(h)))`.
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

    pub(crate) fn state(&self, device: &Device, batch: usize) -> Result<CSirenState> {
        let zeros = |cols: usize| Tensor::zeros(device, batch, cols);
        let (middle, outputs) = (self.middle(), self.out.outputs());
        Ok(CSirenState { hx: zeros(middle)?, ss: zeros(2 * middle)?, h: zeros(middle)?, z: zeros(outputs)? })
    }

    pub(crate) fn gradients(&self, device: &Device, batch: usize) -> Result<CSirenGradients> {
        let zeros = |cols: usize| Tensor::zeros(device, batch, cols);
        let (middle, outputs) = (self.middle(), self.out.outputs());
        Ok(CSirenGradients { dz: zeros(outputs)?, dss: zeros(2 * middle)?, dhx: zeros(middle)? })
    }

    /// `(α, ε)` side by side from the time MLP's hidden layer.
    pub(crate) fn time_modulation(&self, params: &Params, ss: ViewMut<'_>, time: View<'_>) -> Result<()> {
        self.film.forward(params, ss, time)
    }

    /// `Linear(x)`, which waits for neither time nor image.
    pub(crate) fn project(&self, params: &Params, state: &mut CSirenState, x: View<'_>) -> Result<()> {
        self.x.forward(params, state.hx.view_mut(), x)
    }

    /// The block's output into `y` after [`CSiren::project`], with the dropout's mask drawn where one is given. Rows of
    /// one time share a row of `(α, ε)` where they are grouped.
    pub(crate) fn forward(
        &self,
        params: &Params,
        state: &mut CSirenState,
        y: ViewMut<'_>,
        h_cond: View<'_>,
        dropout: Option<Dropout<'_>>,
        times: &Times,
    ) -> Result<()> {
        let CSirenState { hx, ss, h, z } = state;
        times.film(h.view_mut(), hx.view(), times.of(ss), h_cond)?;
        self.out.forward(params, z.view_mut(), h.view())?;
        ops::dropout_sine(y, z.view_mut(), self.w0, dropout)
    }

    /// The first part of the backward pass: from `dy` to the gradient of `h` (which is also that of `h_cond`) into `dh`, and those of
    /// `(α, ε)` and `Linear(x)` into `inner`.
    pub(crate) fn backward_film(
        &self,
        params: &Params,
        state: &CSirenState,
        inner: &mut CSirenGradients,
        mut dh: ViewMut<'_>,
        dy: View<'_>,
        dropout_probability: f32,
        times: &Times,
    ) -> Result<()> {
        let CSirenGradients { dz, dss, dhx } = inner;
        ops::dropout_sine_backward(dz.view_mut(), state.z.view(), dy, self.w0, dropout_probability)?;
        self.out.input_gradient(params, dh.reborrow(), dz.view(), Accumulate::No)?;
        let (d_time, ss) = (times.of_mut(dss), times.of(&state.ss));
        times.film_backward(dhx.view_mut(), d_time, dh.as_view(), state.hx.view(), ss)
    }

    /// What earlier blocks wait for: the gradient of `x` into `dx`.
    pub(crate) fn backward_input(
        &self,
        params: &Params,
        inner: &CSirenGradients,
        (dx, accumulate): (ViewMut<'_>, Accumulate),
    ) -> Result<()> {
        self.x.input_gradient(params, dx, inner.dhx.view(), accumulate)
    }

    /// The gradient of `time` into `d_time`.
    pub(crate) fn backward_time(
        &self,
        params: &Params,
        inner: &CSirenGradients,
        d_time: ViewMut<'_>,
        times: &Times,
    ) -> Result<()> {
        self.film.input_gradient(params, d_time, times.of(&inner.dss), Accumulate::No)
    }

    /// The gradients of the weights that `x` meets.
    pub(crate) fn backward_x(&self, grads: &mut Gradients, inner: &CSirenGradients, x: View<'_>) -> Result<()> {
        self.x.weight_gradient(grads, x, inner.dhx.view())
    }

    /// The gradients of the other weights.
    pub(crate) fn backward_weights(
        &self,
        grads: &mut Gradients,
        state: &CSirenState,
        inner: &CSirenGradients,
        time: View<'_>,
        times: &Times,
    ) -> Result<()> {
        self.out.weight_gradient(grads, state.h.view(), inner.dz.view())?;
        self.film.weight_gradient(grads, time, times.of(&inner.dss))
    }
}

/// Which rows of a workspace hold what depends on the time alone: on CUDA one for each row of the batch, on the CPU one
/// for each different time.
pub(crate) struct Times {
    groups: Option<RowGroups>,
    /// The different times first.
    values: Tensor,
    count: usize,
}

impl Times {
    pub(crate) fn new(device: &Device, batch: usize) -> Result<Self> {
        let groups = (!device.is_cuda()).then(RowGroups::default);
        Ok(Self { groups, values: Tensor::zeros(device, batch, 1)?, count: batch })
    }

    /// Takes the times of a batch, batch × 1.
    pub(crate) fn set(&mut self, t: View<'_>) -> Result<()> {
        let Some(groups) = &mut self.groups else { return Ok(()) };
        self.values.view().expect_shape("times", "t", t.rows(), 1)?;
        let t = t.cpu("times")?;
        let values: Vec<f32> = (0..t.rows).map(|r| t.row(r)[0]).collect();
        let distinct = groups.set(&values);
        self.count = distinct.len();
        for (r, value) in distinct.into_iter().enumerate() {
            self.values.view_mut().cpu("times")?.row(r)[0] = value;
        }
        Ok(())
    }

    /// The times that count, of those last set.
    pub(crate) fn values<'a>(&'a self, t: View<'a>) -> View<'a> {
        if self.groups.is_none() { t } else { self.of(&self.values) }
    }

    /// The rows of the times that count.
    pub(crate) fn of<'a>(&self, tensor: &'a Tensor) -> View<'a> {
        tensor.view().row_range(0..self.count)
    }

    pub(crate) fn of_mut<'a>(&self, tensor: &'a mut Tensor) -> ViewMut<'a> {
        tensor.view_mut().row_range(0..self.count)
    }

    pub(crate) fn film(&self, h: ViewMut<'_>, hx: View<'_>, ss: View<'_>, hi: View<'_>) -> Result<()> {
        match &self.groups {
            None => ops::film(h, hx, ss, hi),
            Some(groups) => ops::film_by_group(h, hx, ss, hi, groups),
        }
    }

    pub(crate) fn film_backward(
        &self,
        dhx: ViewMut<'_>,
        dss: ViewMut<'_>,
        dh: View<'_>,
        hx: View<'_>,
        ss: View<'_>,
    ) -> Result<()> {
        match &self.groups {
            None => ops::film_backward(dhx, dss, dh, hx, ss),
            Some(groups) => ops::film_by_group_backward(dhx, dss, dh, hx, ss, groups),
        }
    }
}
