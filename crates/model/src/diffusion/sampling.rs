//! Running a plan.

use crate::diffusion::{PlannedStep, SamplerPlan};
use locdiff_nn::{Device, Result, RowNoise, Tensor, View, ViewMut, ops};

/// The stream of the initial noise; step k draws from stream k.
const INITIAL_STREAM: u32 = 0xFFFF_FFFF;

/// A network (or anything else) that predicts from noisy codes.
pub trait Denoiser {
    /// Writes the prediction for `x` at the plan's step number `position`; 0 is the noisiest. Fails if the engine
    /// fails.
    fn predict(&mut self, out: ViewMut<'_>, x: View<'_>, position: usize) -> Result<()>;
}

/// A sampler's storage for one batch: the noisy codes, the clean estimate, the prediction.
pub struct SampleState {
    x: Tensor,
    clean: Tensor,
    prediction: Tensor,
}

impl SampleState {
    /// Storage for `batch` codes of size `dim`. Fails if device memory is too small.
    pub fn new(device: &Device, batch: usize, dim: usize) -> Result<Self> {
        let blank = || Tensor::zeros(device, batch, dim);
        Ok(Self { x: blank()?, clean: blank()?, prediction: blank()? })
    }

    /// The codes themselves, as noisy as the step they are at.
    pub fn noisy(&self) -> &Tensor {
        &self.x
    }

    /// The last clean estimate: the sample once a plan has run.
    pub fn clean(&self) -> &Tensor {
        &self.clean
    }
}

/// The pure noise that a sampler starts from. Fails on a number of rows other than the noise has keys for.
pub(crate) fn initial_noise(x: &mut Tensor, noise: &RowNoise) -> Result<()> {
    ops::fill_row_noise(x.view_mut(), noise, INITIAL_STREAM)
}

/// Draws fresh noise and runs all steps of `plan`; the samples are then in [`SampleState::clean`].
///
/// Noise belongs to the rows: a row's sample depends on its [`locdiff_nn::RowKey`], not on its place in the batch. The
/// whole call allocates nothing and can be given to [`locdiff_nn::Recorded`]. Fails if the denoiser or the engine fails.
pub fn sample(
    plan: &SamplerPlan,
    denoiser: &mut impl Denoiser,
    state: &mut SampleState,
    noise: &RowNoise,
) -> Result<()> {
    sample_watched(plan, denoiser, state, noise, |_, _| Ok(()))
}

/// Samples as [`sample`] does and shows `watch` every step with the state after it. Fails if the denoiser, the engine or `watch` fails.
pub(crate) fn sample_watched(
    plan: &SamplerPlan,
    denoiser: &mut impl Denoiser,
    state: &mut SampleState,
    noise: &RowNoise,
    mut watch: impl FnMut(&PlannedStep, &SampleState) -> Result<()>,
) -> Result<()> {
    initial_noise(&mut state.x, noise)?;
    for (position, step) in plan.steps().iter().enumerate() {
        let SampleState { x, clean, prediction } = state;
        denoiser.predict(prediction.view_mut(), x.view(), position)?;
        let (coefficients, stream) = (step.coefficients(), position as u32);
        ops::sampler_step(x.view_mut(), clean.view_mut(), prediction.view(), coefficients, noise, stream)?;
        watch(step, state)?;
    }
    Ok(())
}
