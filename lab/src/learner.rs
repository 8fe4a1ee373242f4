//! The training loop that the neural methods share.

use crate::{Effort, Result, baseline::Task, examples::Bank};
use anyhow::ensure;
use locdiff_model::chance;
use locdiff_nn::layers::{ForwardMode, Mlp, MlpWork};
use locdiff_nn::{Adam, AdamConfig, Gradients, Indices, LrSchedule, Params, ParamsBuilder, Rng, Tensor, View, ops};

pub(crate) struct Weights {
    /// After a training those of the best accuracy.
    pub(crate) params: Params,
    /// After a training those of the best likelihood.
    pub(crate) likeliest: Params,
    pub(crate) grads: Gradients,
    pub(crate) adam: Adam,
    pub(crate) rng: Rng,
}

impl Weights {
    /// Fresh weights for a training of `effort.steps` steps.
    pub(crate) fn new(builder: ParamsBuilder, task: Task<'_>) -> Result<Self> {
        let likeliest = builder.clone().build(task.device, task.seed)?;
        Self::of([builder.build(task.device, task.seed)?, likeliest], task.effort, task.seed)
    }

    /// The same for weights that have start values of their own.
    pub(crate) fn of([params, likeliest]: [Params; 2], effort: &Effort, seed: u64) -> Result<Self> {
        let config = AdamConfig {
            lr: effort.lr,
            schedule: LrSchedule::WarmupCosine {
                warmup_steps: effort.steps / 20,
                total_steps: effort.steps,
                final_fraction: 0.0,
            },
            ema_decay: Some(0.99),
            ..AdamConfig::default()
        };
        Ok(Self {
            grads: Gradients::new(&params)?,
            adam: Adam::new(config, &params)?,
            rng: Rng::new(params.device(), seed)?,
            params,
            likeliest,
        })
    }

    pub(crate) fn averaged(&self) -> &Params {
        self.adam.ema().unwrap_or(&self.params)
    }

    /// A training pass of the one network that has these weights.
    pub(crate) fn forward(&self, mlp: &Mlp, work: &mut MlpWork, inputs: View<'_>) -> Result<()> {
        Ok(mlp.forward(&self.params, work, inputs, ForwardMode::Train { rng: &self.rng, first_stream: 0 })?)
    }

    /// The backward pass after [`Weights::forward`].
    pub(crate) fn backward(&mut self, mlp: &Mlp, work: &mut MlpWork, inputs: View<'_>, d_out: View<'_>) -> Result<()> {
        Ok(mlp.backward(&self.params, &mut self.grads, work, inputs, d_out, None)?)
    }

    pub(crate) fn update(&mut self) -> Result<()> {
        self.adam.step(&mut self.params, &self.grads)?;
        Ok(self.rng.advance()?)
    }
}

/// A step's data: which photos, and their standardised embeddings.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    pub(crate) step: u32,
    pub(crate) photos: &'a [u32],
    pub(crate) indices: &'a Indices,
    pub(crate) inputs: View<'a>,
    pub(crate) tells_loss: bool,
}

impl Batch<'_> {
    /// The mean of a column of losses, where it is asked for.
    pub(crate) fn mean(&self, losses: &Tensor) -> Result<f64> {
        if !self.tells_loss {
            return Ok(0.0);
        }
        let losses = losses.to_vec()?;
        Ok(losses.iter().map(|loss| f64::from(*loss)).sum::<f64>() / losses.len() as f64)
    }
}

/// What is drawn where.
const ROW: u64 = 0xBA5E_0001;
const COPY: u64 = 0xBA5E_0002;
/// The stream of the noise on embeddings; networks use the small numbers for their dropout.
const EMBEDDING_NOISE: u32 = 1000;

/// Trains and leaves the averaged weights of the validations with the best accuracy and with the best likelihood in place.
/// Returns both scores.
///
/// `gradients` leaves those of a batch in the weights and returns the mean loss where the batch wants it; `validate` says how good
/// averaged weights are on the validation data, by accuracy and by mean log density, more being better.
pub(crate) fn learn(
    weights: &mut Weights,
    task: Task<'_>,
    bank: &Bank,
    mut gradients: impl FnMut(&mut Weights, Batch<'_>) -> Result<f64>,
    validate: impl Fn(&Params) -> Result<[f64; 2]>,
    progress: &mut dyn FnMut(f64),
) -> Result<[f64; 2]> {
    let Task { method, effort, seed, data, .. } = task;
    let photos = data.training.len();
    let device = bank.embeddings.device();
    let copies = bank.embeddings.rows() / photos;
    let mut inputs = Tensor::zeros(device, effort.batch, bank.embeddings.cols())?;
    let mut noise = Tensor::zeros(device, effort.batch, bank.embeddings.cols())?;
    let mut bank_rows = Indices::from_slice(device, &vec![0; effort.batch])?;
    let mut indices = Indices::from_slice(device, &vec![0; effort.batch])?;
    let mut best: [(f64, Vec<f32>); 2] = [const { (f64::NEG_INFINITY, Vec::new()) }; 2];
    let every = effort.steps.div_ceil(effort.validations.max(1));
    for step in 1..=effort.steps {
        let draw = |what: u64, k: usize, bound: usize| chance::below(&[seed, what, u64::from(step), k as u64], bound);
        let drawn: Vec<u32> = (0..effort.batch).map(|k| draw(ROW, k, photos) as u32).collect();
        let rows: Vec<u32> =
            drawn.iter().enumerate().map(|(k, row)| row + (draw(COPY, k, copies) * photos) as u32).collect();
        bank_rows.upload(&rows)?;
        indices.upload(&drawn)?;
        ops::gather_rows(inputs.view_mut(), bank.embeddings.view(), &bank_rows)?;
        if effort.embedding_noise > 0.0 {
            ops::fill_normal(noise.view_mut(), &weights.rng, EMBEDDING_NOISE)?;
            ops::axpby(inputs.view_mut(), effort.embedding_noise, noise.view(), 1.0)?;
        }
        let tells_loss = step.is_multiple_of(every) || step == effort.steps;
        let batch = Batch { step, photos: &drawn, indices: &indices, inputs: inputs.view(), tells_loss };
        let loss = gradients(weights, batch)?;
        weights.update()?;
        if tells_loss {
            check_finite(method, step, loss)?;
            // Of equals the later: the rate falls to 0, and the weights settle.
            for (best, score) in best.iter_mut().zip(validate(weights.averaged())?) {
                if score >= best.0 || best.1.is_empty() {
                    *best = (score, weights.averaged().to_vec()?);
                }
            }
        }
        progress(f64::from(step) / f64::from(effort.steps));
    }
    let [places, likeliest] = best;
    weights.params.upload(&places.1)?;
    weights.likeliest.upload(&likeliest.1)?;
    Ok([places.0, likeliest.0])
}

/// Fails where a training has left the numbers.
pub(crate) fn check_finite(method: &str, step: u32, loss: f64) -> Result<()> {
    ensure!(loss.is_finite(), "{method}: the loss is {loss} at step {step}; the embeddings may hold huge values");
    Ok(())
}

/// The best of several settings: fits one after the other and keeps the one with the highest score.
pub(crate) fn choose<S: Copy, F>(
    settings: &[S],
    progress: &mut dyn FnMut(f64),
    mut fit: impl FnMut(S, &mut dyn FnMut(f64)) -> Result<(f64, F)>,
) -> Result<(S, F)> {
    let mut best: Option<(f64, S, F)> = None;
    for (k, setting) in settings.iter().enumerate() {
        let mut part = |share: f64| progress((k as f64 + share) / settings.len() as f64);
        let (score, fitted) = fit(*setting, &mut part)?;
        if best.as_ref().is_none_or(|(other, ..)| score > *other) {
            best = Some((score, *setting, fitted));
        }
    }
    best.map(|(_, setting, fitted)| (setting, fitted))
        .ok_or_else(|| locdiff_base::setting("settings", "none", "at least one"))
}
