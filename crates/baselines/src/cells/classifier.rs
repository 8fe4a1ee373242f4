//! The classifier.

use super::{CELLS, COMBINED, CellScheme, LABEL_WIDTHS_KM, NESTED, Partition, WINDOWS_KM, regions::Regions};
use crate::{
    Baseline, BaselineError, Effort, FitData, PhotoDensity,
    baseline::{highest, score},
    examples::{Bank, upload},
    learner::{Batch, Learner, Weights, choose, learn, mean_of},
};
use locdiff_model::Standardisation;
use locdiff_nn::{
    Device, ParamsBuilder, Tensor, View,
    layers::{Mlp, MlpWork},
    ops,
    ops::Transpose,
};
use locdiff_sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use rayon::prelude::*;
use std::ops::Range;

/// A classifier over cells, by one of the schemes of [`CellScheme`].
pub struct CellClassifier {
    device: Device,
    effort: Effort,
    seed: u64,
    scheme: CellScheme,
    fitted: Option<Fitted>,
}

struct Fitted {
    net: Network,
    standardisation: Standardisation,
    label_width_km: f64,
    window_km: f64,
    kernel: Option<Tensor>,
}

/// The network with the cells that its outputs stand for.
struct Network {
    mlp: Mlp,
    weights: Weights,
    scheme: CellScheme,
    partitions: Vec<Partition>,
    /// The columns of each partition's cells.
    blocks: Vec<Range<usize>>,
    regions: Regions,
}

impl CellClassifier {
    /// A classifier to be fitted.
    pub fn new(device: &Device, effort: Effort, seed: u64, scheme: CellScheme) -> Self {
        Self { device: device.clone(), effort, seed, scheme, fitted: None }
    }

    fn partitions(&self, points: &[UnitVec]) -> Result<Vec<Partition>, BaselineError> {
        // Halving leaves cells between half of the most and the most: aim at the middle.
        let most = |cells: usize| (points.len() * 4 / (3 * cells)).max(1);
        match self.scheme {
            CellScheme::Hard | CellScheme::Smooth => Ok(vec![Partition::new(points, most(CELLS), None)?]),
            CellScheme::Combined => (0..COMBINED.0 as u64)
                .map(|k| Partition::new(points, most(COMBINED.1), Some(self.seed << 8 | k)))
                .collect(),
            CellScheme::Hierarchy => {
                NESTED.iter().map(|cells| Partition::new(points, most(*cells), None)).collect()
            }
        }
    }

    fn name(&self) -> &'static str {
        match self.scheme {
            CellScheme::Hard => "planet",
            CellScheme::Smooth => "cells",
            CellScheme::Combined => "cplanet",
            CellScheme::Hierarchy => "isns",
        }
    }

    fn fitted(&self) -> Result<&Fitted, BaselineError> {
        self.fitted.as_ref().ok_or(BaselineError::NotFitted { method: self.name() })
    }
}

impl Network {
    fn new(method: &CellClassifier, columns: usize, points: &[UnitVec]) -> Result<Self, BaselineError> {
        let partitions = method.partitions(points)?;
        let mut blocks = Vec::new();
        let mut end = 0;
        for partition in &partitions {
            blocks.push(end..end + partition.len());
            end += partition.len();
        }
        let mut builder = ParamsBuilder::new();
        let effort = &method.effort;
        let mlp = Mlp::new(&mut builder, "cells", &[columns, effort.width, end], effort.dropout);
        Ok(Self {
            mlp,
            weights: Weights::new(builder, &method.device, effort, method.seed)?,
            scheme: method.scheme,
            regions: Regions::new(&partitions, points),
            partitions,
            blocks,
        })
    }

    fn cells(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.end)
    }

    /// The labels of all photos, one row each: a distribution over each partition's cells.
    fn labels(&self, points: &[UnitVec], width_km: f64) -> Vec<f32> {
        let cells = self.cells();
        let mut labels = vec![0.0; points.len() * cells];
        labels.par_chunks_mut(cells).zip(points).for_each(|(row, point)| {
            for (partition, block) in self.partitions.iter().zip(&self.blocks) {
                let row = &mut row[block.clone()];
                let own = partition.cell(*point);
                if width_km == 0.0 {
                    row[own] = 1.0;
                    continue;
                }
                // PIGEON's smoothing, exp(−(d(centre, photo) − d(own centre, photo))/width) over its sum, in which the second
                // distance cancels; that of the nearest centre in its place keeps the numbers small.
                let distance_km = |c: &UnitVec| point.angle_rad(*c) * EARTH_RADIUS_KM;
                let base = partition.centres().iter().map(distance_km).fold(f64::INFINITY, f64::min);
                for (value, centre) in row.iter_mut().zip(partition.centres()) {
                    *value = (-(distance_km(centre) - base) / width_km).exp() as f32;
                }
                let sum: f32 = row.iter().sum();
                for value in row.iter_mut() {
                    *value /= sum;
                }
            }
        });
        labels
    }

    /// Probabilities of all cells, each partition's summing to one.
    fn probabilities(&self, averaged: bool, inputs: View<'_>) -> Result<Vec<f32>, BaselineError> {
        let params = if averaged { self.weights.averaged() } else { &self.weights.params };
        let mut output = self.mlp.run(params, inputs)?;
        let mut lse = Tensor::zeros(params.device(), inputs.rows(), 1)?;
        for block in &self.blocks {
            ops::softmax(output.view_mut().columns(block.clone()), lse.view_mut(), None, 1.0)?;
        }
        Ok(output.to_vec()?)
    }

    /// The regions' probabilities.
    fn region_probabilities(&self, averaged: bool, inputs: View<'_>) -> Result<Vec<f32>, BaselineError> {
        let cells = self.probabilities(averaged, inputs)?;
        Ok(self.regions.probabilities(self.scheme, &cells, self.cells()))
    }

    /// The centre of the region with the highest probability, or with the highest sum over its neighbourhood.
    fn answers(&self, probabilities: &[f32], kernel: Option<&Tensor>) -> Result<Vec<LatLon>, BaselineError> {
        let n = self.regions.centres.len();
        let gathered = match kernel {
            None => probabilities.to_vec(),
            Some(kernel) => {
                let device = kernel.device();
                let rows = probabilities.len() / n;
                let from = Tensor::from_slice(device, rows, n, probabilities)?;
                let mut to = Tensor::zeros(device, rows, n)?;
                ops::gemm(
                    to.view_mut(),
                    from.view(),
                    Transpose::No,
                    kernel.view(),
                    Transpose::No,
                    0.0,
                    None,
                )?;
                to.to_vec()?
            }
        };
        Ok(highest(&gathered, &self.regions.centres))
    }
}

/// Storage of the training.
struct Training<'a> {
    net: Network,
    work: MlpWork,
    labels: Tensor,
    target: Tensor,
    lse: Tensor,
    loss: Tensor,
    batch: usize,
    validation: Tensor,
    truth: &'a [UnitVec],
}

impl Learner for Training<'_> {
    fn weights(&mut self) -> &mut Weights {
        &mut self.net.weights
    }

    fn gradients(&mut self, batch: Batch<'_>) -> Result<(), BaselineError> {
        let Network { mlp, weights, blocks, .. } = &mut self.net;
        weights.forward(mlp, &mut self.work, batch.inputs)?;
        ops::gather_rows(self.target.view_mut(), self.labels.view(), batch.indices)?;
        // Cross entropy, Σ over the partitions: lse − y·logits, gradient softmax − y.
        let scale = 1.0 / self.batch as f32;
        let logits = &mut self.work.output;
        ops::row_dot(self.loss.view_mut(), logits.view(), self.target.view(), -1.0, 0.0)?;
        for block in blocks.iter() {
            ops::softmax(logits.view_mut().columns(block.clone()), self.lse.view_mut(), None, scale)?;
            ops::axpby(self.loss.view_mut(), 1.0, self.lse.view(), 1.0)?;
        }
        // The target's storage becomes the gradient.
        ops::axpby(self.target.view_mut(), 1.0, logits.view(), -scale)?;
        let d_out = self.target.view();
        Ok(mlp.backward(&weights.params, &mut weights.grads, &mut self.work, batch.inputs, d_out, None)?)
    }

    fn loss(&self) -> Result<f64, BaselineError> {
        mean_of(&self.loss)
    }

    fn validate(&mut self) -> Result<f64, BaselineError> {
        let probabilities = self.net.region_probabilities(true, self.validation.view())?;
        Ok(score(&self.net.answers(&probabilities, None)?, self.truth))
    }
}

impl Baseline for CellClassifier {
    fn fit(&mut self, data: FitData<'_>, progress: &mut dyn FnMut(f64)) -> Result<(), BaselineError> {
        let (training, validation) = (data.training, data.validation);
        let bank = Bank::new(&self.device, training)?;
        let inputs = upload(&self.device, &bank.standardisation, validation.photos())?;
        let widths: &[f64] = if self.scheme == CellScheme::Smooth { &LABEL_WIDTHS_KM } else { &[0.0] };
        let batch = self.effort.batch;
        let (label_width_km, net) = choose(widths, progress, |width_km, part| {
            let net = Network::new(self, training.columns(), training.points())?;
            let zeros = |columns: usize| Tensor::zeros(&self.device, batch, columns);
            let cells = net.cells();
            let labels = net.labels(training.points(), width_km);
            let mut learner = Training {
                work: net.mlp.work(&self.device, batch)?,
                labels: Tensor::from_slice(&self.device, training.len(), cells, &labels)?,
                target: zeros(cells)?,
                lse: zeros(1)?,
                loss: zeros(1)?,
                batch,
                validation: upload(&self.device, &bank.standardisation, validation.photos())?,
                truth: validation.points(),
                net,
            };
            let (score, _) =
                learn(&mut learner, self.name(), &bank, training.len(), &self.effort, self.seed, part)?;
            Ok((score, learner.net))
        })?;
        // Combined partitions smooth each other, and their regions are too many for a kernel.
        let windows: &[f64] = if self.scheme == CellScheme::Combined { &[0.0] } else { &WINDOWS_KM };
        let probabilities = net.region_probabilities(false, inputs.view())?;
        let (window_km, kernel) = choose(windows, &mut |_| (), |window_km, _| {
            let n = net.regions.centres.len();
            let kernel = net.regions.kernel(window_km);
            let kernel = kernel.map(|k| Tensor::from_slice(&self.device, n, n, &k)).transpose()?;
            let answers = net.answers(&probabilities, kernel.as_ref())?;
            Ok((score(&answers, validation.points()), kernel))
        })?;
        let standardisation = bank.standardisation;
        self.fitted = Some(Fitted { net, standardisation, label_width_km, window_km, kernel });
        Ok(())
    }

    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>, BaselineError> {
        let fitted = self.fitted()?;
        let inputs = upload(&self.device, &fitted.standardisation, embeddings)?;
        let probabilities = fitted.net.region_probabilities(false, inputs.view())?;
        fitted.net.answers(&probabilities, fitted.kernel.as_ref())
    }

    /// Constant inside a cell; the mean of the partitions' densities for the combination, the finest partition's cells
    /// for the hierarchy.
    fn densities(&self, embeddings: &[f32]) -> Result<Option<Vec<PhotoDensity<'_>>>, BaselineError> {
        let Fitted { net, standardisation, .. } = self.fitted()?;
        let inputs = upload(&self.device, standardisation, embeddings)?;
        let cells = net.probabilities(false, inputs.view())?;
        if self.scheme == CellScheme::Hierarchy {
            // Nested cells: a region is a finest cell.
            let Some((partition, block)) = net.partitions.last().zip(net.blocks.last()) else {
                return Ok(None);
            };
            let regions = net.regions.probabilities(self.scheme, &cells, net.cells());
            let density = |row: &[f32]| -> PhotoDensity<'_> {
                let mut masses = vec![0.0; partition.len()];
                for (region, mass) in net.regions.cells.iter().zip(row) {
                    if let Some(cell) = region.last() {
                        masses[cell - block.start] += f64::from(*mass);
                    }
                }
                Box::new(move |points| {
                    let at = |point: &UnitVec| {
                        let cell = partition.cell(*point);
                        (masses[cell] / partition.areas_sr()[cell]).ln()
                    };
                    points.iter().map(at).collect()
                })
            };
            return Ok(Some(regions.chunks_exact(net.regions.cells.len()).map(density).collect()));
        }
        let density = |row: &[f32]| -> PhotoDensity<'_> {
            let row = row.to_vec();
            Box::new(move |points| {
                let at = |point: &UnitVec| {
                    let each = net.partitions.iter().zip(&net.blocks).map(|(partition, block)| {
                        let cell = partition.cell(*point);
                        f64::from(row[block.start + cell]) / partition.areas_sr()[cell]
                    });
                    (each.sum::<f64>() / net.partitions.len() as f64).ln()
                };
                points.iter().map(at).collect()
            })
        };
        Ok(Some(cells.chunks_exact(net.cells()).map(density).collect()))
    }

    fn parameters(&self) -> usize {
        self.fitted.as_ref().map_or(0, |fitted| fitted.net.weights.params.count())
    }

    fn chosen(&self) -> String {
        let Some(fitted) = &self.fitted else { return String::new() };
        let cells: Vec<String> = fitted.net.partitions.iter().map(|p| p.len().to_string()).collect();
        let labels = match self.scheme {
            CellScheme::Smooth => format!(", labels {} km", fitted.label_width_km),
            _ => String::new(),
        };
        format!("{} cells{labels}, window {} km", cells.join(" + "), fitted.window_km)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;
    use locdiff_sphere::Grid;

    const SCHEMES: [CellScheme; 4] =
        [CellScheme::Hard, CellScheme::Smooth, CellScheme::Combined, CellScheme::Hierarchy];

    #[test]
    fn every_scheme_finds_the_city() {
        let (training, validation, test) = (toy::cities(600, 1), toy::cities(60, 2), toy::cities(80, 3));
        for scheme in SCHEMES {
            let mut method = CellClassifier::new(&Device::cpu(), Effort::tiny(), 5, scheme);
            assert!(method.predict(test.photos()).is_err());
            method.fit(FitData { training: &training, validation: &validation }, &mut |_| ()).unwrap();
            let answers = method.predict(test.photos()).unwrap();
            let found = score(&answers, test.points());
            assert!(found > 0.8, "{scheme:?}: {found} {}", method.chosen());
            assert!(method.parameters() > 1000);
        }
    }

    #[test]
    fn densities_have_mass_one_and_beat_the_uniform_one() {
        let (training, test) = (toy::anywhere(3000, 1), toy::anywhere(200, 2));
        let grid = Grid::fibonacci(20_000).unwrap();
        let effort = Effort { steps: 150, ..Effort::tiny() };
        for scheme in SCHEMES {
            let mut method = CellClassifier::new(&Device::cpu(), effort, 5, scheme);
            method.fit(FitData { training: &training, validation: &test }, &mut |_| ()).unwrap();
            let repeated = test.photos()[..3].repeat(grid.len());
            let logs = method.log_density(&repeated, grid.points()).unwrap().unwrap();
            let mass: f64 = logs.iter().zip(grid.weights()).map(|(log, weight)| log.exp() * weight).sum();
            assert!((mass - 1.0).abs() < 0.05, "{scheme:?}: {mass}");
            let logs = method.log_density(test.photos(), test.points()).unwrap().unwrap();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            assert!(mean > 0.5 - (4.0 * std::f64::consts::PI).ln(), "{scheme:?}: {mean}");
        }
    }
}
