//! Densities of von Mises and Fisher: one for each photo, and mixtures.

use crate::learner::{Batch, Weights, learn};
pub(crate) use crate::vmf::mixture::VmfMixture;
use crate::{Baseline, PhotoDensity, Result, baseline::Task, baseline::score, examples::Bank, examples::upload};
use crate::{reading::likelihood, search::ByRule};
use locdiff_model::Standardisation;
use locdiff_nn::{Params, ParamsBuilder, Tensor, View, layers::Mlp};
use locdiff_shdd::sphere::{LatLon, UnitVec};
use std::f64::consts::PI;

mod mixture;

/// `log C(κ)` of the density `C(κ)·exp(κ μ·x)` on the sphere, `C(κ) = κ/(4π sinh κ)`, without overflow.
pub(crate) fn log_normaliser(kappa: f64) -> f64 {
    if kappa < 1e-3 {
        return -(4.0 * PI).ln() - kappa * kappa / 6.0;
    }
    kappa.ln() - (2.0 * PI).ln() - kappa - (-(-2.0 * kappa).exp()).ln_1p()
}

/// The length of the mean, `coth κ − 1/κ`: minus the derivative of [`log_normaliser`].
pub(crate) fn mean_length(kappa: f64) -> f64 {
    if kappa < 1e-3 { kappa / 3.0 } else { 1.0 / kappa.tanh() - 1.0 / kappa }
}

/// The network's output times this is the natural parameter κμ, so that concentrations in the hundreds are in reach.
const OUTPUT_SCALE: f64 = 20.0;

/// A network that gives the natural parameter κμ of a von Mises–Fisher density, trained by its log-likelihood.
pub(crate) struct VonMisesFisher {
    mlp: Mlp,
    params: Params,
    standardisation: Standardisation,
}

impl VonMisesFisher {
    pub(crate) fn fit(task: Task<'_>, progress: &mut dyn FnMut(f64)) -> Result<ByRule<Self>> {
        let Task { device, effort, data, .. } = task;
        let bank = Bank::new(device, data.training)?;
        let mut builder = ParamsBuilder::new();
        let widths = [data.training.columns(), effort.width, effort.width, 3];
        let mlp = Mlp::new(&mut builder, "vmf", &widths, effort.dropout);
        let mut weights = Weights::new(builder, task)?;
        let mut work = mlp.work(device, effort.batch)?;
        let mut d_out = Tensor::zeros(device, effort.batch, 3)?;
        let validation = upload(device, &bank.standardisation, data.validation.photos())?;
        let gradients = |weights: &mut Weights, batch: Batch<'_>| {
            weights.forward(&mlp, &mut work, batch.inputs)?;
            // −log q = −log C(κ) − κμ·x, its gradient by κμ: E_q[x] − x. Three numbers per photo: done on the host.
            let output = work.output.to_vec()?;
            let scale = 1.0 / batch.photos.len() as f64;
            let mut gradient = vec![0.0_f32; output.len()];
            let mut loss = 0.0;
            for ((out, d_out), &photo) in output.chunks_exact(3).zip(gradient.chunks_exact_mut(3)).zip(batch.photos) {
                let (natural, point) = (scaled(out), data.training.points()[photo as usize]);
                let kappa = length(natural);
                loss -= scale * (log_normaliser(kappa) + along(natural, point));
                let shrink = if kappa > 0.0 { mean_length(kappa) / kappa } else { 1.0 / 3.0 };
                for (i, x) in point.to_array().into_iter().enumerate() {
                    d_out[i] = (scale * OUTPUT_SCALE * (shrink * natural[i] - x)) as f32;
                }
            }
            d_out.upload(&gradient)?;
            weights.backward(&mlp, &mut work, batch.inputs, d_out.view())?;
            Ok(loss)
        };
        let validate = |params: &Params| {
            let (natural, truths) = (natural(&mlp, params, validation.view())?, data.validation.points());
            Ok([score(&places(&natural), truths), likelihood(&densities(natural), truths)])
        };
        learn(&mut weights, task, &bank, gradients, validate, progress)?;
        let made = |params| Self { mlp: mlp.clone(), params, standardisation: bank.standardisation.clone() };
        Ok(ByRule::new(made(weights.params), made(weights.likeliest)))
    }

    /// κμ for every row: its direction is the answer, its length the concentration.
    fn natural_parameters(&self, embeddings: &[f32]) -> Result<Vec<[f64; 3]>> {
        let inputs = upload(self.params.device(), &self.standardisation, embeddings)?;
        natural(&self.mlp, &self.params, inputs.view())
    }
}

fn scaled(output: &[f32]) -> [f64; 3] {
    std::array::from_fn(|i| OUTPUT_SCALE * f64::from(output[i]))
}

fn length(v: [f64; 3]) -> f64 {
    (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt()
}

fn along(v: [f64; 3], point: UnitVec) -> f64 {
    v[0] * point.x() + v[1] * point.y() + v[2] * point.z()
}

fn natural(mlp: &Mlp, params: &Params, inputs: View<'_>) -> Result<Vec<[f64; 3]>> {
    let output = mlp.run(params, inputs)?.to_vec()?;
    Ok(output.chunks_exact(3).map(scaled).collect())
}

fn places(natural: &[[f64; 3]]) -> Vec<LatLon> {
    let place = |v: &[f64; 3]| UnitVec::new(v[0], v[1], v[2]).unwrap_or(UnitVec::NORTH).to_latlon();
    natural.iter().map(place).collect()
}

fn densities(natural: Vec<[f64; 3]>) -> Vec<PhotoDensity<'static>> {
    let density = |v: [f64; 3]| -> PhotoDensity<'static> {
        let normaliser = log_normaliser(length(v));
        Box::new(move |points| points.all().iter().map(|point| normaliser + along(v, *point)).collect())
    };
    natural.into_iter().map(density).collect()
}

impl Baseline for VonMisesFisher {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        Ok(places(&self.natural_parameters(embeddings)?))
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        Ok(densities(self.natural_parameters(embeddings)?))
    }

    fn parameters(&self) -> usize {
        self.params.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effort, toy};
    use locdiff_nn::Device;
    use locdiff_shdd::sphere::Grid;

    #[test]
    fn densities_have_mass_one_and_their_mean() {
        let grid = Grid::fibonacci(50_000).unwrap();
        for kappa in [0.0, 5e-4, 0.5, 10.0, 300.0] {
            let (mut mass, mut mean) = (0.0, 0.0);
            for (point, weight) in grid.points().iter().zip(grid.weights()) {
                let cosine = point.dot(UnitVec::NORTH);
                let density = (log_normaliser(kappa) + kappa * cosine).exp();
                mass += density * weight;
                mean += density * weight * cosine;
            }
            assert!((mass - 1.0).abs() < 1e-4, "{kappa}: {mass}");
            assert!((mean - mean_length(kappa)).abs() < 1e-4, "{kappa}: {mean}");
        }
        assert!(log_normaliser(1e6).is_finite());
    }

    #[test]
    fn the_concentration_of_synthetic_data_is_recovered() {
        // One centre.
        let (training, validation) = (toy::mixture(4000, 1.0, 1), toy::mixture(200, 1.0, 2));
        let (device, effort) = (Device::cpu(), Effort { steps: 600, ..Effort::tiny() });
        let task = toy::task(&device, &effort, 3, &training, &validation);
        let method = VonMisesFisher::fit(task, &mut |_| ()).unwrap();
        let natural = method.likeliest.natural_parameters(&validation.photos()[..2]).unwrap()[0];
        let kappa = length(natural);
        assert!((kappa / toy::KAPPAS[0] - 1.0).abs() < 0.1, "κ = {kappa}");
        let place = method.predict(&validation.photos()[..2]).unwrap()[0];
        assert!(place.to_unit().angle_rad(toy::mixture_centres()[0]) < 0.02);
        // The mean log density is that of the true density, −H = log C(κ) + κ A(κ), within sampling error.
        let logs = toy::log_densities(&method, validation.photos(), validation.points());
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let truth = log_normaliser(toy::KAPPAS[0]) + toy::KAPPAS[0] * mean_length(toy::KAPPAS[0]);
        assert!((mean - truth).abs() < 0.25, "{mean} {truth}");
    }
}
