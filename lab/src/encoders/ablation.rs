//! Diffusion of encodings instead of SHDD codes.

use super::{decoder::NnDecoder, decoder::columns_of, features::LocationEncoder, kind::EncoderKind};
use crate::learner::{Batch, Weights, learn};
use crate::sampled::{FittedSampler, PlaceSampler, QuickValidation, SamplerSettings, network, repeated_blocks};
use crate::{Result, baseline::Task, examples::Bank, examples::standardised};
use locdiff_model::Standardisation;
use locdiff_model::diffusion::{
    Denoiser, PredictionKind, SampleState, Sampler, SamplerPlan, Schedule, TrainingTables, sample,
};
use locdiff_nn::layers::{Conditioning, CsUnet, ForwardMode, SamplingWorkspace};
use locdiff_nn::{Indices, NnError, Params, ParamsBuilder, RowKey, RowNoise, Tensor, View, ViewMut, ops};
use locdiff_shdd::sphere::UnitVec;

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

/// All that is needed to sample places but the diffusion's weights.
pub(crate) struct Generator {
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

    fn sample(&self, params: &Params, inputs: &[f32], count: usize, settings: SamplerSettings) -> Result<Vec<UnitVec>> {
        let columns = self.net.config().cond_dim;
        let plan = SamplerPlan::new(&self.schedule, Sampler::DpmSolverPlusPlus2M, settings.steps, PredictionKind::X0)?;
        let device = params.device();
        let mut places = Vec::new();
        for (block, rows) in repeated_blocks(inputs, columns, count, BLOCK).enumerate() {
            let count = rows.len() / columns;
            let cond = Tensor::from_slice(device, count, columns, &rows)?;
            let mut head = Head {
                net: &self.net,
                params,
                work: self.net.sampling_workspace(device, count)?,
                conditioning: self.net.conditioning(params, cond.view(), &plan.timesteps())?,
            };
            let mut state = SampleState::new(device, count, self.net.config().code_dim)?;
            let keys: Vec<RowKey> = (0..count as u32).map(|number| RowKey { key: block as u64, number }).collect();
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

    fn own_parameters(&self) -> usize {
        self.decoder.parameters()
    }

    fn in_words(&self) -> String {
        format!("{} numbers, ", self.codes.mean.len())
    }

    fn drifts_km(&self, variance: f64, count: usize, seed: u64) -> Result<Option<Vec<f64>>> {
        self.decoder.drifts_km(&self.encoder, variance, count, seed).map(Some)
    }
}

/// Trains LocDiff's diffusion and network on the encodings of a [`LocationEncoder`], by mean squared error, and a decoder that
/// reads places off the samples: the paper's ablation of the codec.
pub(crate) fn fit(task: Task<'_>, kind: EncoderKind, report: &mut dyn FnMut(f64)) -> Result<FittedSampler<Generator>> {
    let Task { device, effort, seed, data, .. } = task;
    let (training, batch) = (data.training, effort.batch);
    let encoder = LocationEncoder::new(kind, training.points(), seed)?;
    let decoder = NnDecoder::fit(&encoder, device, effort, seed, &mut |share| report(0.4 * share))?;
    let size = encoder.dimension();
    let encodings = encoder.encode_all(training.points());
    let codes = columns_of(&encodings, size);
    let bank_codes = standardised(&codes, &encodings);
    let bank = Bank::new(device, training)?;
    let mut builder = ParamsBuilder::new();
    let net = network(effort, size, training.columns()).register(&mut builder)?;
    let schedule = Schedule::cosine(TIMES)?;
    let zeros = |columns: usize| Tensor::zeros(device, batch, columns);
    let times: Vec<f32> = (0..TIMES).map(|t| t as f32).collect();
    let mut weights = Weights::new(builder, task)?;
    let mut work = net.workspace(device, batch, true)?;
    let tables = TrainingTables::new(device, &schedule, PredictionKind::X0, 1.0, 0)?;
    let bank_codes = Tensor::from_slice(device, training.len(), size, &bank_codes)?;
    let (mut code, mut noise, mut noisy) = (zeros(size)?, zeros(size)?, zeros(size)?);
    let (mut d_out, mut loss) = (zeros(size)?, zeros(1)?);
    let mut t = Indices::from_slice(device, &vec![0; batch])?;
    let (t_table, mut t_value) = (Tensor::from_slice(device, TIMES, 1, &times)?, zeros(1)?);
    let generator = Generator { net, schedule, encoder, decoder, codes, seed };
    let gradients = |weights: &mut Weights, batch: Batch<'_>| {
        let Weights { params, grads, rng, .. } = weights;
        ops::gather_rows(code.view_mut(), bank_codes.view(), batch.indices)?;
        ops::fill_normal(noise.view_mut(), rng, NOISE)?;
        ops::fill_indices(&mut t, TIMES as u32, rng, TIME)?;
        ops::mix_rows(noisy.view_mut(), code.view(), noise.view(), tables.noisy.view(), &t)?;
        ops::gather_rows(t_value.view_mut(), t_table.view(), &t)?;
        let (net, mode) = (&generator.net, ForwardMode::Train { rng, first_stream: DROPOUT });
        net.forward(params, &mut work, noisy.view(), batch.inputs, t_value.view(), mode)?;
        let (to, scale) = (d_out.view_mut(), 1.0 / batch.photos.len() as f32);
        ops::point_loss(ops::PointLoss::L2, to, loss.view_mut(), work.output(), code.view(), scale)?;
        net.backward(params, grads, &mut work, noisy.view(), batch.inputs, d_out.view())?;
        batch.mean(&loss)
    };
    let validation = QuickValidation::new(data.validation, &bank.standardisation, VALIDATION_SAMPLES);
    let validate = |params: &Params| Ok([validation.score(&generator, params)?; 2]);
    learn(&mut weights, task, &bank, gradients, validate, &mut |share| report(0.4 + 0.6 * share))?;
    FittedSampler::choose(generator, weights.params, bank.standardisation, task)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Baseline, Effort, toy};
    use locdiff_nn::Device;

    #[test]
    fn encodings_are_generated_and_decoded() {
        let (training, validation, test) = (toy::cities(400, 1), toy::cities(40, 2), toy::cities(40, 3));
        let effort = Effort { steps: 400, samples: 4, sampler_steps: 10, width: 48, ..Effort::tiny() };
        let (device, mut told) = (Device::cpu(), 0.0);
        let task = toy::task(&device, &effort, 3, &training, &validation);
        let method = fit(task, EncoderKind::SphereC, &mut |x| told = x).unwrap();
        assert_eq!(told, 1.0);
        let places = method.predict(test.photos()).unwrap();
        let near = places.iter().zip(test.points()).filter(|(a, b)| a.to_unit().angle_rad(**b) < 0.25);
        assert!(near.count() > 26, "{}", method.chosen());
    }
}
