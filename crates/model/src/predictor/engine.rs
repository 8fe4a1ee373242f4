//! The sampler at one batch size, and the few sizes that are kept.

use super::options::{BLOCK_ROWS, SampleOptions};
use super::prediction::{Drawn, mean_row};
use super::query::{Query, TraceStep};
use crate::{Model, ModelError, head::Head};
use locdiff_diffusion::{SampleState, SamplerPlan, sample, sample_watched};
use locdiff_nn::{Recorded, RowKey, RowNoise, Tensor};
use locdiff_shdd::Coefficients;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

/// Engines that are kept for the next call; the one that was not used for longest makes room.
const KEPT: usize = 8;

/// Storage for one batch size and one plan, recorded as one graph on CUDA.
pub(super) struct Engine<M> {
    photos: usize,
    options: SampleOptions,
    plan: SamplerPlan,
    head: Head<M>,
    cond: Tensor,
    state: SampleState,
    noise: RowNoise,
    recorded: Recorded,
}

impl<M: Deref<Target = Model> + Clone> Engine<M> {
    fn new(model: &M, photos: usize, options: SampleOptions) -> Result<Self, ModelError> {
        let (config, device, rows) = (model.config(), model.params().device(), photos * options.samples);
        let plan =
            SamplerPlan::new(&config.schedule()?, options.sampler, options.steps, config.prediction())?;
        let cond = Tensor::zeros(device, rows, config.embedding_dim)?;
        Ok(Self {
            photos,
            options,
            head: Head::new(model.clone(), rows, cond.view(), &plan.timesteps(), options.guidance)?,
            plan,
            cond,
            state: SampleState::new(device, rows, config.code_dim())?,
            noise: RowNoise::new(device, rows)?,
            recorded: Recorded::new(device),
        })
    }

    /// Whether it samples so many photos in this way, whatever the seed.
    fn fits(&self, photos: usize, options: SampleOptions) -> bool {
        self.photos == photos && self.options == SampleOptions { seed: self.options.seed, ..options }
    }

    /// Samples for as many photos as the engine has places for, or fewer.
    pub(super) fn draw(
        &mut self,
        model: &Model,
        queries: &[Query<'_>],
        seed: u64,
    ) -> Result<Vec<Drawn>, ModelError> {
        self.prepare(model, queries, seed)?;
        let Self { plan, head, cond, state, noise, recorded, .. } = self;
        recorded.run(|| {
            head.set_cond(cond.view())?;
            sample(plan, head, state, noise)
        })?;
        let dim = model.config().code_dim();
        let codes = unscaled(model, state.clean().to_vec()?);
        let first = if model.config().loss.has_quadrature() { head.first().to_vec()? } else { Vec::new() };
        let per_photo = self.options.samples * dim;
        (0..queries.len())
            .map(|k| {
                let range = k * per_photo..(k + 1) * per_photo;
                let codes = codes[range.clone()].to_vec();
                let evidence = match first.get(range) {
                    Some(rows) => Some(
                        Coefficients::new(mean_row(rows, dim))
                            .map_err(|_| ModelError::NotFinite { photo: k + 1 })?,
                    ),
                    None => None,
                };
                if codes.iter().all(|value| value.is_finite()) {
                    Ok(Drawn { codes, evidence })
                } else {
                    Err(ModelError::NotFinite { photo: k + 1 })
                }
            })
            .collect()
    }

    /// The pooled clean estimates of one photo at every step.
    pub(super) fn trace(
        &mut self,
        model: &Model,
        query: Query<'_>,
        seed: u64,
    ) -> Result<Vec<TraceStep>, ModelError> {
        self.prepare(model, &[query], seed)?;
        let Self { plan, head, cond, state, noise, .. } = self;
        head.set_cond(cond.view())?;
        let mut steps = Vec::new();
        sample_watched(plan, head, state, noise, |step, state| {
            steps.push((step.t, state.clean().to_vec()?));
            Ok(())
        })?;
        let dim = model.config().code_dim();
        let used = self.options.samples * dim;
        steps
            .into_iter()
            .map(|(t, codes)| {
                let code = Coefficients::new(mean_row(&unscaled(model, codes)[..used], dim))
                    .map_err(|_| ModelError::NotFinite { photo: 1 })?;
                Ok(TraceStep { t, code })
            })
            .collect()
    }

    /// Puts embeddings and noise in place; places without a photo repeat the last one.
    fn prepare(&mut self, model: &Model, queries: &[Query<'_>], seed: u64) -> Result<(), ModelError> {
        let (samples, dim) = (self.options.samples, model.config().embedding_dim);
        let mut rows = Vec::with_capacity(self.photos * samples * dim);
        let mut keys = Vec::with_capacity(self.photos * samples);
        let last = queries.len().saturating_sub(1);
        for place in 0..self.photos {
            let query = queries[place.min(last)];
            for number in 0..samples {
                rows.extend_from_slice(query.views[number % query.views.len()].values());
                keys.push(RowKey { key: query.key, number: number as u32 });
            }
        }
        model.standardisation().apply(&mut rows);
        self.cond.upload(&rows)?;
        Ok(self.noise.set(seed, &keys)?)
    }
}

/// Codes from the diffusion's scale to their own.
fn unscaled(model: &Model, mut codes: Vec<f32>) -> Vec<f32> {
    let shrink = 1.0 / model.config().code_scale.factor() as f32;
    for value in &mut codes {
        *value *= shrink;
    }
    codes
}

/// Engines that wait for their next call. One at work is outside, so that callers on several threads never wait for each
/// other, nor for themselves.
pub(super) struct Engines<M>(Mutex<Vec<Engine<M>>>);

impl<M: Deref<Target = Model> + Clone> Engines<M> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Runs `work` with an engine for so many photos, a kept one where there is one.
    pub(super) fn with<T>(
        &self,
        model: &M,
        photos: usize,
        options: SampleOptions,
        work: impl FnOnce(&mut Engine<M>) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = {
            let mut kept = kept();
            kept.iter().position(|engine| engine.fits(photos, options)).map(|at| kept.remove(at))
        };
        let mut engine = match waiting {
            Some(engine) => engine,
            None => Engine::new(model, photos, options)?,
        };
        let done = work(&mut engine)?;
        let mut kept = kept();
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(engine);
        Ok(done)
    }
}

/// How photos are cut into batches: for each, how many photos it holds and how many places its engine has. There are four
/// sizes, so that a few engines, and recorded graphs, serve every number of photos.
pub(super) fn batches(photos: usize, samples: usize) -> Vec<(usize, usize)> {
    let most = BLOCK_ROWS / samples;
    let sizes = [most, most / 4, most / 16, 1].map(|size| size.max(1));
    let (mut left, mut cut) = (photos, Vec::new());
    while left > 0 {
        // The smallest engine that takes all that is left, unless a quarter of it or more would be idle.
        let whole = sizes.iter().rev().find(|&&size| size >= left && 4 * (size - left) <= size);
        let part = sizes.iter().find(|&&size| size <= left);
        let size = *whole.or(part).unwrap_or(&1);
        cut.push((size.min(left), size));
        left -= size.min(left);
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::batches;

    #[test]
    fn every_photo_is_in_one_batch_of_a_known_size() {
        for photos in 0..200 {
            let cut = batches(photos, 16);
            assert_eq!(cut.iter().map(|(count, _)| count).sum::<usize>(), photos);
            assert!(cut.iter().all(|(count, size)| count <= size && [64, 16, 4, 1].contains(size)));
            let idle: usize = cut.iter().map(|(count, size)| size - count).sum();
            assert!(4 * idle <= photos + idle, "{photos}: {cut:?}");
        }
        assert_eq!(batches(3, 1024), [(1, 1); 3]);
    }
}
