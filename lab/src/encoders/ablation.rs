//! Diffusion of encodings instead of SHDD codes.

use crate::encoders::{decoder::NnDecoder, decoder::columns_of, features::LocationEncoder};
use crate::learner::{Batch, Weights, learn};
use crate::sampled::{FittedSampler, PlaceSampler, QuickValidation, SamplerSettings, network, repeated_blocks};
use crate::{Result, baseline::Task, contrastive::FourierFeatures, examples::Bank, examples::standardised};
use locdiff_base::{Named, named};
use locdiff_model::Standardisation;
use locdiff_model::diffusion::sample;
use locdiff_model::diffusion::{Denoiser, PredictionKind, SampleState, Sampler, SamplerPlan, Schedule, TrainingTables};
use locdiff_nn::layers::{Conditioning, CsUnet, ForwardMode, SamplingWorkspace};
use locdiff_nn::{Indices, NnError, Params, ParamsBuilder, RowKey, RowNoise, Tensor, View, ViewMut, ops};
use locdiff_shdd::sphere::UnitVec;
use std::sync::LazyLock;

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

named! {
    /// A location encoder of the paper's appendix. λ is the longitude and φ the latitude in radians; λˢ and φˢ are these divided by
    /// the scale αˢ, one of 16 (8 for `dfs`) from 0.05 to 1 in geometric steps.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum EncoderKind: "location encoder" {
        /// One number for each cell of a grid of 15°: 1 inside, 0 outside.
        Tile = "encoder-tile", "tile + NN";
        /// sin and cos of πλ/180° and of πφ/90° (Mac Aodha et al.).
        Wrap = "encoder-wrap", "wrap + NN";
        /// Gaussian kernels about random training places, in the plane of longitude and latitude (Space2Vec).
        Rbf = "encoder-rbf", "rbf + NN";
        /// √(2/W)·cos(ω·x + b) with random ω and b, in the same plane (Rahimi and Recht).
        Rff = "encoder-rff", "rff + NN";
        /// sin and cos of λˢ and φˢ (Space2Vec).
        Grid = "encoder-grid", "Space2Vec-grid + NN";
        /// sin and cos along three directions 120° apart (Space2Vec).
        Theory = "encoder-theory", "Space2Vec-theory + NN";
        Xyz = "encoder-xyz", "xyz + NN";
        /// sin and cos of 2ˢπ times each coordinate of the unit vector (NeRF).
        Nerf = "encoder-nerf", "NeRF + NN";
        /// sin φˢ, cos φˢ cos λˢ, cos φˢ sin λˢ (Sphere2Vec).
        SphereC = "encoder-sphere-c", "Sphere2Vec-sphereC + NN";
        SphereCPlus = "encoder-sphere-c-plus", "Sphere2Vec-sphereC+ + NN";
        /// sin φˢ, cos φˢ cos λ, cos φ cos λˢ, cos φˢ sin λ, cos φ sin λˢ (Sphere2Vec).
        SphereM = "encoder-sphere-m", "Sphere2Vec-sphereM + NN";
        SphereMPlus = "encoder-sphere-m-plus", "Sphere2Vec-sphereM+ + NN";
        /// All products of sines and cosines of φⁿ and λᵐ: the double Fourier sphere.
        Dfs = "encoder-dfs", "Sphere2Vec-dfs + NN";
        /// A sine layer on spherical harmonics (Rußwurm et al.).
        SirenSh = "encoder-siren-sh", "Siren (SH) + NN";
        /// Random Fourier features at three scales, what GeoCLIP's location network sees (Vivanco Cepeda et al.).
        GeoClip = "encoder-geoclip", "GeoCLIP's features + NN";
        /// The harmonics themselves, with the same decoder as the others: SHDD's code without its codec.
        Shdd = "encoder-shdd", "SHDD + NN";
    }
}

/// Scales of the multi-scale encoders, and of the double Fourier sphere, whose size goes with their square.
pub(crate) const SCALES: usize = 16;
pub(crate) const DFS_SCALES: usize = 8;
/// Octaves of NeRF.
pub(crate) const OCTAVES: usize = 6;
/// The smallest and the largest αˢ in radians: features from 2000 km to the whole Earth.
pub(crate) const MIN_RADIUS: f64 = 0.05;
pub(crate) const MAX_RADIUS: f64 = 1.0;
/// Size of the random encoders.
pub(crate) const RANDOM_SIZE: usize = 128;
/// Side of a tile in degrees.
pub(crate) const TILE_DEG: f64 = 15.0;
/// Degree of the harmonics under the sine layer.
pub(crate) const SIREN_DEGREE: usize = 9;

/// Degree of the harmonics as an encoding.
pub(crate) const SHDD_DEGREE: usize = 31;

/// In the appendix's order, with the names on the command line and in the paper.
impl EncoderKind {
    pub(crate) fn dimension(self) -> usize {
        match self {
            Self::Tile => (360.0 / TILE_DEG) as usize * (180.0 / TILE_DEG) as usize,
            Self::Wrap => 4,
            Self::Rbf | Self::Rff | Self::SirenSh => RANDOM_SIZE,
            Self::Grid => 4 * SCALES,
            Self::Theory | Self::SphereCPlus => 6 * SCALES,
            Self::Xyz => 3,
            Self::Nerf => 6 * OCTAVES,
            Self::SphereC => 3 * SCALES,
            Self::SphereM => 5 * SCALES,
            Self::SphereMPlus => 8 * SCALES,
            Self::Dfs => 4 * DFS_SCALES + 4 * DFS_SCALES * DFS_SCALES,
            Self::GeoClip => FourierFeatures::SIZE,
            Self::Shdd => (SHDD_DEGREE + 1) * (SHDD_DEGREE + 1),
        }
    }

    /// The name of its method with the density loss.
    pub(crate) fn density_name(self) -> &'static str {
        static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
            EncoderKind::ALL.iter().map(|(_, name, _)| name.replace("encoder-", "density-")).collect()
        });
        &NAMES[self as usize]
    }

    pub(crate) fn paper_name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., name)| name)
    }
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
