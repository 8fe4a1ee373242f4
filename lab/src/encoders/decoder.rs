//! The learned decoder: from an encoding back to a place.

use super::features::LocationEncoder;
use crate::{Effort, Result, learner::Weights, learner::check_finite};
use locdiff_model::{Standardisation, chance};
use locdiff_nn::{Device, Params, ParamsBuilder, Tensor, layers::ForwardMode, layers::Mlp, ops};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, UnitVec};

/// Points by which the inputs are standardised.
const SURVEY: usize = 4096;
/// Hidden layers: the paper's decoder has six layers.
const HIDDEN_LAYERS: usize = 5;

/// A six-layer network that gives the unit vector of an encoding, trained on points drawn evenly over the Earth: fresh ones in
/// every step, where the paper has a fixed million.
pub(crate) struct NnDecoder {
    mlp: Mlp,
    params: Params,
    standardisation: Standardisation,
}

fn even_points(words: [u64; 2], count: usize) -> Vec<UnitVec> {
    (0..count as u64).map(|k| chance::point([words[0], words[1], k])).collect()
}

impl NnDecoder {
    pub(crate) fn fit(
        encoder: &LocationEncoder,
        device: &Device,
        effort: &Effort,
        seed: u64,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Self> {
        let size = encoder.dimension();
        let survey = encoder.encode_all(&even_points([seed, 0xDEC0_0000], SURVEY));
        let standardisation = columns_of(&survey, size);
        let mut builder = ParamsBuilder::new();
        let mut widths = vec![effort.width; HIDDEN_LAYERS + 2];
        widths[0] = size;
        widths[HIDDEN_LAYERS + 1] = 3;
        let mlp = Mlp::new(&mut builder, "decoder", &widths, 0.0);
        let params = [builder.clone().build(device, seed)?, builder.build(device, seed)?];
        let mut weights = Weights::of(params, effort, seed)?;
        let mut work = mlp.work(device, effort.batch)?;
        let mut inputs = Tensor::zeros(device, effort.batch, size)?;
        let [mut target, mut d_out] =
            [Tensor::zeros(device, effort.batch, 3)?, Tensor::zeros(device, effort.batch, 3)?];
        let mut loss = Tensor::zeros(device, effort.batch, 1)?;
        for step in 1..=effort.steps {
            let points = even_points([seed, 0xDEC0_0000 + u64::from(step)], effort.batch);
            let mut rows = encoder.encode_all(&points);
            standardisation.apply(&mut rows);
            inputs.upload(&rows)?;
            target.upload(&points.iter().flat_map(|p| p.to_array().map(|x| x as f32)).collect::<Vec<f32>>())?;
            mlp.forward(&weights.params, &mut work, inputs.view(), ForwardMode::Evaluate)?;
            let scale = 1.0 / effort.batch as f32;
            let (output, kind) = (work.output.view(), ops::PointLoss::L2);
            ops::point_loss(kind, d_out.view_mut(), loss.view_mut(), output, target.view(), scale)?;
            let Weights { params, grads, .. } = &mut weights;
            mlp.backward(params, grads, &mut work, inputs.view(), d_out.view(), None)?;
            weights.update()?;
            if step == effort.steps {
                check_finite("NN decoder", step, f64::from(loss.to_vec()?.iter().sum::<f32>()))?;
            }
            progress(f64::from(step) / f64::from(effort.steps));
        }
        let averaged = weights.averaged().to_vec()?;
        weights.params.upload(&averaged)?;
        Ok(Self { mlp, params: weights.params, standardisation })
    }

    pub(crate) fn decode(&self, encodings: &[f32]) -> Result<Vec<UnitVec>> {
        let inputs = crate::examples::upload(self.params.device(), &self.standardisation, encodings)?;
        let output = self.mlp.run(&self.params, inputs.view())?.to_vec()?;
        let place = |v: &[f32]| {
            let [x, y, z] = std::array::from_fn(|i| f64::from(v[i]));
            UnitVec::new(x, y, z).unwrap_or(UnitVec::NORTH)
        };
        Ok(output.chunks_exact(3).map(place).collect())
    }

    pub(crate) fn parameters(&self) -> usize {
        self.params.count()
    }

    /// How far in km the decoded place of each of `count` even points is from the point itself, after normal noise of that
    /// variance on every number of its encoding: the paper's perturbation drift.
    pub(crate) fn drifts_km(&self, encoder: &LocationEncoder, noise: f64, count: usize, seed: u64) -> Result<Vec<f64>> {
        let points = even_points([seed, 0xD21F], count);
        let mut rows = encoder.encode_all(&points);
        for (k, value) in rows.iter_mut().enumerate() {
            *value += (noise.sqrt() * chance::normals([seed, 0xD21F_0001, k as u64]).0) as f32;
        }
        let found = self.decode(&rows)?;
        Ok(points.iter().zip(found).map(|(a, b)| a.angle_rad(b) * EARTH_RADIUS_KM).collect())
    }
}

/// Mean and deviation of the columns; a column that hardly varies is not blown up.
pub(super) fn columns_of(rows: &[f32], size: usize) -> Standardisation {
    let count = (rows.len() / size) as f64;
    let (mut mean, mut square) = (vec![0.0; size], vec![0.0; size]);
    for row in rows.chunks_exact(size) {
        for (k, value) in row.iter().enumerate() {
            mean[k] += f64::from(*value) / count;
            square[k] += f64::from(*value).powi(2) / count;
        }
    }
    let deviation = |k: usize| ((square[k] - mean[k] * mean[k]).max(0.0).sqrt().max(0.02)) as f32;
    Standardisation {
        deviation: (0..size).map(deviation).collect(),
        mean: mean.into_iter().map(|m| m as f32).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EncoderKind;

    #[test]
    fn an_easy_encoding_is_decoded() {
        let effort = Effort { steps: 400, batch: 128, ..Effort::tiny() };
        let encoder = LocationEncoder::new(EncoderKind::Xyz, &[], 1).unwrap();
        let decoder = NnDecoder::fit(&encoder, &Device::cpu(), &effort, 2, &mut |_| ()).unwrap();
        let mean = |variance: f64| {
            let drifts = decoder.drifts_km(&encoder, variance, 300, 5).unwrap();
            drifts.iter().sum::<f64>() / drifts.len() as f64
        };
        let (clean, noisy) = (mean(0.0), mean(0.25));
        assert!(clean < 800.0, "{clean}");
        assert!(noisy > clean, "{clean} {noisy}");
    }
}
