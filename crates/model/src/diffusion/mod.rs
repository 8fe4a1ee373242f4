//! Noise schedules and samplers over any [`Denoiser`]. The process is variance preserving: `x_t = √ᾱ_t·x_0 + √(1−ᾱ_t)·z`.
//! A [`SamplerPlan`] is a list of steps whose coefficients are worked out once on the host in f64: DDPM, DDIM and
//! DPM-Solver++(2M) differ in these numbers only. [`sample`] runs a plan on any device, recorded as one CUDA graph.

mod plan;
mod sampling;
mod schedule;

pub use plan::{PlannedStep, Sampler, SamplerPlan};
pub use sampling::{Denoiser, SampleState, sample};
pub(crate) use sampling::{initial_noise, sample_watched};
pub use schedule::{PredictionKind, Schedule, TrainingTables};
