//! Samplers and the posterior mean on every device against targets known in closed form.

#[path = "../../nn/tests/common/mod.rs"]
mod common;

use common::devices;
use locdiff_model::diffusion::sample;
use locdiff_model::diffusion::{Denoiser, PredictionKind, SampleState, Sampler, SamplerPlan, Schedule, TrainingTables};
use locdiff_nn::ops;
use locdiff_nn::{Device, Indices, NnError, Recorded, RowKey, RowNoise, Tensor, View, ViewMut, losses::Quadrature};

/// The exact denoiser of independent normals N(mean, deviation²), for any kind of prediction.
struct Gaussian {
    schedule: Schedule,
    timesteps: Vec<usize>,
    prediction: PredictionKind,
    deviation: f64,
    mean: Tensor,
}

impl Gaussian {
    fn new(device: &Device, schedule: &Schedule, plan: &SamplerPlan, prediction: PredictionKind, mean: &[f32]) -> Self {
        let timesteps = plan.steps().iter().map(|step| step.t).collect();
        let mean = Tensor::from_slice(device, 1, mean.len(), mean).unwrap();
        Self { schedule: schedule.clone(), timesteps, prediction, deviation: 0.5, mean }
    }
}

impl Denoiser for Gaussian {
    fn predict(&mut self, mut out: ViewMut<'_>, x: View<'_>, position: usize) -> Result<(), NnError> {
        let alpha_bar = self.schedule.alpha_bar(self.timesteps[position]);
        let (a, variance) = (alpha_bar.sqrt(), self.deviation.powi(2));
        let gain = a * variance / (alpha_bar * variance + 1.0 - alpha_bar);
        // x0 = gain·x + (1 − gain·a)·mean, then turned into what this denoiser is said to predict.
        let (from_x, from_output) = self.prediction.to_x0(alpha_bar);
        let rows = out.rows();
        ops::axpby(out.reborrow(), ((gain - from_x) / from_output) as f32, x, 0.0)?;
        let mean = self.mean.view().broadcast_rows(0, rows);
        ops::axpby(out, ((1.0 - gain * a) / from_output) as f32, mean, 1.0)
    }
}

fn keys(key: u64, rows: u32) -> Vec<RowKey> {
    (0..rows).map(|number| RowKey { key, number }).collect()
}

fn noise(device: &Device, seed: u64, key: u64, rows: u32) -> RowNoise {
    let mut noise = RowNoise::new(device, rows as usize).unwrap();
    noise.set(seed, &keys(key, rows)).unwrap();
    noise
}

fn moments(values: &[f32]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
    (mean, values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / n)
}

#[test]
fn every_sampler_and_prediction_draws_the_gaussian() {
    let schedule = Schedule::cosine(200).unwrap();
    for device in devices() {
        for (sampler, steps) in [
            (Sampler::Ddpm, 200),
            (Sampler::Ddim { eta: 0.0 }, 100),
            (Sampler::Ddim { eta: 1.0 }, 200),
            (Sampler::DpmSolverPlusPlus2M, 20),
        ] {
            for prediction in [PredictionKind::X0, PredictionKind::Noise, PredictionKind::V] {
                let plan = SamplerPlan::new(&schedule, sampler, steps, prediction).unwrap();
                let mut denoiser = Gaussian::new(&device, &schedule, &plan, prediction, &[2.0, -1.0]);
                let mut state = SampleState::new(&device, 8000, 2).unwrap();
                let noise = noise(&device, 4, 0, 8000);
                sample(&plan, &mut denoiser, &mut state, &noise).unwrap();
                let values = state.clean().to_vec().unwrap();
                for (column, want) in [(0, 2.0), (1, -1.0)] {
                    let column: Vec<f32> = values.iter().skip(column).step_by(2).copied().collect();
                    let (mean, variance) = moments(&column);
                    let what = format!("{device} {sampler:?} {prediction:?}: mean {mean}, variance {variance}");
                    assert!((mean - want).abs() < 0.03, "{what}");
                    assert!((variance - 0.25).abs() < 0.02, "{what}");
                }
            }
        }
    }
}

#[test]
fn the_same_keys_give_the_same_sample_recorded_or_not() {
    let schedule = Schedule::cosine(200).unwrap();
    for device in devices() {
        let plan = SamplerPlan::new(&schedule, Sampler::Ddpm, 25, PredictionKind::X0).unwrap();
        let mut denoiser = Gaussian::new(&device, &schedule, &plan, PredictionKind::X0, &[0.0; 5]);
        let mut state = SampleState::new(&device, 6, 5).unwrap();
        let mut draws = Vec::new();
        for key in 0..4 {
            sample(&plan, &mut denoiser, &mut state, &noise(&device, 11, key, 6)).unwrap();
            draws.push(state.clean().to_vec().unwrap());
        }
        assert_ne!(draws[0], draws[1]);
        let mut recorded = Recorded::new(&device);
        let mut noise = noise(&device, 11, 0, 6);
        for (key, draw) in (0..).zip(&draws) {
            noise.set(11, &keys(key, 6)).unwrap();
            recorded.run(|| sample(&plan, &mut denoiser, &mut state, &noise)).unwrap();
            assert_eq!(&state.clean().to_vec().unwrap(), draw, "{device}");
        }
        // A row takes its noise along: the same keys in another order give the same rows in that order.
        let turned: Vec<RowKey> = keys(3, 6).into_iter().rev().collect();
        noise.set(11, &turned).unwrap();
        sample(&plan, &mut denoiser, &mut state, &noise).unwrap();
        let rows: Vec<f32> = draws[3].chunks(5).rev().flatten().copied().collect();
        assert_eq!(state.clean().to_vec().unwrap(), rows, "{device}");
    }
}

/// Natural parameters for a two-point target ±1 are x·√ᾱ/(1−ᾱ): the posterior mean is tanh, and samples end at ±1.
struct TwoPoints {
    schedule: Schedule,
    timesteps: Vec<usize>,
    quadrature: Quadrature,
    natural: Tensor,
}

impl Denoiser for TwoPoints {
    fn predict(&mut self, out: ViewMut<'_>, x: View<'_>, position: usize) -> Result<(), NnError> {
        let alpha_bar = self.schedule.alpha_bar(self.timesteps[position]);
        ops::axpby(self.natural.view_mut(), (alpha_bar.sqrt() / (1.0 - alpha_bar)) as f32, x, 0.0)?;
        self.quadrature.posterior_mean(out, self.natural.view())
    }
}

#[test]
fn the_posterior_mean_denoiser_finds_both_modes() {
    let schedule = Schedule::cosine(200).unwrap();
    for device in devices() {
        let plan = SamplerPlan::new(&schedule, Sampler::Ddpm, 200, PredictionKind::X0).unwrap();
        let timesteps = plan.steps().iter().map(|step| step.t).collect();
        let quadrature = Quadrature::new(&device, 1, &[1.0, -1.0], None, 2000, 1 << 20).unwrap();
        let natural = Tensor::zeros(&device, 2000, 1).unwrap();
        let mut denoiser = TwoPoints { schedule: schedule.clone(), timesteps, quadrature, natural };
        let mut state = SampleState::new(&device, 2000, 1).unwrap();
        let noise = noise(&device, 6, 0, 2000);
        sample(&plan, &mut denoiser, &mut state, &noise).unwrap();
        let values = state.clean().to_vec().unwrap();
        assert!(values.iter().all(|v| (v.abs() - 1.0).abs() < 1e-3));
        let up = values.iter().filter(|v| **v > 0.0).count();
        assert!((800..1200).contains(&up), "{up}");
        assert!(denoiser.natural.to_vec().unwrap().iter().all(|e| e.abs() > 3.0));
    }
}

#[test]
fn training_tables_noise_and_target_agree_with_the_schedule() {
    let schedule = Schedule::cosine(200).unwrap();
    for device in devices() {
        let tables = TrainingTables::new(&device, &schedule, PredictionKind::V, 2.0, 0).unwrap();
        let t = Indices::from_slice(&device, &[0, 120, 199]).unwrap();
        let x0 = Tensor::from_slice(&device, 3, 1, &[1.0, 1.0, 1.0]).unwrap();
        let z = Tensor::from_slice(&device, 3, 1, &[-1.0, -1.0, -1.0]).unwrap();
        let mut out = Tensor::zeros(&device, 3, 1).unwrap();
        for (table, signs) in [(&tables.noisy, (1.0, -1.0)), (&tables.target, (-1.0, -1.0))] {
            ops::mix_rows(out.view_mut(), x0.view(), z.view(), table.view(), &t).unwrap();
            for (got, t) in out.to_vec().unwrap().iter().zip([0, 120, 199]) {
                let (a, s) = (schedule.signal(t), schedule.noise(t));
                let want = if signs.0 > 0.0 { 2.0 * a - s } else { -2.0 * s - a };
                assert!((f64::from(*got) - want).abs() < 1e-6);
            }
        }
    }
}
