//! Adam with gradient clipping, an exponential moving average of the weights and learning-rate schedules, all on the
//! device: the step counter and the rates live in device memory, so that a captured graph advances them.

use crate::adam_config::{AdamConfig, CONTROL_LEN, Control, NORM_PARTIALS};
use crate::{Gradients, Indices, Params, Result, Tensor, ops};
use locdiff_base::setting;

/// The optimiser: moments, moving average, step counter.
pub struct Adam {
    config: AdamConfig,
    pub(crate) m: Tensor,
    pub(crate) v: Tensor,
    pub(crate) ema: Option<Params>,
    pub(crate) step: Indices,
    pub(crate) control: Tensor,
    pub(crate) scratch: Tensor,
}

impl Adam {
    /// An optimiser at step 0, its average equal to the weights. Fails for a setting out of range.
    pub fn new(config: AdamConfig, params: &Params) -> Result<Self> {
        for (what, value) in [("beta1", config.beta1), ("beta2", config.beta2)] {
            if !(0.0..1.0).contains(&value) {
                return Err(setting(what, value, "0 ≤ β < 1"));
            }
        }
        let device = params.device();
        let zeros = |len: usize| Tensor::zeros(device, 1, len);
        Ok(Self {
            config,
            m: zeros(params.len())?,
            v: zeros(params.len())?,
            ema: config.ema_decay.map(|_| params.to_device(device)).transpose()?,
            step: Indices::from_slice(device, &[0])?,
            control: zeros(CONTROL_LEN)?,
            scratch: zeros(NORM_PARTIALS)?,
        })
    }

    /// The settings.
    pub fn config(&self) -> &AdamConfig {
        &self.config
    }

    /// One step: clips, updates the weights, updates the average. Can be captured.
    pub fn step(&mut self, params: &mut Params, grads: &Gradients) -> Result<()> {
        let Self { config, m, v, ema, step, control, scratch } = self;
        let (w, g, ema) = (params.flat_mut(), grads.flat.view(), ema.as_mut().map(Params::flat_mut));
        let [m, v, control, scratch] = [m, v, control, scratch].map(Tensor::view_mut);
        ops::adam_step(config, ops::AdamBuffers { w, g, m, v, ema, step, control, scratch })
    }

    /// The averaged weights, which can take the place of the live ones in any forward pass.
    pub fn ema(&self) -> Option<&Params> {
        self.ema.as_ref()
    }

    /// Steps done so far; waits for the device.
    pub fn steps_done(&self) -> Result<u32> {
        Ok(self.step.to_vec()?[0])
    }

    /// Learning rate and gradient norm (before clipping; 0 where clipping is off) of the last step.
    pub fn last_step(&self) -> Result<(f32, f32)> {
        let control = Control::read(&self.control.to_vec()?);
        Ok((control.lr, control.grad_norm))
    }
}
