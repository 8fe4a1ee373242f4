//! The sampler at one batch size.

use super::engines::Engine;
use super::prediction::{Drawn, Query, SampleOptions, TraceStep, mean_code};
use crate::diffusion::{SampleState, SamplerPlan, initial_noise, sample, sample_watched};
use crate::{LossKind, Model, ModelError, Result, head::GuidedNetwork, head::Head};
use locdiff_base::{Named, setting};
use locdiff_nn::{Recorded, RowKey, RowNoise, Tensor};
use locdiff_shdd::Coefficients;
use std::ops::Deref;

/// Storage for one batch size and one plan, recorded as one graph on CUDA.
pub(super) struct Drawing<M> {
    photos: usize,
    options: SampleOptions,
    plan: SamplerPlan,
    head: Head<M>,
    cond: Tensor,
    state: SampleState,
    noise: RowNoise,
    recorded: Recorded,
}

impl<M: Deref<Target = Model> + Clone> Engine<M> for Drawing<M> {
    fn new(model: &M, photos: usize, options: SampleOptions) -> Result<Self> {
        let (config, device, rows) = (model.config(), model.params().device(), photos * options.samples);
        let plan = SamplerPlan::new(&config.schedule()?, options.sampler, options.steps, config.prediction)?;
        let cond = Tensor::zeros(device, rows, config.embedding_dim)?;
        let network = GuidedNetwork::new(model.clone(), rows, cond.view(), &plan.timesteps(), options.guidance)?;
        let (head, noise) = (Head::new(network, rows)?, RowNoise::new(device, rows)?);
        let state = SampleState::new(device, rows, config.code_dim())?;
        Ok(Self { photos, options, head, plan, cond, state, noise, recorded: Recorded::new(device) })
    }

    fn fits(&self, photos: usize, options: SampleOptions) -> bool {
        self.photos == photos && self.options == SampleOptions { seed: self.options.seed, ..options }
    }
}

impl<M: Deref<Target = Model> + Clone> Drawing<M> {
    /// Puts embeddings, noise and tilts in place.
    fn prepare(&mut self, model: &Model, queries: &[Query<'_>], seed: u64) -> Result<()> {
        let samples = self.options.samples;
        prepare(model, &mut self.cond, &mut self.noise, queries, (samples, seed))?;
        let (config, last) = (model.config(), queries.len().saturating_sub(1));
        let mut rows = Vec::new();
        if queries.iter().any(|query| !query.tilts.is_empty()) {
            if config.loss != LossKind::Nll {
                return Err(setting("tilt", config.loss.name(), "only models trained with nll are tilted"));
            }
            for row in 0..self.photos * samples {
                let tilts = queries[(row / samples).min(last)].tilts;
                match tilts.get(row % samples % tilts.len().max(1)).map(|tilt| (tilt, tilt.as_slice())) {
                    Some((_, own)) if own.len() == config.whole_dim() => rows.extend(config.reduced(own)),
                    Some((tilt, _)) => return Err(setting("tilt", tilt.degree().get(), "the model's degree")),
                    None => rows.resize(rows.len() + config.code_dim(), 0.0),
                }
            }
        }
        if self.head.set_tilt((!rows.is_empty()).then_some(rows.as_slice()))? {
            self.recorded.clear();
        }
        Ok(())
    }

    /// Samples for as many photos as the engine has places for, or fewer.
    pub(super) fn draw(&mut self, model: &Model, queries: &[Query<'_>], seed: u64) -> Result<Vec<Drawn>> {
        self.prepare(model, queries, seed)?;
        let Self { plan, head, cond, state, noise, recorded, .. } = self;
        recorded.run(|| {
            head.network.set_cond(cond.view())?;
            sample(plan, head, state, noise)
        })?;
        let dim = model.config().whole_dim();
        let codes = unscaled(model, state.clean().to_vec()?);
        let first = if model.config().loss.has_quadrature() { head.first.to_vec()? } else { Vec::new() };
        let first = model.config().expanded(first);
        let per_photo = self.options.samples * dim;
        let drawn = |k: usize| {
            let range = k * per_photo..(k + 1) * per_photo;
            let codes = codes[range.clone()].to_vec();
            let evidence = first.get(range).map(|rows| mean_code(rows, dim, k)).transpose()?;
            let is_finite = codes.iter().all(|value| value.is_finite());
            if is_finite { Ok(Drawn { codes, evidence }) } else { Err(ModelError::NotFinite { photo: k + 1 }) }
        };
        (0..queries.len()).map(drawn).collect()
    }

    /// The natural parameters that the network gives each sample at a step of the plan, photo by photo.
    pub(super) fn posteriors(
        &mut self,
        model: &Model,
        queries: &[Query<'_>],
        (seed, position): (u64, usize),
    ) -> Result<Vec<Vec<Coefficients>>> {
        self.prepare(model, queries, seed)?;
        let Self { plan, head, cond, state, noise, .. } = self;
        head.network.set_cond(cond.view())?;
        head.keep_at(Some(position))?;
        sample(plan, head, state, noise)?;
        let kept = head.kept.as_ref().map_or(Ok(Vec::new()), |(_, kept)| kept.to_vec())?;
        head.keep_at(None)?;
        let dim = model.config().whole_dim();
        let rows = model.config().expanded(kept);
        let photos = rows.chunks_exact(self.options.samples * dim).take(queries.len());
        photos.enumerate().map(|(k, own)| own.chunks_exact(dim).map(|row| mean_code(row, dim, k)).collect()).collect()
    }

    /// The samples of one photo as pure noise and after every step.
    pub(super) fn trace(&mut self, model: &Model, query: Query<'_>, seed: u64) -> Result<Vec<TraceStep>> {
        self.prepare(model, &[query], seed)?;
        let Self { plan, head, cond, state, noise, .. } = self;
        head.network.set_cond(cond.view())?;
        let mut start = Tensor::zeros(state.noisy().device(), state.noisy().rows(), state.noisy().cols())?;
        initial_noise(&mut start, noise)?;
        let first = plan.steps().first().map_or(0, |step| step.t + 1);
        let mut steps = vec![(first, start.to_vec()?)];
        sample_watched(plan, head, state, noise, |step, state| {
            steps.push((step.t, if step.t == 0 { state.clean() } else { state.noisy() }.to_vec()?));
            Ok(())
        })?;
        let dim = model.config().whole_dim();
        let used = self.options.samples * dim;
        let step = |(t, noisy): (usize, Vec<f32>)| {
            let noisy = unscaled(model, noisy);
            let samples = noisy[..used].chunks_exact(dim).map(|row| mean_code(row, dim, 0)).collect::<Result<_>>()?;
            Ok(TraceStep { t, samples })
        };
        steps.into_iter().map(step).collect()
    }
}

/// Codes from the diffusion's scale to their own, whole.
fn unscaled(model: &Model, codes: Vec<f32>) -> Vec<f32> {
    let mut codes = model.config().expanded(codes);
    let shrink = 1.0 / model.config().code_scale.factor() as f32;
    codes.iter_mut().for_each(|value| *value *= shrink);
    codes
}

/// Puts embeddings and noise in place; places without a photo repeat the last one.
pub(super) fn prepare(
    model: &Model,
    cond: &mut Tensor,
    noise: &mut RowNoise,
    queries: &[Query<'_>],
    (samples, seed): (usize, u64),
) -> Result<()> {
    let mut rows = Vec::with_capacity(cond.rows() * cond.cols());
    let mut keys = Vec::with_capacity(cond.rows());
    let last = queries.len().saturating_sub(1);
    for place in 0..cond.rows() / samples {
        let query = queries[place.min(last)];
        for number in 0..samples {
            rows.extend_from_slice(query.views[number % query.views.len()].values());
            keys.push(RowKey { key: query.key, number: number as u32 });
        }
    }
    model.standardisation().apply(&mut rows);
    cond.upload(&rows)?;
    Ok(noise.set(seed, &keys)?)
}
