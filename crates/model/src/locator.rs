//! Samples for embeddings.

use crate::{Model, ModelError, error::setting, head::Head};
use locdiff_diffusion::{SampleState, Sampler, SamplerPlan, sample};
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
/// use locdiff_model::{Locator, Model, ModelConfig, SampleOptions};
/// use locdiff_nn::Device;
/// let model = Model::new(&Device::cpu(), ModelConfig { width: 8, ..ModelConfig::new(3, 5) })?;
/// let mut locator = Locator::new(&model, SampleOptions { samples: 2, steps: 4, ..SampleOptions::default() })?;
/// let codes = locator.sample_block(0, &[0.5; 15])?; // three images
/// assert_eq!(codes.len(), 3 * 2 * 16);
/// # Ok::<(), locdiff_model::ModelError>(())
/// ```
pub struct Locator<'m> {
    model: &'m Model,
    options: SampleOptions,
    plan: SamplerPlan,
    engine: Option<Engine<'m>>,
}

impl<'m> Locator<'m> {
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
        let config = self.model.config();
        let (dim, samples) = (config.embedding_dim, self.options.samples);
        let images = embeddings.len() / dim;
        if images == 0 || images * dim != embeddings.len() || images > self.images_per_block() {
            let remedy = format!("1 to {} rows of {dim} numbers", self.images_per_block());
            return Err(setting("embeddings", format!("{} numbers", embeddings.len()), remedy));
        }
        let mut rows = embeddings.to_vec();
        self.model.standardisation().apply(&mut rows);
        let repeated: Vec<f32> = rows.chunks_exact(dim).flat_map(|row| row.repeat(samples)).collect();
        let engine = self.engine(images * samples)?;
        engine.cond.upload(&repeated)?;
        let (seed, plan) = (self.options.seed, &self.plan);
        let Some(Engine { head, cond, state, rng, recorded, .. }) = &mut self.engine else {
            return Ok(Vec::new());
        };
        rng.set(seed, block)?;
        recorded.run(|| {
            head.set_cond(cond.view())?;
            sample(plan, head, state, rng)
        })?;
        let mut codes = state.clean().to_vec()?;
        let shrink = 1.0 / config.code_scale.factor() as f32;
        for value in &mut codes {
            *value *= shrink;
        }
        if let Some(at) = codes.iter().position(|value| !value.is_finite()) {
            let image = at / (samples * config.code_dim());
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
