//! The network inside a sampler: everything that does not depend on the noisy code is computed once.

use crate::layers::{CSiren, CsUnet};
use crate::ops::Activation;
use crate::{Device, Params, Result, Tensor, View, ViewMut, error::check_shape, layers::csunet::two, ops};

/// What a sampler run needs of image and time: each block's image projection, and its `(α, ε)` for every time step. In a
/// sampler both stay the same for all steps and samples, which leaves two of five products a block.
pub struct Conditioning {
    h_cond: Tensor,
    modulation: Vec<Tensor>,
    steps: usize,
}

/// Storage for [`CsUnet::predict`] at one batch size.
pub struct SamplingWorkspace {
    hx: Vec<Tensor>,
    h: Vec<Tensor>,
    z: Vec<Tensor>,
    buffers: Vec<Tensor>,
}

impl CsUnet {
    /// Projects `cond` (one row for all samples, or one row a sample) and tabulates the time steps.
    pub fn conditioning(&self, params: &Params, cond: View<'_>, timesteps: &[f32]) -> Result<Conditioning> {
        let (device, steps) = (params.device(), timesteps.len());
        let t = Tensor::from_slice(device, steps, 1, timesteps)?;
        let zeros = |cols: usize| Tensor::zeros(device, steps, cols);
        let (mut embedding, mut pre) = (zeros(self.time.inputs())?, zeros(self.time.outputs())?);
        let mut hidden = zeros(self.time.outputs())?;
        ops::sinusoidal(embedding.view_mut(), t.view())?;
        self.time.forward(params, pre.view_mut(), embedding.view())?;
        ops::activate(Activation::Gelu, hidden.view_mut(), pre.view())?;
        let mut modulation = Vec::new();
        for wired in &self.blocks {
            let mut ss = zeros(2 * wired.block.middle())?;
            wired.block.time_modulation(params, ss.view_mut(), hidden.view().columns(wired.time.clone()))?;
            modulation.push(ss);
        }
        let h_cond = Tensor::zeros(device, cond.rows(), self.cond.outputs())?;
        let mut conditioning = Conditioning { h_cond, modulation, steps };
        self.set_cond(params, &mut conditioning, cond)?;
        device.synchronize()?;
        Ok(conditioning)
    }

    /// Replaces the image, in place: a recorded sampler then runs for the new one.
    pub fn set_cond(&self, params: &Params, conditioning: &mut Conditioning, cond: View<'_>) -> Result<()> {
        self.cond.infer(params, conditioning.h_cond.view_mut(), cond)
    }

    /// Storage for `batch` samples.
    pub fn sampling_workspace(&self, device: &Device, batch: usize) -> Result<SamplingWorkspace> {
        let zeros = |cols: usize| Tensor::zeros(device, batch, cols);
        let per_block = |size: fn(&CSiren) -> usize| {
            self.blocks.iter().map(|wired| zeros(size(&wired.block))).collect::<Result<Vec<_>>>()
        };
        Ok(SamplingWorkspace {
            hx: per_block(CSiren::middle)?,
            h: per_block(CSiren::middle)?,
            z: per_block(|block| block.out.outputs())?,
            buffers: self.buffer_widths.iter().map(|&cols| zeros(cols)).collect::<Result<_>>()?,
        })
    }

    /// The output for noisy codes `x` at the time step of row `step` of the conditioning's table: what
    /// [`CsUnet::forward`] computes without dropout, in less than half the work.
    pub fn predict(
        &self,
        params: &Params,
        work: &mut SamplingWorkspace,
        out: ViewMut<'_>,
        x: View<'_>,
        conditioning: &Conditioning,
        step: usize,
    ) -> Result<()> {
        let batch = x.rows();
        check_shape(step < conditioning.steps, "predict", || {
            format!("time step {step} of a table of {}", conditioning.steps)
        })?;
        let h_cond = conditioning.h_cond.view();
        let h_cond = if h_cond.rows() == 1 { h_cond.broadcast_rows(0, batch) } else { h_cond };
        let SamplingWorkspace { hx, h, z, buffers } = work;
        self.inp.infer(params, self.inp_to.write(&mut buffers[self.inp_to.buffer]), x)?;
        for (k, wired) in self.blocks.iter().enumerate() {
            let (from, to) = two(buffers, wired.from.buffer, wired.to.buffer);
            let (from, to) = (from.view().columns(wired.from.columns.clone()), wired.to.write(to));
            let modulation = conditioning.modulation[k].view().broadcast_rows(step, batch);
            wired.block.x.infer(params, hx[k].view_mut(), from)?;
            ops::film(h[k].view_mut(), hx[k].view(), modulation, h_cond.columns(wired.cond.clone()))?;
            wired.block.out.infer(params, z[k].view_mut(), h[k].view())?;
            ops::activate(Activation::Sine { w0: wired.block.w0 }, to, z[k].view())?;
        }
        self.out.infer(params, out, self.out_from.read(buffers))
    }
}
