//! What the network says at pure noise, without sampling.

use super::{drawing::prepare, engines::Engine, prediction::Query, prediction::SampleOptions, prediction::mean_code};
use crate::{Model, Result, diffusion::SamplerPlan, diffusion::initial_noise, head::GuidedNetwork};
use locdiff_nn::{Recorded, RowNoise, Tensor};
use locdiff_shdd::Coefficients;
use std::ops::Deref;

/// Storage for one batch size: one evaluation of the network, recorded as one graph on CUDA.
pub(super) struct BatchBuffers<M> {
    photos: usize,
    options: SampleOptions,
    network: GuidedNetwork<M>,
    cond: Tensor,
    x: Tensor,
    noise: RowNoise,
    recorded: Recorded,
}

impl<M: Deref<Target = Model> + Clone> Engine<M> for BatchBuffers<M> {
    fn new(model: &M, photos: usize, options: SampleOptions) -> Result<Self> {
        let (config, device, rows) = (model.config(), model.params().device(), photos * options.samples);
        // The noisiest step is the same for every sampler and every number of steps.
        let plan = SamplerPlan::new(&config.schedule()?, options.sampler, options.steps, config.prediction)?;
        let noisiest = &plan.timesteps()[..1];
        let cond = Tensor::zeros(device, rows, config.embedding_dim)?;
        let network = GuidedNetwork::new(model.clone(), rows, cond.view(), noisiest, options.guidance)?;
        let (x, noise) = (Tensor::zeros(device, rows, config.code_dim())?, RowNoise::new(device, rows)?);
        Ok(Self { photos, options, network, cond, x, noise, recorded: Recorded::new(device) })
    }

    fn fits(&self, photos: usize, options: SampleOptions) -> bool {
        let SampleOptions { samples, guidance, .. } = self.options;
        self.photos == photos && samples == options.samples && guidance == options.guidance
    }
}

impl<M: Deref<Target = Model> + Clone> BatchBuffers<M> {
    /// The coefficients of as many photos as the engine has places for, or fewer.
    pub(super) fn read(&mut self, model: &Model, queries: &[Query<'_>], seed: u64) -> Result<Vec<Coefficients>> {
        prepare(model, &mut self.cond, &mut self.noise, queries, (self.options.samples, seed))?;
        let Self { network, cond, x, noise, recorded, .. } = self;
        recorded.run(|| {
            network.set_cond(cond.view())?;
            initial_noise(x, noise)?;
            network.run(x.view(), 0).map(|_| ())
        })?;
        let dim = model.config().whole_dim();
        let natural = model.config().expanded(self.network.natural.to_vec()?);
        let photos = natural.chunks_exact(self.options.samples * dim).take(queries.len());
        photos.enumerate().map(|(k, rows)| mean_code(rows, dim, k)).collect()
    }
}
