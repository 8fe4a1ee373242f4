//! `LocDiff`'s diffusion: noise schedules and samplers over any [`Denoiser`].
//!
//! The process is variance preserving: `x_t = √ᾱ_t·x_0 + √(1−ᾱ_t)·z`. A [`Schedule`] holds ᾱ, a [`PredictionKind`] says
//! what the network's output means, and a [`SamplerPlan`] is a list of steps whose coefficients are worked out once on
//! the host in f64: DDPM, DDIM and DPM-Solver++(2M) differ in these numbers only. [`sample`] runs a plan on any device,
//! and can be recorded as one CUDA graph.
//!
//! # Example
//! A denoiser that knows its target, one point, ends there:
//! ```
//! use locdiff_model::diffusion::{Denoiser, PredictionKind, SampleState, Sampler, SamplerPlan, Schedule, sample};
//! use locdiff_nn::{Device, NnError, RowNoise, Tensor, View, ViewMut, ops};
//!
//! struct Point(Tensor);
//! impl Denoiser for Point {
//!     fn predict(&mut self, out: ViewMut<'_>, _x: View<'_>, _position: usize) -> Result<(), NnError> {
//!         let rows = out.rows();
//!         ops::copy(out, self.0.view().broadcast_rows(0, rows))
//!     }
//! }
//!
//! let device = Device::cpu();
//! let plan = SamplerPlan::new(&Schedule::cosine(200)?, Sampler::DpmSolverPlusPlus2M, 20, PredictionKind::X0)?;
//! let mut state = SampleState::new(&device, 4, 2)?;
//! let noise = RowNoise::new(&device, 4)?;
//! let mut denoiser = Point(Tensor::from_slice(&device, 1, 2, &[0.5, -2.0])?);
//! sample(&plan, &mut denoiser, &mut state, &noise)?;
//! assert!(state.clean().to_vec()?.chunks(2).all(|row| row == [0.5, -2.0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod plan;
mod prediction;
mod sampling;
mod schedule;

pub use plan::{PlannedStep, Sampler, SamplerPlan};
pub use prediction::{PredictionKind, TrainingTables};
pub use sampling::{Denoiser, SampleState, initial_noise, sample, sample_watched};
pub use schedule::Schedule;
