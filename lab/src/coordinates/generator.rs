//! The network that walks the path, and its samples.

use super::path::{Particle, Plan, SCALE, TIMES};
use super::{CoordinatePath, likelihood};
use crate::learner::{Batch, Weights, learn};
use crate::sampled::{FittedSampler, PlaceSampler, QuickValidation, SamplerSettings, network, repeated_blocks};
use crate::{Effort, Result, baseline::Task, examples::Bank, reading::nll_with_floor};
use locdiff_model::{chance, diffusion::Schedule};
use locdiff_nn::layers::{Conditioning, CsUnet, CsUnetConfig, ForwardMode, SamplingWorkspace};
use locdiff_nn::{Params, ParamsBuilder, Tensor, ops};
use locdiff_shdd::sphere::UnitVec;

/// Rows that are sampled at a time.
const BLOCK: usize = 8192;
/// The same for likelihoods, whose network is asked at several points for each place.
const LIKELIHOOD_BLOCK: usize = 16_384;
/// So many times the steps of other methods: two and a half times fewer are not enough.
const MORE_STEPS: u32 = 5;
/// Samples per photo in validations during training.
const VALIDATION_SAMPLES: usize = 8;
/// Size of the time embedding: three coordinates need less of it than a code does.
const TIME_WIDTH: usize = 64;
/// Share of rows whose embedding is dropped in training, for guidance: as LocDiff's.
const DROPPED: f32 = 0.1;
/// The stream of the draws that say which; those of the network's dropout come before it.
const DROP_STREAM: u32 = 0xC0;
/// What is drawn where.
const NOISE: u64 = 0xC00D_0001;
const TIME: u64 = 0xC00D_0002;
const START: u64 = 0xC00D_0003;

/// Everything that sampling needs but the weights.
#[derive(Clone)]
pub(crate) struct PathSampler {
    net: CsUnet,
    path: CoordinatePath,
    schedule: Schedule,
    seed: u64,
}

fn normals(words: [u64; 2]) -> [f64; 3] {
    let [a, b] = words;
    let (x, y) = chance::normals([a, b, 0]);
    [x, y, chance::normals([a, b, 1]).0]
}

impl PlaceSampler for PathSampler {
    const GUIDANCE: &'static [f64] = &[0.0, 1.0, 2.0];

    fn sample(&self, params: &Params, inputs: &[f32], count: usize, settings: SamplerSettings) -> Result<Vec<UnitVec>> {
        let columns = self.net.config().cond_dim;
        let plan = self.path.plan(&self.schedule, settings.steps)?;
        let mut places = Vec::new();
        for (block, rows) in repeated_blocks(inputs, columns, count, BLOCK).enumerate() {
            places.extend(self.sample_block(params, (&plan, settings.guidance as f32), block, &rows)?);
        }
        Ok(places)
    }

    fn log_densities(
        &self,
        params: &Params,
        inputs: &[f32],
        at: &[UnitVec],
        guidance: f64,
    ) -> Result<Option<Vec<f64>>> {
        let (columns, on_sphere) = (self.net.config().cond_dim, self.path.is_on_sphere());
        let (nodes, times) = self.path.nodes(&self.schedule);
        let asked = likelihood::ASKED * likelihood::points_a_place(on_sphere);
        let photos = (LIKELIHOOD_BLOCK / asked).max(1);
        let mut found = Vec::new();
        for (inputs, at) in inputs.chunks(photos * columns).zip(at.chunks(photos)) {
            let rows: Vec<f32> = inputs.chunks_exact(columns).flat_map(|row| row.repeat(asked)).collect();
            let mut field = Field::new(self, params, &rows, &times)?;
            let scale = if on_sphere { SCALE } else { 1.0 };
            let mut velocity = |points: &[[f64; 3]], node: usize| {
                let flat: Vec<f32> = points.iter().flat_map(|x| x.map(|x| (scale * x) as f32)).collect();
                let answers = field.answers(&flat, guidance as f32, node)?;
                let pairs = points.iter().zip(answers.chunks_exact(3));
                let own = pairs.map(|(x, v)| self.path.velocity(*x, std::array::from_fn(|i| f64::from(v[i]))));
                Ok(own.collect())
            };
            found.extend(likelihood::log_densities(&mut velocity, &nodes, at, on_sphere)?);
        }
        Ok(Some(found))
    }
}

/// The network for some rows and times.
struct Field<'a> {
    net: &'a CsUnet,
    params: &'a Params,
    conditioning: [Conditioning; 2],
    work: SamplingWorkspace,
    x: Tensor,
    answers: [Tensor; 2],
}

impl<'a> Field<'a> {
    fn new(sampler: &'a PathSampler, params: &'a Params, inputs: &[f32], times: &[f32]) -> Result<Self> {
        let (net, device) = (&sampler.net, params.device());
        let columns = net.config().cond_dim;
        let rows = inputs.len() / columns;
        let cond = Tensor::from_slice(device, rows, columns, inputs)?;
        let nothing = Tensor::zeros(device, 1, columns)?;
        let zeros = || Tensor::zeros(device, rows, 3);
        Ok(Self {
            net,
            params,
            conditioning: [
                net.conditioning(params, cond.view(), times)?,
                net.conditioning(params, nothing.view(), times)?,
            ],
            work: net.sampling_workspace(device, rows)?,
            x: zeros()?,
            answers: [zeros()?, zeros()?],
        })
    }

    /// What the network says of every row at a time, by its number.
    fn answers(&mut self, x: &[f32], guidance: f32, step: usize) -> Result<Vec<f32>> {
        let Self { net, params, conditioning, work, x: at, answers: [answer, without] } = self;
        at.upload(x)?;
        net.predict(params, work, answer.view_mut(), at.view(), &conditioning[0], step)?;
        if guidance != 0.0 {
            net.predict(params, work, without.view_mut(), at.view(), &conditioning[1], step)?;
            ops::axpby(answer.view_mut(), -guidance, without.view(), 1.0 + guidance)?;
        }
        Ok(answer.to_vec()?)
    }
}

impl PathSampler {
    fn sample_block(
        &self,
        params: &Params,
        (plan, guidance): (&Plan, f32),
        block: usize,
        inputs: &[f32],
    ) -> Result<Vec<UnitVec>> {
        let times = plan.times();
        let mut field = Field::new(self, params, inputs, &times)?;
        let rows = inputs.len() / self.net.config().cond_dim;
        let start = |k: usize| normals([chance::hash(&[self.seed, START, block as u64]), k as u64]);
        let mut particles: Vec<Particle> = (0..rows).map(|k| Particle::at(self.path.start(start(k)))).collect();
        for step in 0..times.len() {
            let flat: Vec<f32> = particles.iter().flat_map(|p| p.x.map(|x| x as f32)).collect();
            let answers = field.answers(&flat, guidance, step)?;
            for (particle, answer) in particles.iter_mut().zip(answers.chunks_exact(3)) {
                plan.advance(particle, step, std::array::from_fn(|i| f64::from(answer[i])));
            }
        }
        Ok(particles.iter().map(Particle::place).collect())
    }
}

/// Trains LocDiff's own network (CS-UNet) on coordinates instead of codes, by one of the paths of [`CoordinatePath`].
pub(crate) fn fit(
    task: Task<'_>,
    path: CoordinatePath,
    progress: &mut dyn FnMut(f64),
) -> Result<FittedSampler<PathSampler>> {
    let longer = Effort { steps: MORE_STEPS * task.effort.steps, ..*task.effort };
    let task = Task { effort: &longer, ..task };
    let Task { device, effort, seed, data, .. } = task;
    let (training, batch) = (data.training, effort.batch);
    let bank = Bank::new(device, training)?;
    let mut builder = ParamsBuilder::new();
    let config = CsUnetConfig { time_dim: TIME_WIDTH, ..network(effort, 3, training.columns()) };
    let net = config.register(&mut builder)?;
    let zeros = |columns: usize| Tensor::zeros(device, batch, columns);
    let mut weights = Weights::new(builder, task)?;
    let mut work = net.workspace(device, batch, true)?;
    let (mut x, mut time, mut target) = (zeros(3)?, zeros(1)?, zeros(3)?);
    let (mut d_out, mut loss) = (zeros(3)?, zeros(1)?);
    // Embeddings, some of them dropped.
    let mut kept = zeros(training.columns())?;
    let sampler = PathSampler { net, path, schedule: Schedule::cosine(TIMES)?, seed };
    let gradients = |weights: &mut Weights, batch: Batch<'_>| {
        let (mut xs, mut times, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        for (k, &photo) in batch.photos.iter().enumerate() {
            let noise = normals([chance::hash(&[seed, NOISE, u64::from(batch.step)]), k as u64]);
            let uniform = chance::uniform(&[seed, TIME, u64::from(batch.step), k as u64]);
            let pair = path.pair(&sampler.schedule, training.points()[photo as usize], noise, uniform);
            xs.extend(pair.x.map(|x| x as f32));
            times.push(pair.time as f32);
            targets.extend(pair.target.map(|x| x as f32));
        }
        x.upload(&xs)?;
        time.upload(&times)?;
        target.upload(&targets)?;
        let Weights { params, grads, rng, .. } = weights;
        ops::drop_rows(kept.view_mut(), batch.inputs, DROPPED, rng, DROP_STREAM)?;
        let mode = ForwardMode::Train { rng, first_stream: 0 };
        sampler.net.forward(params, &mut work, x.view(), kept.view(), time.view(), mode)?;
        let (to, scale) = (d_out.view_mut(), 1.0 / batch.photos.len() as f32);
        ops::point_loss(ops::PointLoss::L2, to, loss.view_mut(), work.output(), target.view(), scale)?;
        sampler.net.backward(params, grads, &mut work, x.view(), kept.view(), d_out.view())?;
        batch.mean(&loss)
    };
    let validation = QuickValidation::new(data.validation, &bank.standardisation, VALIDATION_SAMPLES);
    let validate = |params: &Params| {
        let logs = sampler.log_densities(params, validation.inputs(), validation.truth(), 0.0)?;
        Ok([validation.score(&sampler, params)?, -nll_with_floor(&logs.unwrap_or_default())])
    };
    learn(&mut weights, task, &bank, gradients, validate, progress)?;
    FittedSampler::choose(sampler, weights.params, bank.standardisation, task)?.with_likelihood(weights.likeliest, task)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effort, toy};
    use locdiff_nn::Device;

    /// Each path recovers shares, centres and concentrations of a mixture of two densities.
    #[test]
    fn a_known_mixture_on_the_sphere_is_recovered() {
        let (training, validation) = (toy::mixture(4000, 0.3, 1), toy::mixture(64, 0.3, 2));
        for path in [CoordinatePath::DiffusionR3, CoordinatePath::FlowR3, CoordinatePath::FlowS2] {
            let effort = Effort { steps: 500, batch: 128, width: 64, sampler_steps: 30, ..Effort::tiny() };
            let device = Device::cpu();
            let task = toy::task(&device, &effort, 3, &training, &validation);
            let method = fit(task, path, &mut |_| ()).unwrap();
            let samples = method.samples(validation.photos()).unwrap();
            let centres = toy::mixture_centres();
            let (first, second): (Vec<UnitVec>, Vec<UnitVec>) =
                samples.iter().partition(|p| p.dot(centres[0]) > p.dot(centres[1]));
            let share = first.len() as f64 / samples.len() as f64;
            assert!((share - 0.3).abs() < 0.08, "{path:?}: {share}");
            for (own, centre, kappa) in [(first, centres[0], toy::KAPPAS[0]), (second, centres[1], toy::KAPPAS[1])] {
                // Half of a density of concentration κ has 1 − cos below ln 2/κ (the antipode left out).
                let mut heights: Vec<f64> = own.iter().map(|p| 1.0 - p.dot(centre)).collect();
                heights.sort_by(f64::total_cmp);
                let spread = heights[heights.len() / 2] * kappa / std::f64::consts::LN_2;
                assert!((0.5..2.0).contains(&spread), "{path:?} κ = {kappa}: spread × {spread}");
            }
        }
    }
}
