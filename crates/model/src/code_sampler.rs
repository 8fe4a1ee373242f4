//! Samples for embeddings.

use crate::{Model, ModelError, head::Head};
use locdiff_base::setting;
use locdiff_diffusion::{SampleState, Sampler, SamplerPlan, sample, sample_watched};
use locdiff_nn::{Recorded, Rng, Tensor};

/// Codes that are sampled at a time: memory stays at one block.
const BLOCK_ROWS: usize = 1024;

/// How to sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleOptions {
    /// Samples an image.
    pub samples: usize,
    /// The sampler.
    pub sampler: Sampler,
    /// Its steps.
    pub steps: usize,
    /// Classifier-free guidance; 0 for none.
    pub guidance: f32,
    /// The seed of the noise.
    pub seed: u64,
}

impl Default for SampleOptions {
    fn default() -> Self {
        Self { samples: 16, sampler: Sampler::DpmSolverPlusPlus2M, steps: 20, guidance: 0.0, seed: 0 }
    }
}

/// Storage for one batch size, recorded as one graph on CUDA.
struct Engine<'m> {
    rows: usize,
    head: Head<'m>,
    cond: Tensor,
    state: SampleState,
    rng: Rng,
    recorded: Recorded,
}

/// Draws clean codes for embeddings, a block of images at a time.
///
/// The noise of an image depends on the seed, the number of samples and the image's number, and on nothing else: how
/// many images there are does not matter, and blocks may be asked for in any order.
///
/// ```
/// use locdiff_model::{CodeSampler, Model, ModelConfig, SampleOptions};
/// use locdiff_nn::Device;
/// let model = Model::new(&Device::cpu(), ModelConfig { width: 8, ..ModelConfig::new(3, 5) })?;
/// let mut sampler = CodeSampler::new(&model, SampleOptions { samples: 2, steps: 4, ..SampleOptions::default() })?;
/// let codes = sampler.sample_block(0, &[0.5; 15])?; // three images
/// assert_eq!(codes.len(), 3 * 2 * 16);
/// # Ok::<(), locdiff_model::ModelError>(())
/// ```
pub struct CodeSampler<'m> {
    model: &'m Model,
    options: SampleOptions,
    plan: SamplerPlan,
    engine: Option<Engine<'m>>,
}

impl<'m> CodeSampler<'m> {
    /// A sampler for a model, on the model's device.
    ///
    /// # Errors
    /// Options out of range.
    pub fn new(model: &'m Model, options: SampleOptions) -> Result<Self, ModelError> {
        if options.samples == 0 || options.samples > BLOCK_ROWS {
            return Err(setting("samples", options.samples, format!("1 to {BLOCK_ROWS}")));
        }
        if !options.guidance.is_finite() {
            return Err(setting("guidance", options.guidance, "a finite number"));
        }
        let config = model.config();
        let plan =
            SamplerPlan::new(&config.schedule()?, options.sampler, options.steps, config.prediction())?;
        Ok(Self { model, options, plan, engine: None })
    }

    /// The options.
    pub fn options(&self) -> &SampleOptions {
        &self.options
    }

    /// Images in a block; the last block may hold fewer.
    pub fn images_per_block(&self) -> usize {
        BLOCK_ROWS / self.options.samples
    }

    /// The samples of block number `block`: for every embedding (a row of numbers as they come from the encoder) all
    /// its samples one after the other, each a clean code of (L+1)² numbers.
    ///
    /// # Errors
    /// A number of values that does not fit, samples that are not finite, or a failure of the device.
    pub fn sample_block(&mut self, block: u64, embeddings: &[f32]) -> Result<Vec<f32>, ModelError> {
        self.sample_views(block, embeddings, 1)
    }

    /// The same for images of which `views` embeddings each are known, one after the other: an image's sample k is
    /// drawn for its view k modulo `views` (the paper's Algorithm 2).
    ///
    /// # Errors
    /// As [`CodeSampler::sample_block`]; no views, or more than samples.
    pub fn sample_views(
        &mut self,
        block: u64,
        embeddings: &[f32],
        views: usize,
    ) -> Result<Vec<f32>, ModelError> {
        self.prepare(block, embeddings, views)?;
        let plan = &self.plan;
        let Some(Engine { head, cond, state, rng, recorded, .. }) = &mut self.engine else {
            return Ok(Vec::new());
        };
        recorded.run(|| {
            head.set_cond(cond.view())?;
            sample(plan, head, state, rng)
        })?;
        let codes = state.clean().to_vec()?;
        self.unscaled(block, codes)
    }

    /// The samples as [`CodeSampler::sample_views`] gives them, and before them the clean estimates at every earlier
    /// step, noisiest first, each with its time step: the backward process as it goes.
    ///
    /// # Errors
    /// As [`CodeSampler::sample_views`].
    pub fn trace(
        &mut self,
        block: u64,
        embeddings: &[f32],
        views: usize,
    ) -> Result<Vec<(usize, Vec<f32>)>, ModelError> {
        self.prepare(block, embeddings, views)?;
        let plan = &self.plan;
        let Some(Engine { head, cond, state, rng, .. }) = &mut self.engine else {
            return Ok(Vec::new());
        };
        head.set_cond(cond.view())?;
        let mut steps = Vec::new();
        sample_watched(plan, head, state, rng, |step, state| {
            steps.push((step.t, state.clean().to_vec()?));
            Ok(())
        })?;
        steps.into_iter().map(|(t, codes)| Ok((t, self.unscaled(block, codes)?))).collect()
    }

    /// For every image of the block sampled last, the natural parameters that the network gave at pure noise, the mean
    /// over the image's samples. For a model trained with `nll` or `kl` they estimate `log p(place | image)` up to a
    /// constant, in one evaluation and before any sample commits itself to a place.
    ///
    /// # Errors
    /// A model of another loss, whose network gives something else; nothing sampled yet; numbers that are not finite.
    ///
    /// ```
    /// use locdiff_model::{CodeSampler, Model, ModelConfig, SampleOptions};
    /// use locdiff_nn::Device;
    /// let model = Model::new(&Device::cpu(), ModelConfig { width: 8, ..ModelConfig::new(3, 5) })?;
    /// let mut sampler = CodeSampler::new(&model, SampleOptions { samples: 2, steps: 4, ..SampleOptions::default() })?;
    /// sampler.sample_block(0, &[0.5; 15])?; // three images
    /// assert_eq!(sampler.evidence()?.len(), 3);
    /// assert_eq!(sampler.background(8)?.len(), 16);
    /// # Ok::<(), locdiff_model::ModelError>(())
    /// ```
    pub fn evidence(&self) -> Result<Vec<Vec<f64>>, ModelError> {
        let config = self.model.config();
        if !config.loss.has_quadrature() {
            return Err(setting(
                "loss",
                format!("{:?}", config.loss),
                "only models trained with nll or kl give densities",
            ));
        }
        let Some(engine) = &self.engine else {
            return Err(setting("evidence", "of no block", "sample one first"));
        };
        let (dim, samples) = (config.code_dim(), self.options.samples);
        let first = engine.head.first().to_vec()?;
        let mean = |image: &[f32]| {
            let mut mean = vec![0.0; dim];
            for row in image.chunks_exact(dim) {
                mean.iter_mut().zip(row).for_each(|(m, value)| *m += f64::from(*value) / samples as f64);
            }
            mean
        };
        let means: Vec<Vec<f64>> = first.chunks_exact(dim * samples).map(mean).collect();
        match means.iter().position(|mean| mean.iter().any(|value| !value.is_finite())) {
            Some(image) => Err(ModelError::NotFinite { image: image + 1 }),
            None => Ok(means),
        }
    }

    /// The same for no image at all, the mean over `draws` of noise: the density of places that the model has learned
    /// to expect.
    ///
    /// # Errors
    /// As [`CodeSampler::evidence`].
    pub fn background(&self, draws: usize) -> Result<Vec<f64>, ModelError> {
        let options = SampleOptions { samples: draws, steps: 1, guidance: 0.0, seed: 0, ..self.options };
        let mut sampler = Self::new(self.model, options)?;
        // The mean embedding becomes zeros, which training puts where it drops the condition.
        sampler.sample_block(0, &self.model.standardisation().mean)?;
        Ok(sampler.evidence()?.swap_remove(0))
    }

    /// Puts embeddings and noise of a block in place.
    fn prepare(&mut self, block: u64, embeddings: &[f32], views: usize) -> Result<(), ModelError> {
        let (dim, samples) = (self.model.config().embedding_dim, self.options.samples);
        if views == 0 || views > samples {
            return Err(setting("views", views, format!("1 to the number of samples, {samples}")));
        }
        let images = embeddings.len() / (dim * views);
        if images == 0 || images * dim * views != embeddings.len() || images > self.images_per_block() {
            let remedy = format!("1 to {} rows of {dim} numbers", self.images_per_block() * views);
            return Err(setting("embeddings", format!("{} numbers", embeddings.len()), remedy));
        }
        let mut rows = embeddings.to_vec();
        self.model.standardisation().apply(&mut rows);
        let each = rows.chunks_exact(dim * views);
        let repeated: Vec<f32> =
            each.flat_map(|image| image.iter().copied().cycle().take(samples * dim)).collect();
        let seed = self.options.seed;
        let engine = self.engine(images * samples)?;
        engine.cond.upload(&repeated)?;
        engine.rng.set(seed, block)?;
        Ok(())
    }

    /// Codes from the diffusion's scale to their own, checked.
    fn unscaled(&self, block: u64, mut codes: Vec<f32>) -> Result<Vec<f32>, ModelError> {
        let config = self.model.config();
        let shrink = 1.0 / config.code_scale.factor() as f32;
        for value in &mut codes {
            *value *= shrink;
        }
        if let Some(at) = codes.iter().position(|value| !value.is_finite()) {
            let image = at / (self.options.samples * config.code_dim());
            return Err(ModelError::NotFinite {
                image: block as usize * self.images_per_block() + image + 1,
            });
        }
        Ok(codes)
    }

    fn engine(&mut self, rows: usize) -> Result<&mut Engine<'m>, ModelError> {
        if self.engine.as_ref().is_none_or(|engine| engine.rows != rows) {
            self.engine = None; // frees its memory before the next one takes its own
            let (model, config) = (self.model, self.model.config());
            let device = model.params().device();
            let cond = Tensor::zeros(device, rows, config.embedding_dim)?;
            self.engine = Some(Engine {
                rows,
                head: Head::new(model, rows, cond.view(), &self.plan.timesteps(), self.options.guidance)?,
                cond,
                state: SampleState::new(device, rows, config.code_dim())?,
                rng: Rng::new(device, self.options.seed)?,
                recorded: Recorded::new(device),
            });
        }
        self.engine.as_mut().ok_or_else(|| setting("rows", rows, "at least 1"))
    }
}
