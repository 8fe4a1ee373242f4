//! Preallocated activations of a CS-UNet.

use crate::{
    Device, NnError, Result, Tensor, View,
    layers::{CSirenGradients, CSirenState, CsUnet, Times},
};
use locdiff_base::setting;

/// What the backward pass writes besides the weights' gradients.
pub(crate) struct Backward {
    pub(crate) buffers: Vec<Tensor>,
    pub(crate) inner: Vec<CSirenGradients>,
    pub(crate) h_cond: Tensor,
    pub(crate) time_hidden: Tensor,
    pub(crate) time_pre: Tensor,
}

/// Storage for [`CsUnet::forward`] and [`CsUnet::backward`] at one batch size, made once.
pub struct CsUnetWorkspace {
    pub(crate) times: Times,
    pub(crate) time_embedding: Tensor,
    pub(crate) time_pre: Tensor,
    pub(crate) time_hidden: Tensor,
    pub(crate) h_cond: Tensor,
    pub(crate) states: Vec<CSirenState>,
    pub(crate) buffers: Vec<Tensor>,
    pub(crate) output: Tensor,
    pub(crate) backward: Option<Backward>,
    /// The dropout of the last forward pass.
    pub(crate) dropout: f32,
}

impl CsUnet {
    /// Storage for `batch` rows; `training` adds what the backward pass needs.
    pub fn workspace(&self, device: &Device, batch: usize, training: bool) -> Result<CsUnetWorkspace> {
        let zeros = |cols: usize| Tensor::zeros(device, batch, cols);
        let buffers = || self.buffer_widths.iter().map(|&cols| zeros(cols)).collect::<Result<Vec<_>>>();
        let backward = if training {
            let inner = self.blocks.iter().map(|wired| wired.block.gradients(device, batch));
            Some(Backward {
                buffers: buffers()?,
                inner: inner.collect::<Result<_>>()?,
                h_cond: zeros(self.cond.outputs())?,
                time_hidden: zeros(self.time.outputs())?,
                time_pre: zeros(self.time.outputs())?,
            })
        } else {
            None
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
            backward,
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

    pub(crate) fn forward_only() -> NnError {
        setting("training", false, "make the workspace with training = true")
    }
}
