//! The network that walks the path, and its samples.

use super::{
    CoordinatePath,
    path::{Particle, Plan, TIMES},
};
use crate::{
    Baseline, BaselineError, Effort, FitData, PhotoDensity,
    examples::Bank,
    learner::{Batch, Learner, Weights, learn, mean_of},
    sampled::{FittedSampler, PlaceSampler, QuickValidation, SamplerSettings, network, repeated_blocks},
};
use locdiff_diffusion::Schedule;
use locdiff_model::chance;
use locdiff_nn::{
    Device, Params, ParamsBuilder, Tensor,
    layers::{CsUnet, CsUnetConfig, CsUnetWorkspace, ForwardMode},
    ops,
};
use locdiff_sphere::{LatLon, UnitVec};

/// Rows that are sampled at a time.
const BLOCK: usize = 8192;
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

/// LocDiff's own network (CS-UNet) on coordinates instead of codes, by one of the paths of [`CoordinatePath`].
pub struct CoordinateGenerator {
    device: Device,
    effort: Effort,
    seed: u64,
    path: CoordinatePath,
    fitted: Option<FittedSampler<PathSampler>>,
}

/// Everything that sampling needs but the weights.
#[derive(Clone)]
struct PathSampler {
    net: CsUnet,
    path: CoordinatePath,
    schedule: Schedule,
    seed: u64,
}

/// Three normal numbers.
fn normals(words: [u64; 2]) -> [f64; 3] {
    let [a, b] = words;
    let (x, y) = chance::normals([a, b, 0]);
    [x, y, chance::normals([a, b, 1]).0]
}

impl PlaceSampler for PathSampler {
    const GUIDANCE: &'static [f64] = &[0.0, 1.0, 2.0];

    fn sample(
        &self,
        params: &Params,
        inputs: &[f32],
        samples: usize,
        settings: SamplerSettings,
    ) -> Result<Vec<UnitVec>, BaselineError> {
        let columns = self.net.config().cond_dim;
        let plan = self.path.plan(&self.schedule, settings.steps)?;
        let mut places = Vec::new();
        for (block, rows) in repeated_blocks(inputs, columns, samples, BLOCK).enumerate() {
            places.extend(self.sample_block(params, (&plan, settings.guidance as f32), block, &rows)?);
        }
        Ok(places)
    }
}

impl PathSampler {
    fn sample_block(
        &self,
        params: &Params,
        (plan, guidance): (&Plan, f32),
        block: usize,
        inputs: &[f32],
    ) -> Result<Vec<UnitVec>, BaselineError> {
        let (net, device) = (&self.net, params.device());
        let columns = net.config().cond_dim;
        let rows = inputs.len() / columns;
        let cond = Tensor::from_slice(device, rows, columns, inputs)?;
        let times = plan.times();
        let conditioning = net.conditioning(params, cond.view(), &times)?;
        let nothing = Tensor::zeros(device, 1, columns)?;
        let unconditional = net.conditioning(params, nothing.view(), &times)?;
        let mut without = Tensor::zeros(device, rows, 3)?;
        let mut work = net.sampling_workspace(device, rows)?;
        let mut x = Tensor::zeros(device, rows, 3)?;
        let mut answer = Tensor::zeros(device, rows, 3)?;
        let start = |k: usize| normals([chance::hash(&[self.seed, START, block as u64]), k as u64]);
        let mut particles: Vec<Particle> =
            (0..rows).map(|k| Particle::at(self.path.start(start(k)))).collect();
        for step in 0..times.len() {
            let flat: Vec<f32> = particles.iter().flat_map(|p| p.x.map(|x| x as f32)).collect();
            x.upload(&flat)?;
            net.predict(params, &mut work, answer.view_mut(), x.view(), &conditioning, step)?;
            if guidance != 0.0 {
                net.predict(params, &mut work, without.view_mut(), x.view(), &unconditional, step)?;
                ops::axpby(answer.view_mut(), -guidance, without.view(), 1.0 + guidance)?;
            }
            for (particle, answer) in particles.iter_mut().zip(answer.to_vec()?.chunks_exact(3)) {
                plan.advance(particle, step, std::array::from_fn(|i| f64::from(answer[i])));
            }
        }
        Ok(particles.iter().map(Particle::place).collect())
    }
}

impl CoordinateGenerator {
    /// A method to be fitted.
    pub fn new(device: &Device, effort: Effort, seed: u64, path: CoordinatePath) -> Self {
        Self { device: device.clone(), effort, seed, path, fitted: None }
    }

    fn name(&self) -> &'static str {
        match self.path {
            CoordinatePath::DiffusionR3 => "diff-r3",
            CoordinatePath::FlowR3 => "fm-r3",
            CoordinatePath::FlowS2 => "rfm-s2",
        }
    }

    /// The photos' samples, `effort.samples` of each one after the other.
    /// Errors: rows of another size, or a method that was not fitted.
    pub fn samples(&self, embeddings: &[f32]) -> Result<Vec<UnitVec>, BaselineError> {
        self.fitted()?.samples(embeddings)
    }

    fn fitted(&self) -> Result<&FittedSampler<PathSampler>, BaselineError> {
        self.fitted.as_ref().ok_or(BaselineError::NotFitted { method: self.name() })
    }
}

struct Training<'a> {
    sampler: PathSampler,
    weights: Weights,
    work: CsUnetWorkspace,
    points: &'a [UnitVec],
    x: Tensor,
    /// Embeddings, some of them dropped.
    kept: Tensor,
    time: Tensor,
    target: Tensor,
    d_out: Tensor,
    loss: Tensor,
    validation: QuickValidation,
}

impl Learner for Training<'_> {
    fn weights(&mut self) -> &mut Weights {
        &mut self.weights
    }

    fn gradients(&mut self, batch: Batch<'_>) -> Result<(), BaselineError> {
        let PathSampler { net, path, schedule, seed } = &self.sampler;
        let rows = batch.photos.len();
        let (mut x, mut time, mut target) = (Vec::new(), Vec::new(), Vec::new());
        for (k, &photo) in batch.photos.iter().enumerate() {
            let noise = normals([chance::hash(&[*seed, NOISE, u64::from(batch.step)]), k as u64]);
            let uniform = chance::uniform(&[*seed, TIME, u64::from(batch.step), k as u64]);
            let pair = path.pair(schedule, self.points[photo as usize], noise, uniform);
            x.extend(pair.x.map(|x| x as f32));
            time.push(pair.time as f32);
            target.extend(pair.target.map(|x| x as f32));
        }
        self.x.upload(&x)?;
        self.time.upload(&time)?;
        self.target.upload(&target)?;
        let Weights { params, grads, rng, .. } = &mut self.weights;
        ops::drop_rows(self.kept.view_mut(), batch.inputs, DROPPED, rng, DROP_STREAM)?;
        let mode = ForwardMode::Train { rng, first_stream: 0 };
        let (x, kept) = (self.x.view(), self.kept.view());
        net.forward(params, &mut self.work, x, kept, self.time.view(), mode)?;
        ops::point_loss(
            ops::PointLoss::L2,
            self.d_out.view_mut(),
            self.loss.view_mut(),
            self.work.output(),
            self.target.view(),
            1.0 / rows as f32,
        )?;
        Ok(net.backward(params, grads, &mut self.work, x, kept, self.d_out.view())?)
    }

    fn loss(&self) -> Result<f64, BaselineError> {
        mean_of(&self.loss)
    }

    fn validate(&mut self) -> Result<f64, BaselineError> {
        self.validation.score(&self.sampler, &self.weights)
    }
}

impl Baseline for CoordinateGenerator {
    fn fit(&mut self, data: FitData<'_>, progress: &mut dyn FnMut(f64)) -> Result<(), BaselineError> {
        let (training, validation, device) = (data.training, data.validation, &self.device);
        let bank = Bank::new(device, training)?;
        let mut builder = ParamsBuilder::new();
        let batch = self.effort.batch;
        let config = CsUnetConfig { time_dim: TIME_WIDTH, ..network(&self.effort, 3, training.columns()) };
        let net = config.register(&mut builder)?;
        let zeros = |columns: usize| Tensor::zeros(device, batch, columns);
        let schedule = Schedule::cosine(TIMES)?;
        let mut learner = Training {
            work: net.workspace(device, batch, true)?,
            sampler: PathSampler { net, path: self.path, schedule, seed: self.seed },
            weights: Weights::new(builder, device, &self.effort, self.seed)?,
            points: training.points(),
            x: zeros(3)?,
            kept: zeros(training.columns())?,
            time: zeros(1)?,
            target: zeros(3)?,
            d_out: zeros(3)?,
            loss: zeros(1)?,
            validation: QuickValidation::new(validation, &bank.standardisation, VALIDATION_SAMPLES),
        };
        learn(&mut learner, self.name(), &bank, training.len(), &self.effort, self.seed, progress)?;
        let (sampler, params) = (learner.sampler, learner.weights.params);
        self.fitted =
            Some(FittedSampler::choose(sampler, params, bank.standardisation, validation, &self.effort)?);
        Ok(())
    }

    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>, BaselineError> {
        self.fitted()?.answers(embeddings)
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Option<Vec<PhotoDensity<'_>>>, BaselineError> {
        Ok(Some(self.fitted()?.densities(embeddings)?))
    }

    fn parameters(&self) -> usize {
        self.fitted.as_ref().map_or(0, |fitted| fitted.params.count())
    }

    fn chosen(&self) -> String {
        self.fitted.as_ref().map_or(String::new(), FittedSampler::chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    /// Each path recovers shares, centres and concentrations of a mixture of two densities.
    #[test]
    fn a_known_mixture_on_the_sphere_is_recovered() {
        let (training, validation) = (toy::mixture(4000, 0.3, 1), toy::mixture(64, 0.3, 2));
        for path in [CoordinatePath::DiffusionR3, CoordinatePath::FlowR3, CoordinatePath::FlowS2] {
            let effort = Effort {
                steps: 500,
                batch: 128,
                width: 64,
                samples: 16,
                sampler_steps: 30,
                ..Effort::tiny()
            };
            let mut method = CoordinateGenerator::new(&Device::cpu(), effort, 3, path);
            method.fit(FitData { training: &training, validation: &validation }, &mut |_| ()).unwrap();
            let samples = method.samples(validation.photos()).unwrap();
            let centres = toy::mixture_centres();
            let (first, second): (Vec<UnitVec>, Vec<UnitVec>) =
                samples.iter().partition(|p| p.dot(centres[0]) > p.dot(centres[1]));
            let share = first.len() as f64 / samples.len() as f64;
            assert!((share - 0.3).abs() < 0.08, "{path:?}: {share}");
            for (own, centre, kappa) in
                [(first, centres[0], toy::KAPPAS[0]), (second, centres[1], toy::KAPPAS[1])]
            {
                // Half of a density of concentration κ has 1 − cos below ln 2/κ (the antipode left out).
                let mut heights: Vec<f64> = own.iter().map(|p| 1.0 - p.dot(centre)).collect();
                heights.sort_by(f64::total_cmp);
                let spread = heights[heights.len() / 2] * kappa / std::f64::consts::LN_2;
                assert!((0.5..2.0).contains(&spread), "{path:?} κ = {kappa}: spread × {spread}");
            }
        }
    }
}
