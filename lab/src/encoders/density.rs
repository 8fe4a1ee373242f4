//! Any encoding with the density loss: the network's output `e` is read as `q(x) ∝ exp(e·φ(x))` over pixels, as SHDD's is with `nll`.

use crate::baseline::{Task, highest};
use crate::encoders::{ablation::EncoderKind, decoder::columns_of, features::LocationEncoder};
use crate::examples::{Bank, standardised, upload};
use crate::learner::{Batch, Weights, learn};
use crate::{Baseline, PhotoDensity, Points, Result, reading::READ_DEGREE, sampled::network};
use locdiff_model::diffusion::{PredictionKind, Schedule, TrainingTables};
use locdiff_model::{Standardisation, answer::Globe, chance};
use locdiff_nn::layers::{CsUnet, ForwardMode};
use locdiff_nn::losses::{Quadrature, QuadratureGrid};
use locdiff_nn::{Indices, Params, ParamsBuilder, Tensor, View, ops, ops::Transpose};
use locdiff_shdd::sphere::{LatLon, UnitVec};
use std::{cell::RefCell, sync::Arc};

/// Diffusion steps, as LocDiff's.
const TIMES: usize = 200;
/// The streams of random numbers inside a step; dropout follows.
const NOISE: u32 = 0;
const TIME: u32 = 1;
const DROPOUT: u32 = 10;
/// Photos that validations during training look at.
const VALIDATION_PHOTOS: usize = 256;
/// Photos whose densities are on the device at a time.
const BLOCK: usize = 512;

/// An encoder's features at all pixels, and the network that weighs them.
struct Weigher {
    net: CsUnet,
    features: Tensor,
    /// The one noise that a single evaluation sees.
    noise: Vec<f32>,
}

impl Weigher {
    /// The natural parameters of every row from a single evaluation at pure noise.
    fn evaluate(&self, params: &Params, inputs: View<'_>) -> Result<Tensor> {
        let (device, rows, size) = (params.device(), inputs.rows(), self.noise.len());
        let mut out = Tensor::zeros(device, rows, size)?;
        let noise = Tensor::from_slice(device, rows, size, &self.noise.repeat(rows))?;
        let conditioning = self.net.conditioning(params, inputs, &[(TIMES - 1) as f32])?;
        let mut work = self.net.sampling_workspace(device, rows)?;
        self.net.predict(params, &mut work, out.view_mut(), noise.view(), &conditioning, 0)?;
        Ok(out)
    }

    /// `e·φ` at all pixels, row by row.
    fn fields(&self, params: &Params, standardisation: &Standardisation, embeddings: &[f32]) -> Result<Vec<f32>> {
        let (device, pixels) = (params.device(), self.features.rows());
        let columns = self.net.config().cond_dim;
        let mut all = Vec::new();
        for block in embeddings.chunks(BLOCK * columns) {
            let natural = self.evaluate(params, upload(device, standardisation, block)?.view())?;
            let mut fields = Tensor::zeros(device, natural.rows(), pixels)?;
            let features = self.features.view();
            ops::gemm(fields.view_mut(), natural.view(), Transpose::No, features, Transpose::Yes, 0.0, None)?;
            all.extend(fields.to_vec()?);
        }
        Ok(all)
    }
}

/// A location encoder with the density loss.
pub(crate) struct EncoderDensity {
    weigher: Weigher,
    params: Params,
    standardisation: Standardisation,
    globe: Arc<Globe>,
}

impl EncoderDensity {
    /// Trains LocDiff's diffusion and network on an encoder's vectors, as [`super::fit`] does, with −log density over pixels in place of the
    /// mean squared error.
    pub(crate) fn fit(task: Task<'_>, kind: EncoderKind, progress: &mut dyn FnMut(f64)) -> Result<Self> {
        let Task { device, effort, seed, data, .. } = task;
        let (training, batch) = (data.training, effort.batch);
        let globe = Arc::new(Globe::new(READ_DEGREE)?);
        let encoder = LocationEncoder::new(kind, training.points(), seed)?;
        let size = encoder.dimension();
        let encodings = encoder.encode_all(training.points());
        let codes = columns_of(&encodings, size);
        let features = standardised(&codes, &encoder.encode_all(globe.pixels().points()));
        let grid = Arc::new(QuadratureGrid::new(device, size, &features, None)?);
        let integrals = RefCell::new(Quadrature::over(grid, batch, batch * globe.pixels().len())?);
        let features = Tensor::from_slice(device, globe.pixels().len(), size, &features)?;
        let bank_codes = Tensor::from_slice(device, training.len(), size, &standardised(&codes, &encodings))?;
        let bank = Bank::new(device, training)?;
        let mut builder = ParamsBuilder::new();
        let net = network(effort, size, training.columns()).register(&mut builder)?;
        let schedule = Schedule::cosine(TIMES)?;
        let zeros = |columns: usize| Tensor::zeros(device, batch, columns);
        let times: Vec<f32> = (0..TIMES).map(|t| t as f32).collect();
        let mut weights = Weights::new(builder, task)?;
        let mut work = net.workspace(device, batch, true)?;
        let tables = TrainingTables::new(device, &schedule, PredictionKind::X0, 1.0, 0)?;
        let (mut code, mut noise, mut noisy) = (zeros(size)?, zeros(size)?, zeros(size)?);
        let (mut target, mut d_out, mut loss) = (zeros(size)?, zeros(size)?, zeros(1)?);
        let (mut t, mut held) =
            (Indices::from_slice(device, &vec![0; batch])?, Indices::from_slice(device, &vec![0; batch])?);
        let (t_table, mut t_value) = (Tensor::from_slice(device, TIMES, 1, &times)?, zeros(1)?);
        let pixel = |point: &UnitVec| globe.pixels().index_of(point.to_latlon()) as u32;
        let pixels: Vec<u32> = training.points().iter().map(pixel).collect();
        let noise_of_all = (0..size as u64).map(|k| chance::normals([seed, 0xDE4517, k]).0 as f32).collect();
        let weigher = Weigher { net, features, noise: noise_of_all };
        let gradients = |weights: &mut Weights, batch: Batch<'_>| {
            let Weights { params, grads, rng, .. } = weights;
            ops::gather_rows(code.view_mut(), bank_codes.view(), batch.indices)?;
            held.upload(&batch.photos.iter().map(|photo| pixels[*photo as usize]).collect::<Vec<u32>>())?;
            ops::gather_rows(target.view_mut(), weigher.features.view(), &held)?;
            ops::fill_normal(noise.view_mut(), rng, NOISE)?;
            ops::fill_indices(&mut t, TIMES as u32, rng, TIME)?;
            ops::mix_rows(noisy.view_mut(), code.view(), noise.view(), tables.noisy.view(), &t)?;
            ops::gather_rows(t_value.view_mut(), t_table.view(), &t)?;
            let mode = ForwardMode::Train { rng, first_stream: DROPOUT };
            weigher.net.forward(params, &mut work, noisy.view(), batch.inputs, t_value.view(), mode)?;
            let scale = 1.0 / batch.photos.len() as f32;
            let mut integrals = integrals.borrow_mut();
            integrals.nll(d_out.view_mut(), loss.view_mut(), work.output(), target.view(), scale)?;
            weigher.net.backward(params, grads, &mut work, noisy.view(), batch.inputs, d_out.view())?;
            batch.mean(&loss)
        };
        let (some, truths) = data.validation.some(VALIDATION_PHOTOS);
        let inputs = upload(device, &bank.standardisation, &some)?;
        let held: Vec<u32> = truths.iter().map(pixel).collect();
        let validate = |params: &Params| {
            let natural = weigher.evaluate(params, inputs.view())?;
            let held = Indices::from_slice(device, &held)?;
            let blank = || Tensor::zeros(device, natural.rows(), size);
            let (mut target, mut gradient, mut loss) = (blank()?, blank()?, Tensor::zeros(device, natural.rows(), 1)?);
            ops::gather_rows(target.view_mut(), weigher.features.view(), &held)?;
            let mut integrals = integrals.borrow_mut();
            integrals.nll(gradient.view_mut(), loss.view_mut(), natural.view(), target.view(), 1.0)?;
            Ok([-loss.to_vec()?.iter().map(|loss| f64::from(*loss)).sum::<f64>() / natural.rows() as f64; 2])
        };
        learn(&mut weights, task, &bank, gradients, validate, progress)?;
        Ok(Self { weigher, params: weights.params, standardisation: bank.standardisation, globe })
    }

    fn fields(&self, embeddings: &[f32]) -> Result<Vec<f32>> {
        self.weigher.fields(&self.params, &self.standardisation, embeddings)
    }
}

impl Baseline for EncoderDensity {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        Ok(highest(&self.fields(embeddings)?, self.globe.pixels().points()))
    }

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let pixels = self.globe.pixels();
        let density = |field: &[f32]| -> PhotoDensity<'_> {
            let field = field.to_vec();
            Box::new(move |points| match points {
                Points::Pixels(of) if of.depth() == pixels.depth() => field.iter().map(|v| f64::from(*v)).collect(),
                _ => {
                    let at = |point: &UnitVec| f64::from(field[pixels.index_of(point.to_latlon())]);
                    points.all().iter().map(at).collect()
                }
            })
        };
        Ok(self.fields(embeddings)?.chunks_exact(pixels.len()).map(density).collect())
    }

    fn parameters(&self) -> usize {
        self.params.count()
    }

    fn chosen(&self) -> String {
        format!("{} numbers, a single evaluation", self.weigher.noise.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effort, baseline::score, reading::CommonReading, toy};
    use locdiff_nn::Device;

    #[test]
    fn the_density_loss_finds_the_cities_with_any_encoding() {
        let (training, validation, test) = (toy::cities(400, 1), toy::cities(40, 2), toy::cities(40, 3));
        let effort = Effort { steps: 60, batch: 32, samples: 4, width: 32, validations: 1, ..Effort::tiny() };
        let device = Device::cpu();
        let task = toy::task(&device, &effort, 3, &training, &validation);
        let method = EncoderDensity::fit(task, EncoderKind::SphereC, &mut |_| ()).unwrap();
        let found = score(&method.predict(test.photos()).unwrap(), test.points());
        let reading = CommonReading::choose(&method.globe, &method, &validation).unwrap();
        let logs = reading.read(&method.globe, &method, &test).unwrap().log_densities;
        let nll = -logs.iter().sum::<f64>() / logs.len() as f64;
        println!("score {found}, nll {nll}");
        assert!(nll < 1.5, "{nll}");
    }
}
