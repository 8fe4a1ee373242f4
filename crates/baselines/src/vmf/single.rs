//! One von Mises–Fisher density for each photo.

use super::{log_normaliser, mean_length};
use crate::{
    Baseline, BaselineError, Effort, FitData, PhotoDensity,
    baseline::score,
    examples::{Bank, upload},
    learner::{Batch, Learner, Weights, learn},
};
use locdiff_model::Standardisation;
use locdiff_nn::{
    Device, ParamsBuilder, Tensor, View,
    layers::{Mlp, MlpWork},
};
use locdiff_sphere::{LatLon, UnitVec};

/// The network's output times this is the natural parameter κμ, so that concentrations in the hundreds are in reach.
const OUTPUT_SCALE: f64 = 20.0;

/// A network that gives the natural parameter κμ of a von Mises–Fisher density, trained by its log-likelihood.
pub struct VonMisesFisher {
    device: Device,
    effort: Effort,
    seed: u64,
    fitted: Option<(Net, Standardisation)>,
}

struct Net {
    mlp: Mlp,
    weights: Weights,
}

impl VonMisesFisher {
    /// A method to be fitted.
    pub fn new(device: &Device, effort: Effort, seed: u64) -> Self {
        Self { device: device.clone(), effort, seed, fitted: None }
    }

    /// κμ for every row: its direction is the answer, its length the concentration.
    /// Errors: rows of another size, or a method that was not fitted.
    pub fn natural_parameters(&self, embeddings: &[f32]) -> Result<Vec<[f64; 3]>, BaselineError> {
        let (net, standardisation) =
            self.fitted.as_ref().ok_or(BaselineError::NotFitted { method: "vmf" })?;
        let inputs = upload(&self.device, standardisation, embeddings)?;
        net.natural(false, inputs.view())
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

impl Net {
    fn natural(&self, averaged: bool, inputs: View<'_>) -> Result<Vec<[f64; 3]>, BaselineError> {
        let params = if averaged { self.weights.averaged() } else { &self.weights.params };
        let output = self.mlp.run(params, inputs)?.to_vec()?;
        Ok(output.chunks_exact(3).map(scaled).collect())
    }
}

fn places(natural: &[[f64; 3]]) -> Vec<LatLon> {
    let place = |v: &[f64; 3]| UnitVec::new(v[0], v[1], v[2]).unwrap_or(UnitVec::NORTH).to_latlon();
    natural.iter().map(place).collect()
}

struct Training<'a> {
    net: Net,
    work: MlpWork,
    points: &'a [UnitVec],
    d_out: Tensor,
    loss: f64,
    validation: Tensor,
    truth: &'a [UnitVec],
}

impl Learner for Training<'_> {
    fn weights(&mut self) -> &mut Weights {
        &mut self.net.weights
    }

    fn gradients(&mut self, batch: Batch<'_>) -> Result<(), BaselineError> {
        let Net { mlp, weights } = &mut self.net;
        weights.forward(mlp, &mut self.work, batch.inputs)?;
        // −log q = −log C(κ) − κμ·x, its gradient by κμ: E_q[x] − x. Three numbers per photo: done on the host.
        let output = self.work.output.to_vec()?;
        let scale = 1.0 / batch.photos.len() as f64;
        let mut gradient = vec![0.0_f32; output.len()];
        self.loss = 0.0;
        for ((out, d_out), &photo) in
            output.chunks_exact(3).zip(gradient.chunks_exact_mut(3)).zip(batch.photos)
        {
            let (natural, point) = (scaled(out), self.points[photo as usize]);
            let kappa = length(natural);
            self.loss -= scale * (log_normaliser(kappa) + along(natural, point));
            let shrink = if kappa > 0.0 { mean_length(kappa) / kappa } else { 1.0 / 3.0 };
            for (i, x) in point.to_array().into_iter().enumerate() {
                d_out[i] = (scale * OUTPUT_SCALE * (shrink * natural[i] - x)) as f32;
            }
        }
        self.d_out.upload(&gradient)?;
        let d_out = self.d_out.view();
        Ok(mlp.backward(&weights.params, &mut weights.grads, &mut self.work, batch.inputs, d_out, None)?)
    }

    fn loss(&self) -> Result<f64, BaselineError> {
        Ok(self.loss)
    }

    fn validate(&mut self) -> Result<f64, BaselineError> {
        Ok(score(&places(&self.net.natural(true, self.validation.view())?), self.truth))
    }
}

impl Baseline for VonMisesFisher {
    fn fit(&mut self, data: FitData<'_>, progress: &mut dyn FnMut(f64)) -> Result<(), BaselineError> {
        let (training, validation) = (data.training, data.validation);
        let bank = Bank::new(&self.device, training)?;
        let mut builder = ParamsBuilder::new();
        let widths = [training.columns(), self.effort.width, self.effort.width, 3];
        let mlp = Mlp::new(&mut builder, "vmf", &widths, self.effort.dropout);
        let mut learner = Training {
            work: mlp.work(&self.device, self.effort.batch)?,
            net: Net { mlp, weights: Weights::new(builder, &self.device, &self.effort, self.seed)? },
            points: training.points(),
            d_out: Tensor::zeros(&self.device, self.effort.batch, 3)?,
            loss: 0.0,
            validation: upload(&self.device, &bank.standardisation, validation.photos())?,
            truth: validation.points(),
        };
        learn(&mut learner, "vmf", &bank, training.len(), &self.effort, self.seed, progress)?;
        self.fitted = Some((learner.net, bank.standardisation));
        Ok(())
    }

    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>, BaselineError> {
        Ok(places(&self.natural_parameters(embeddings)?))
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Option<Vec<PhotoDensity<'_>>>, BaselineError> {
        let density = |v: [f64; 3]| -> PhotoDensity<'_> {
            let normaliser = log_normaliser(length(v));
            Box::new(move |points| points.iter().map(|point| normaliser + along(v, *point)).collect())
        };
        Ok(Some(self.natural_parameters(embeddings)?.into_iter().map(density).collect()))
    }

    fn parameters(&self) -> usize {
        self.fitted.as_ref().map_or(0, |(net, _)| net.weights.params.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    #[test]
    fn the_concentration_of_synthetic_data_is_recovered() {
        // One centre.
        let (training, validation) = (toy::mixture(4000, 1.0, 1), toy::mixture(200, 1.0, 2));
        let mut method = VonMisesFisher::new(&Device::cpu(), Effort { steps: 600, ..Effort::tiny() }, 3);
        method.fit(FitData { training: &training, validation: &validation }, &mut |_| ()).unwrap();
        let natural = method.natural_parameters(&validation.photos()[..2]).unwrap()[0];
        let kappa = length(natural);
        assert!((kappa / toy::KAPPAS[0] - 1.0).abs() < 0.1, "κ = {kappa}");
        let place = method.predict(&validation.photos()[..2]).unwrap()[0];
        assert!(place.to_unit().angle_rad(toy::mixture_centres()[0]) < 0.02);
        // The mean log density is that of the true density, −H = log C(κ) + κ A(κ), within sampling error.
        let logs = method.log_density(validation.photos(), validation.points()).unwrap().unwrap();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let truth = log_normaliser(toy::KAPPAS[0]) + toy::KAPPAS[0] * mean_length(toy::KAPPAS[0]);
        assert!((mean - truth).abs() < 0.25, "{mean} {truth}");
    }
}
