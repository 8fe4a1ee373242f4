//! Classifier-free guidance.

use crate::Denoiser;
use locdiff_nn::{NnError, Tensor, View, ViewMut, ops};

/// `e + w·(e − e_∅)`: the conditional prediction pushed away from the unconditional one (Ho and Salimans). `w = 0` is
/// no guidance. Guiding natural parameters ([`crate::PosteriorMean`] around this) multiplies densities.
pub struct Guided<C, U> {
    conditional: C,
    unconditional: U,
    weight: f32,
    scratch: Tensor,
}

impl<C: Denoiser, U: Denoiser> Guided<C, U> {
    /// Combines two denoisers; `scratch` is storage of the batch's shape.
    pub fn new(conditional: C, unconditional: U, weight: f32, scratch: Tensor) -> Self {
        Self { conditional, unconditional, weight, scratch }
    }
}

impl<C: Denoiser, U: Denoiser> Denoiser for Guided<C, U> {
    fn predict(&mut self, mut out: ViewMut<'_>, x: View<'_>, position: usize) -> Result<(), NnError> {
        self.conditional.predict(out.reborrow(), x, position)?;
        if self.weight == 0.0 {
            return Ok(());
        }
        self.unconditional.predict(self.scratch.view_mut(), x, position)?;
        ops::axpby(out, -self.weight, self.scratch.view(), 1.0 + self.weight)
    }
}
