//! A mixture of von Mises–Fisher densities whose weights depend on the photo (Izbicki et al.).

use super::{log_normaliser, mean_length};
use crate::baseline::{Task, highest, score};
use crate::learner::{Batch, Weights, learn};
use crate::search::{ByRule, by_rule};
use crate::{Baseline, PhotoDensity, Result, cells::Partition, examples::Bank, examples::upload, reading::likelihood};
use locdiff_model::Standardisation;
use locdiff_nn::{Init, ParamId, Params, ParamsBuilder, Tensor, View, layers::Mlp, ops, ops::Transpose};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};

/// Components, where there are enough photos; validation chooses half and twice as many, and so on.
const COMPONENTS: f64 = 256.0;
/// Concentrations at the start lie between these: deviations of 2000 km and 30 km.
const START_KAPPA: (f64, f64) = (10.0, 50_000.0);

/// Widths of the kernel that the density is blurred by before its mode is sought; validation chooses.
const WINDOWS_KM: [f64; 5] = [0.0, 100.0, 250.0, 500.0, 1000.0];
/// κ is the exponential of this many times its parameter, and directions start this much shorter than one: one rate then
/// suits them and the network.
const RATE: f64 = 5.0;

/// Components shared by all photos, their weights a softmax of the network's output; centres, concentrations and network
/// are learned together by the log-likelihood. The components start as the cells of a [`Partition`].
pub(crate) struct VmfMixture {
    mlp: Mlp,
    params: Params,
    standardisation: Standardisation,
    components: Components,
    window_km: f64,
}

struct MixtureNetwork {
    mlp: Mlp,
    directions: ParamId,
    log_kappas: ParamId,
}

struct Components {
    centres: Vec<UnitVec>,
    kappas: Vec<f64>,
    /// |v|, for the gradient by the directions v, which need not have length one.
    lengths: Vec<f64>,
    /// κμ, one row a component.
    natural: Tensor,
    /// log C(κ), one row.
    log_normalisers: Tensor,
}

impl Components {
    fn read(params: &Params, directions: ParamId, log_kappas: ParamId) -> Result<Self> {
        let device = params.device();
        let count = directions.rows();
        let read = |id: ParamId| -> Result<Vec<f64>> {
            let mut copy = Tensor::zeros(device, id.rows(), id.cols())?;
            ops::copy(copy.view_mut(), params.get(id))?;
            Ok(copy.to_vec()?.into_iter().map(f64::from).collect())
        };
        let (directions, log_kappas) = (read(directions)?, read(log_kappas)?);
        let centres: Result<Vec<UnitVec>, _> =
            directions.chunks_exact(3).map(|v| UnitVec::new(v[0], v[1], v[2])).collect();
        let centres = centres?;
        let lengths = directions.chunks_exact(3).map(|v| v[0].hypot(v[1]).hypot(v[2])).collect();
        let kappas: Vec<f64> = log_kappas.iter().map(|log| (RATE * log).min(15.0).exp()).collect();
        let scaled = |(centre, kappa): (&UnitVec, &f64)| centre.to_array().map(|x| (kappa * x) as f32);
        let natural: Vec<f32> = centres.iter().zip(&kappas).flat_map(scaled).collect();
        let logs: Vec<f32> = kappas.iter().map(|kappa| log_normaliser(*kappa) as f32).collect();
        Ok(Self {
            centres,
            kappas,
            lengths,
            natural: Tensor::from_slice(device, count, 3, &natural)?,
            log_normalisers: Tensor::from_slice(device, 1, count, &logs)?,
        })
    }

    /// log density of every component (columns) at every point (rows).
    fn log_densities(&self, points: View<'_>) -> Result<Tensor> {
        let mut out = Tensor::zeros(self.natural.device(), points.rows(), self.kappas.len())?;
        let bias = Some(self.log_normalisers.view());
        ops::gemm(out.view_mut(), points, Transpose::No, self.natural.view(), Transpose::Yes, 0.0, bias)?;
        Ok(out)
    }

    /// The gradients by the directions and by the logarithms of κ. By κμ it is mass·A(κ)μ − Σ posterior·x, then through κ = exp
    /// and μ = v/|v|.
    fn gradients(&self, sums: &[f32], masses: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let (mut by_direction, mut by_log_kappa) = (vec![0.0; sums.len()], vec![0.0; masses.len()]);
        for (k, centre) in self.centres.iter().enumerate() {
            let (kappa, mu) = (self.kappas[k], centre.to_array());
            let pull = f64::from(masses[k]) * mean_length(kappa);
            let d: [f64; 3] = std::array::from_fn(|i| pull * mu[i] - f64::from(sums[3 * k + i]));
            let radial = d[0] * mu[0] + d[1] * mu[1] + d[2] * mu[2];
            by_log_kappa[k] = (RATE * kappa * radial) as f32;
            for i in 0..3 {
                by_direction[3 * k + i] = (kappa * (d[i] - radial * mu[i]) / self.lengths[k]) as f32;
            }
        }
        (by_direction, by_log_kappa)
    }

    /// The densities of rows of weights' logits.
    fn densities(&self, logits: &[f32]) -> Vec<PhotoDensity<'static>> {
        let components = self;
        let density = |row: &[f32]| -> PhotoDensity<'static> {
            let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let weights: Vec<f64> = row.iter().map(|logit| f64::from(logit - top).exp()).collect();
            let total: f64 = weights.iter().sum();
            let parts: Vec<(UnitVec, f64, f64)> = components
                .centres
                .iter()
                .zip(&components.kappas)
                .zip(weights)
                .map(|((centre, kappa), weight)| (*centre, *kappa, (weight / total).ln() + log_normaliser(*kappa)))
                .filter(|(_, kappa, log)| log + kappa > -30.0)
                .collect();
            Box::new(move |points| {
                let at = |point: &UnitVec| {
                    let terms = parts.iter().map(|(centre, kappa, log)| log + kappa * centre.dot(*point));
                    terms.filter(|term| *term > -40.0).map(f64::exp).sum::<f64>().ln()
                };
                points.all().iter().map(at).collect()
            })
        };
        logits.chunks_exact(components.kappas.len()).map(density).collect()
    }

    /// For each row of weights' logits the centre at which the mixture's density, blurred by a kernel, is highest.
    fn modes(&self, mut logits: Tensor, window_km: f64) -> Result<Vec<LatLon>> {
        let (device, count) = (logits.device().clone(), self.centres.len());
        let mut lse = Tensor::zeros(&device, logits.rows(), 1)?;
        ops::softmax(logits.view_mut(), lse.view_mut(), None, 1.0)?;
        // Two densities blur each other to one whose 1/κ is nearly the sum of theirs.
        let blur = (window_km / EARTH_RADIUS_KM).powi(2);
        let kappas: Vec<f64> = self.kappas.iter().map(|kappa| 1.0 / (1.0 / kappa + blur)).collect();
        // The components' densities at each centre, in f64: κμ·x and log C(κ) nearly cancel.
        let densities = |point: &UnitVec| {
            let pairs = self.centres.iter().zip(&kappas);
            let at =
                |(centre, kappa): (&UnitVec, &f64)| (log_normaliser(*kappa) + kappa * centre.dot(*point)).exp() as f32;
            pairs.map(at).collect::<Vec<f32>>()
        };
        let at_centres: Vec<f32> = self.centres.iter().flat_map(densities).collect();
        let at_centres = Tensor::from_slice(&device, count, count, &at_centres)?;
        let mut density = Tensor::zeros(&device, logits.rows(), count)?;
        let (weights, at) = (logits.view(), at_centres.view());
        ops::gemm(density.view_mut(), weights, Transpose::No, at, Transpose::Yes, 0.0, None)?;
        let density = density.to_vec()?;
        Ok(highest(&density, &self.centres))
    }
}

impl VmfMixture {
    /// Trains networks with several numbers of components.
    pub(crate) fn fit(task: Task<'_>, progress: &mut dyn FnMut(f64)) -> Result<ByRule<Self>> {
        let bank = Bank::new(task.device, task.data.training)?;
        by_rule(([(-1, 1)], [(-5, 4)]), progress, |[size], part| {
            Self::train((task, &bank), (COMPONENTS * 2.0_f64.powi(size)) as usize, part)
        })
    }

    /// Trains network and components; `components` is how many there are, where there are enough photos. The scores and mixtures of
    /// the best accuracy and of the best likelihood.
    fn train(
        (task, bank): (Task<'_>, &Bank),
        components: usize,
        progress: &mut dyn FnMut(f64),
    ) -> Result<[(f64, Self); 2]> {
        let Task { device, effort, data, .. } = task;
        let (training, validation) = (data.training, data.validation);
        let (net, mut weights) = MixtureNetwork::new(task, components)?;
        let MixtureNetwork { mlp, directions, log_kappas } = net;
        let flat: Vec<f32> = training.points().iter().flat_map(|p| p.to_array().map(|x| x as f32)).collect();
        let (batch, count) = (effort.batch, directions.rows());
        let zeros = |rows: usize, columns: usize| Tensor::zeros(device, rows, columns);
        let mut work = mlp.work(device, batch)?;
        let points = Tensor::from_slice(device, training.len(), 3, &flat)?;
        let (mut batch_points, mut prior) = (zeros(batch, 3)?, zeros(batch, count)?);
        let (mut prior_lse, mut joint_lse) = (zeros(batch, 1)?, zeros(batch, 1)?);
        let (mut sums, mut masses) = (zeros(count, 3)?, zeros(1, count)?);
        let (mut d_directions, mut d_log_kappas) = (zeros(count, 3)?, zeros(1, count)?);
        let inputs = upload(device, &bank.standardisation, validation.photos())?;
        let gradients = |weights: &mut Weights, batch: Batch<'_>| {
            let components = Components::read(&weights.params, directions, log_kappas)?;
            weights.forward(&mlp, &mut work, batch.inputs)?;
            ops::gather_rows(batch_points.view_mut(), points.view(), batch.indices)?;
            // −log q = lse(logits) − lse(logits + log densities); its gradients are softmax minus softmax.
            let scale = 1.0 / batch.photos.len() as f32;
            let mut joint = components.log_densities(batch_points.view())?;
            ops::axpby(joint.view_mut(), 1.0, work.output.view(), 1.0)?;
            ops::softmax(joint.view_mut(), joint_lse.view_mut(), None, scale)?;
            ops::copy(prior.view_mut(), work.output.view())?;
            ops::softmax(prior.view_mut(), prior_lse.view_mut(), None, scale)?;
            let (yes, no) = (Transpose::Yes, Transpose::No);
            ops::gemm(sums.view_mut(), joint.view(), yes, batch_points.view(), no, 0.0, None)?;
            ops::column_sums(masses.view_mut(), joint.view(), false)?;
            ops::axpby(prior.view_mut(), -1.0, joint.view(), 1.0)?;
            weights.backward(&mlp, &mut work, batch.inputs, prior.view())?;
            let (by_direction, by_log_kappa) = components.gradients(&sums.to_vec()?, &masses.to_vec()?);
            d_directions.upload(&by_direction)?;
            d_log_kappas.upload(&by_log_kappa)?;
            ops::copy(weights.grads.get_mut(directions), d_directions.view())?;
            ops::copy(weights.grads.get_mut(log_kappas), d_log_kappas.view())?;
            Ok(batch.mean(&prior_lse)? - batch.mean(&joint_lse)?)
        };
        let validate = |params: &Params| {
            let components = Components::read(params, directions, log_kappas)?;
            let logits = mlp.run(params, inputs.view())?;
            let likely = likelihood(&components.densities(&logits.to_vec()?), validation.points());
            Ok([score(&components.modes(logits, 0.0)?, validation.points()), likely])
        };
        let [right, likely] = learn(&mut weights, task, bank, gradients, validate, progress)?;
        let components = Components::read(&weights.params, directions, log_kappas)?;
        let mut best = (right, 0.0);
        for window_km in WINDOWS_KM {
            let logits = mlp.run(&weights.params, inputs.view())?;
            let right = score(&components.modes(logits, window_km)?, validation.points());
            if right > best.0 {
                best = (right, window_km);
            }
        }
        let made = |params, components, window_km| {
            let (mlp, standardisation) = (mlp.clone(), bank.standardisation.clone());
            Self { mlp, params, standardisation, components, window_km }
        };
        let others = Components::read(&weights.likeliest, directions, log_kappas)?;
        Ok([(best.0, made(weights.params, components, best.1)), (likely, made(weights.likeliest, others, 0.0))])
    }

    fn logits(&self, embeddings: &[f32]) -> Result<Tensor> {
        let inputs = upload(self.params.device(), &self.standardisation, embeddings)?;
        Ok(self.mlp.run(&self.params, inputs.view())?)
    }
}

impl MixtureNetwork {
    fn new(task: Task<'_>, components: usize) -> Result<(Self, Weights)> {
        let Task { device, effort, seed, data, .. } = task;
        let (columns, points) = (data.training.columns(), data.training.points());
        let most = (points.len() * 4 / (3 * components)).max(1);
        let cells = Partition::new(points, most, None)?;
        let count = cells.len();
        let mut builder = ParamsBuilder::new();
        let mlp = Mlp::new(&mut builder, "mix", &[columns, effort.width, count], effort.dropout);
        let directions = builder.add("directions", count, 3, Init::Zero);
        let log_kappas = builder.add("log_kappas", 1, count, Init::Zero);
        let likeliest = builder.clone().build(device, seed)?;
        let mut params = builder.build(device, seed)?;
        let mut cosines = vec![(0.0, 0.0); count];
        for point in points {
            let cell = cells.cell(*point);
            cosines[cell].0 += point.dot(cells.centres()[cell]);
            cosines[cell].1 += 1.0;
        }
        // A(κ) ≈ 1 − 1/κ is the mean cosine.
        let start = |(sum, photos): &(f64, f64)| {
            ((1.0 / (1.0 - sum / photos).max(1e-9)).clamp(START_KAPPA.0, START_KAPPA.1).ln() / RATE) as f32
        };
        let flat: Vec<f32> = cells.centres().iter().flat_map(|c| c.to_array().map(|x| (x / RATE) as f32)).collect();
        params.set("directions", &flat)?;
        params.set("log_kappas", &cosines.iter().map(start).collect::<Vec<f32>>())?;
        Ok((Self { mlp, directions, log_kappas }, Weights::of([params, likeliest], effort, seed)?))
    }
}

impl Baseline for VmfMixture {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        self.components.modes(self.logits(embeddings)?, self.window_km)
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        Ok(self.components.densities(&self.logits(embeddings)?.to_vec()?))
    }

    fn parameters(&self) -> usize {
        self.params.count()
    }

    fn chosen(&self) -> String {
        let window = if self.window_km > 0.0 { format!(", window {} km", self.window_km) } else { String::new() };
        format!("{} components{window}", self.components.kappas.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effort, toy};
    use locdiff_nn::Device;

    #[test]
    fn a_known_mixture_is_recovered() {
        let (training, validation) = (toy::mixture(4000, 0.3, 1), toy::mixture(400, 0.3, 2));
        let effort = Effort { steps: 800, batch: 256, lr: 1e-2, ..Effort::tiny() };
        let device = Device::cpu();
        let task = toy::task(&device, &effort, 3, &training, &validation);
        let method = VmfMixture::train((task, &Bank::new(&device, &training).unwrap()), 2, &mut |_| ()).unwrap();
        let [_, (_, method)] = method;
        let logs = toy::log_densities(&method, validation.photos(), validation.points());
        let true_log = |point: &UnitVec| {
            let centres = toy::mixture_centres().into_iter().zip(toy::KAPPAS).zip([0.3_f64, 0.7]);
            let each = centres.map(|((c, kappa), w)| w * (log_normaliser(kappa) + kappa * c.dot(*point)).exp());
            each.sum::<f64>().ln()
        };
        let n = logs.len() as f64;
        let gap = validation.points().iter().map(true_log).sum::<f64>() / n - logs.iter().sum::<f64>() / n;
        assert!(gap.abs() < 0.05, "nats lost: {gap}");
        let components = &method.components;
        for (centre, kappa) in toy::mixture_centres().into_iter().zip(toy::KAPPAS) {
            let near = (0..components.kappas.len())
                .filter(|&k| components.centres[k].angle_rad(centre) < 0.05)
                .map(|k| components.kappas[k] / kappa);
            assert!(near.into_iter().any(|ratio| (ratio - 1.0).abs() < 0.2), "{:?}", components.kappas);
        }
        // 0.3·C(60) outweighs 0.7·C(20): the mode is the sharper peak, until the density is blurred.
        for (window_km, peak) in [(0.0, 0), (2000.0, 1)] {
            let logits = method.logits(&validation.photos()[..2]).unwrap();
            let mode = components.modes(logits, window_km).unwrap()[0].to_unit();
            assert!(mode.angle_rad(toy::mixture_centres()[peak]) < 0.05, "{window_km} km");
        }
        let place = method.predict(&validation.photos()[..2]).unwrap()[0].to_unit();
        assert!(toy::mixture_centres().iter().any(|centre| place.angle_rad(*centre) < 0.05));
    }
}
