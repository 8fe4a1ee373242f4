//! Diffusion of encodings instead of SHDD codes.

use super::{EncoderKind, LocationEncoder, NnDecoder, decoder::columns_of};
use crate::{
    Baseline, BaselineError, Effort, FitData, PhotoDensity,
    examples::{Bank, standardised},
    learner::{Batch, Learner, Weights, learn, mean_of},
    sampled::{FittedSampler, PlaceSampler, QuickValidation, SamplerSettings, network, repeated_blocks},
};
use locdiff_diffusion::{
    Denoiser, Prediction, SampleState, Sampler, SamplerPlan, Schedule, TrainingTables, sample,
};
use locdiff_model::Standardisation;
use locdiff_nn::{
    Device, Indices, NnError, Params, ParamsBuilder, RowKey, RowNoise, Tensor, View, ViewMut,
    layers::{Conditioning, CsUnet, CsUnetWorkspace, ForwardMode, SamplingWorkspace},
    ops,
};
use locdiff_sphere::{LatLon, UnitVec};

/// Diffusion steps, as LocDiff's.
const TIMES: usize = 200;
/// Rows that are sampled at a time.
const BLOCK: usize = 4096;
/// The streams of random numbers inside a step; dropout follows.
const NOISE: u32 = 0;
const TIME: u32 = 1;
const DROPOUT: u32 = 10;
/// Samples per photo in validations during training.
const VALIDATION_SAMPLES: usize = 4;

/// LocDiff's diffusion and network on the encodings of a [`LocationEncoder`], by mean squared error, and a learned decoder that
/// reads places off the samples: the paper's ablation of the codec.
pub struct EncoderAblation {
    device: Device,
    effort: Effort,
    seed: u64,
    kind: EncoderKind,
    fitted: Option<FittedSampler<Generator>>,
}

/// All that is needed to sample places but the diffusion's weights.
struct Generator {
    net: CsUnet,
    schedule: Schedule,
    encoder: LocationEncoder,
    decoder: NnDecoder,
    /// Of the encodings, to which the diffusion's codes are related.
    codes: Standardisation,
    seed: u64,
}

struct Head<'a> {
    net: &'a CsUnet,
    params: &'a Params,
    work: SamplingWorkspace,
    conditioning: Conditioning,
}

impl Denoiser for Head<'_> {
    fn predict(&mut self, out: ViewMut<'_>, x: View<'_>, position: usize) -> Result<(), NnError> {
        self.net.predict(self.params, &mut self.work, out, x, &self.conditioning, position)
    }
}

impl PlaceSampler for Generator {
    /// None: it is trained with every photo's embedding.
    const GUIDANCE: &'static [f64] = &[0.0];

    fn sample(
        &self,
        params: &Params,
        inputs: &[f32],
        samples: usize,
        settings: SamplerSettings,
    ) -> Result<Vec<UnitVec>, BaselineError> {
        let columns = self.net.config().cond_dim;
        let plan =
            SamplerPlan::new(&self.schedule, Sampler::DpmSolverPlusPlus2M, settings.steps, Prediction::X0)?;
        let device = params.device();
        let mut places = Vec::new();
        for (block, rows) in repeated_blocks(inputs, columns, samples, BLOCK).enumerate() {
            let count = rows.len() / columns;
            let cond = Tensor::from_slice(device, count, columns, &rows)?;
            let mut head = Head {
                net: &self.net,
                params,
                work: self.net.sampling_workspace(device, count)?,
                conditioning: self.net.conditioning(params, cond.view(), &plan.timesteps())?,
            };
            let mut state = SampleState::new(device, count, self.net.config().code_dim)?;
            let keys: Vec<RowKey> =
                (0..count as u32).map(|number| RowKey { key: block as u64, number }).collect();
            let mut noise = RowNoise::new(device, count)?;
            noise.set(self.seed, &keys)?;
            sample(&plan, &mut head, &mut state, &noise)?;
            let mut codes = state.clean().to_vec()?;
            let size = self.codes.mean.len();
            for row in codes.chunks_exact_mut(size) {
                for (k, value) in row.iter_mut().enumerate() {
                    *value = *value * self.codes.deviation[k] + self.codes.mean[k];
                }
            }
            places.extend(self.decoder.decode(&codes)?);
        }
        Ok(places)
    }
}

impl EncoderAblation {
    /// A method to be fitted.
    pub fn new(device: &Device, effort: Effort, seed: u64, kind: EncoderKind) -> Self {
        Self { device: device.clone(), effort, seed, kind, fitted: None }
    }

    /// [`NnDecoder::drifts_km`] of the fitted decoder.
    /// Errors: a method that was not fitted.
    pub fn drifts_km(&self, variance: f64, count: usize, seed: u64) -> Result<Vec<f64>, BaselineError> {
        let Generator { encoder, decoder, .. } = &self.fitted()?.sampler;
        decoder.drifts_km(encoder, variance, count, seed)
    }

    fn fitted(&self) -> Result<&FittedSampler<Generator>, BaselineError> {
        self.fitted.as_ref().ok_or(BaselineError::NotFitted { method: self.kind.name() })
    }
}

struct Training {
    generator: Generator,
    weights: Weights,
    work: CsUnetWorkspace,
    tables: TrainingTables,
    bank: Tensor,
    code: Tensor,
    noise: Tensor,
    noisy: Tensor,
    d_out: Tensor,
    loss: Tensor,
    t: Indices,
    t_table: Tensor,
    t_value: Tensor,
    validation: QuickValidation,
}

impl Learner for Training {
    fn weights(&mut self) -> &mut Weights {
        &mut self.weights
    }

    fn gradients(&mut self, batch: Batch<'_>) -> Result<(), BaselineError> {
        let Weights { params, grads, rng, .. } = &mut self.weights;
        ops::gather_rows(self.code.view_mut(), self.bank.view(), batch.indices)?;
        ops::fill_normal(self.noise.view_mut(), rng, NOISE)?;
        ops::fill_indices(&mut self.t, TIMES as u32, rng, TIME)?;
        let (code, noise) = (self.code.view(), self.noise.view());
        ops::mix_rows(self.noisy.view_mut(), code, noise, self.tables.noisy.view(), &self.t)?;
        ops::gather_rows(self.t_value.view_mut(), self.t_table.view(), &self.t)?;
        let (net, noisy) = (&self.generator.net, self.noisy.view());
        let mode = ForwardMode::Train { rng, first_stream: DROPOUT };
        net.forward(params, &mut self.work, noisy, batch.inputs, self.t_value.view(), mode)?;
        let scale = 1.0 / batch.photos.len() as f32;
        let (d_out, loss, output) = (self.d_out.view_mut(), self.loss.view_mut(), self.work.output());
        ops::point_loss(ops::PointLoss::L2, d_out, loss, output, code, scale)?;
        Ok(net.backward(params, grads, &mut self.work, noisy, batch.inputs, self.d_out.view())?)
    }

    fn loss(&self) -> Result<f64, BaselineError> {
        mean_of(&self.loss)
    }

    fn validate(&mut self) -> Result<f64, BaselineError> {
        self.validation.score(&self.generator, &self.weights)
    }
}

impl Baseline for EncoderAblation {
    fn fit(&mut self, data: FitData<'_>, progress: &mut dyn FnMut(f64)) -> Result<(), BaselineError> {
        let (training, validation, device) = (data.training, data.validation, &self.device);
        let batch = self.effort.batch;
        let encoder = LocationEncoder::new(self.kind, training.points(), self.seed)?;
        let decoder =
            NnDecoder::fit(&encoder, device, &self.effort, self.seed, &mut |share| progress(0.4 * share))?;
        let size = encoder.dimension();
        let encodings = encoder.encode_all(training.points());
        let codes = columns_of(&encodings, size);
        let bank_codes = standardised(&codes, &encodings);
        let bank = Bank::new(device, training)?;
        let mut builder = ParamsBuilder::new();
        let net = network(&self.effort, size, training.columns()).register(&mut builder)?;
        let schedule = Schedule::cosine(TIMES)?;
        let zeros = |columns: usize| Tensor::zeros(device, batch, columns);
        let times: Vec<f32> = (0..TIMES).map(|t| t as f32).collect();
        let mut learner = Training {
            work: net.workspace(device, batch, true)?,
            tables: TrainingTables::new(device, &schedule, Prediction::X0, 1.0, 0)?,
            generator: Generator { net, schedule, encoder, decoder, codes, seed: self.seed },
            weights: Weights::new(builder, device, &self.effort, self.seed)?,
            bank: Tensor::from_slice(device, training.len(), size, &bank_codes)?,
            code: zeros(size)?,
            noise: zeros(size)?,
            noisy: zeros(size)?,
            d_out: zeros(size)?,
            loss: zeros(1)?,
            t: Indices::from_slice(device, &vec![0; batch])?,
            t_table: Tensor::from_slice(device, TIMES, 1, &times)?,
            t_value: zeros(1)?,
            validation: QuickValidation::new(validation, &bank.standardisation, VALIDATION_SAMPLES),
        };
        let mut rest = |share: f64| progress(0.4 + 0.6 * share);
        learn(&mut learner, self.kind.name(), &bank, training.len(), &self.effort, self.seed, &mut rest)?;
        let Training { generator, weights: Weights { params, .. }, .. } = learner;
        self.fitted =
            Some(FittedSampler::choose(generator, params, bank.standardisation, validation, &self.effort)?);
        Ok(())
    }

    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>, BaselineError> {
        self.fitted()?.answers(embeddings)
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Option<Vec<PhotoDensity<'_>>>, BaselineError> {
        Ok(Some(self.fitted()?.densities(embeddings)?))
    }

    fn parameters(&self) -> usize {
        self.fitted.as_ref().map_or(0, |fitted| fitted.params.count() + fitted.sampler.decoder.parameters())
    }

    fn chosen(&self) -> String {
        let Some(fitted) = &self.fitted else { return String::new() };
        format!("{} numbers, {}", fitted.sampler.codes.mean.len(), fitted.chosen())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    #[test]
    fn encodings_are_generated_and_decoded() {
        let (training, validation, test) = (toy::cities(400, 1), toy::cities(40, 2), toy::cities(40, 3));
        let effort = Effort { steps: 400, samples: 4, sampler_steps: 10, width: 48, ..Effort::tiny() };
        let mut method = EncoderAblation::new(&Device::cpu(), effort, 3, EncoderKind::SphereC);
        assert!(method.predict(test.photos()).is_err());
        let mut told = 0.0;
        method.fit(FitData { training: &training, validation: &validation }, &mut |x| told = x).unwrap();
        assert_eq!(told, 1.0);
        let places = method.predict(test.photos()).unwrap();
        let near = places.iter().zip(test.points()).filter(|(a, b)| a.to_unit().angle_rad(**b) < 0.25);
        assert!(near.count() > 26, "{}", method.chosen());
    }
}
