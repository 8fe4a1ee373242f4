//! What a sampler asks.

use locdiff_nn::{NnError, Tensor, View, ViewMut, losses::Quadrature, ops};

/// A network (or anything else) that predicts from noisy codes.
pub trait Denoiser {
    /// Writes the prediction for `x` at the plan's step number `position` (0 is the noisiest; the plan's
    /// [`timesteps`](crate::diffusion::SamplerPlan::timesteps) say which time step that is).
    ///
    /// # Errors
    /// Whatever the engine reports.
    fn predict(&mut self, out: ViewMut<'_>, x: View<'_>, position: usize) -> Result<(), NnError>;
}

/// A denoiser whose network gives natural parameters e: the prediction is the mean parameter `scale·E_q[Y]` over a
/// quadrature grid (the posterior mean of the code), with `|x̂_0|` bounded by the codes' own length.
pub struct PosteriorMean<D> {
    inner: D,
    quadrature: Quadrature,
    natural: Tensor,
    scale: f32,
}

impl<D: Denoiser> PosteriorMean<D> {
    /// Wraps `inner`; `natural` is storage of the batch's shape, and keeps the last natural parameters.
    pub fn new(inner: D, quadrature: Quadrature, natural: Tensor, scale: f32) -> Self {
        Self { inner, quadrature, natural, scale }
    }

    /// The natural parameters of the last prediction: after a sampler's last step, the density to decode.
    pub fn natural(&self) -> &Tensor {
        &self.natural
    }
}

impl<D: Denoiser> Denoiser for PosteriorMean<D> {
    fn predict(&mut self, mut out: ViewMut<'_>, x: View<'_>, position: usize) -> Result<(), NnError> {
        self.inner.predict(self.natural.view_mut(), x, position)?;
        self.quadrature.posterior_mean(out.reborrow(), self.natural.view())?;
        ops::scale(out, self.scale)
    }
}
