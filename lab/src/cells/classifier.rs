//! The classifier.

use super::{CELLS, COMBINED, CellScheme, LABEL_WIDTHS_KM, NESTED, Partition, WINDOWS_KM, regions::Regions};
use crate::{
    Baseline, PhotoDensity,
    baseline::{Task, highest, score},
    error::Result,
    examples::{Bank, upload},
    learner::{Batch, Weights, choose, learn},
};
use locdiff_model::Standardisation;
use locdiff_nn::{Params, ParamsBuilder, Tensor, View, layers::Mlp, ops, ops::Transpose};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use rayon::prelude::*;
use std::ops::Range;

/// A classifier over cells, by one of the schemes of [`CellScheme`].
pub(crate) struct CellClassifier {
    net: CellNetwork,
    params: Params,
    standardisation: Standardisation,
    label_width_km: f64,
    window_km: f64,
    kernel: Option<Tensor>,
}

/// The network with the cells that its outputs stand for.
struct CellNetwork {
    mlp: Mlp,
    scheme: CellScheme,
    partitions: Vec<Partition>,
    blocks: Vec<Range<usize>>,
    regions: Regions,
}

impl CellScheme {
    fn partitions(self, points: &[UnitVec], seed: u64) -> Result<Vec<Partition>> {
        // Halving leaves cells between half of the most and the most: aim at the middle.
        let most = |cells: usize| (points.len() * 4 / (3 * cells)).max(1);
        match self {
            Self::Hard | Self::Smooth => Ok(vec![Partition::new(points, most(CELLS), None)?]),
            Self::Combined => {
                (0..COMBINED.0 as u64).map(|k| Partition::new(points, most(COMBINED.1), Some(seed << 8 | k))).collect()
            }
            Self::Hierarchy => NESTED.iter().map(|cells| Partition::new(points, most(*cells), None)).collect(),
        }
    }
}

impl CellClassifier {
    /// Trains the classifier, with several widths of labels where they are smooth.
    pub(crate) fn fit(task: Task<'_>, scheme: CellScheme, progress: &mut dyn FnMut(f64)) -> Result<Self> {
        let Task { device, effort, data, .. } = task;
        let (training, validation) = (data.training, data.validation);
        let bank = Bank::new(device, training)?;
        let inputs = upload(device, &bank.standardisation, validation.photos())?;
        let widths: &[f64] = if scheme == CellScheme::Smooth { &LABEL_WIDTHS_KM } else { &[0.0] };
        let batch = effort.batch;
        let (label_width_km, (net, params)) = choose(widths, progress, |width_km, part| {
            let (net, mut weights) = CellNetwork::new(task, scheme)?;
            let (mlp, cells) = (&net.mlp, net.cells());
            let zeros = |columns: usize| Tensor::zeros(device, batch, columns);
            let labels = net.labels(training.points(), width_km);
            let labels = Tensor::from_slice(device, training.len(), cells, &labels)?;
            let mut work = mlp.work(device, batch)?;
            let (mut target, mut lse, mut loss) = (zeros(cells)?, zeros(1)?, zeros(1)?);
            let gradients = |weights: &mut Weights, batch: Batch<'_>| {
                weights.forward(mlp, &mut work, batch.inputs)?;
                ops::gather_rows(target.view_mut(), labels.view(), batch.indices)?;
                // Cross entropy, Σ over the partitions: lse − y·logits, gradient softmax − y.
                let scale = 1.0 / batch.photos.len() as f32;
                let logits = &mut work.output;
                ops::row_dot(loss.view_mut(), logits.view(), target.view(), -1.0, 0.0)?;
                for block in &net.blocks {
                    ops::softmax(logits.view_mut().columns(block.clone()), lse.view_mut(), None, scale)?;
                    ops::axpby(loss.view_mut(), 1.0, lse.view(), 1.0)?;
                }
                // The target's storage becomes the gradient.
                ops::axpby(target.view_mut(), 1.0, logits.view(), -scale)?;
                weights.backward(mlp, &mut work, batch.inputs, target.view())?;
                batch.mean(&loss)
            };
            let validate = |params: &Params| {
                let probabilities = net.region_probabilities(params, inputs.view())?;
                Ok(score(&net.answers(&probabilities, None)?, validation.points()))
            };
            let score = learn(&mut weights, task, &bank, gradients, validate, part)?;
            Ok((score, (net, weights.params)))
        })?;
        // Combined partitions smooth each other, and their regions are too many for a kernel.
        let windows: &[f64] = if scheme == CellScheme::Combined { &[0.0] } else { &WINDOWS_KM };
        let probabilities = net.region_probabilities(&params, inputs.view())?;
        let (window_km, kernel) = choose(windows, &mut |_| (), |window_km, _| {
            let n = net.regions.centres.len();
            let kernel = net.regions.kernel(window_km);
            let kernel = kernel.map(|k| Tensor::from_slice(device, n, n, &k)).transpose()?;
            let answers = net.answers(&probabilities, kernel.as_ref())?;
            Ok((score(&answers, validation.points()), kernel))
        })?;
        Ok(Self { net, params, standardisation: bank.standardisation, label_width_km, window_km, kernel })
    }

    fn inputs(&self, embeddings: &[f32]) -> Result<Tensor> {
        upload(self.params.device(), &self.standardisation, embeddings)
    }
}

impl CellNetwork {
    fn new(task: Task<'_>, scheme: CellScheme) -> Result<(Self, Weights)> {
        let training = task.data.training;
        let (columns, points) = (training.columns(), training.points());
        let partitions = scheme.partitions(points, task.seed)?;
        let mut blocks = Vec::new();
        let mut end = 0;
        for partition in &partitions {
            blocks.push(end..end + partition.len());
            end += partition.len();
        }
        let mut builder = ParamsBuilder::new();
        let mlp = Mlp::new(&mut builder, "cells", &[columns, task.effort.width, end], task.effort.dropout);
        let regions = Regions::new(&partitions, points);
        Ok((Self { mlp, scheme, partitions, blocks, regions }, Weights::new(builder, task)?))
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
    fn probabilities(&self, params: &Params, inputs: View<'_>) -> Result<Vec<f32>> {
        let mut output = self.mlp.run(params, inputs)?;
        let mut lse = Tensor::zeros(params.device(), inputs.rows(), 1)?;
        for block in &self.blocks {
            ops::softmax(output.view_mut().columns(block.clone()), lse.view_mut(), None, 1.0)?;
        }
        Ok(output.to_vec()?)
    }

    fn region_probabilities(&self, params: &Params, inputs: View<'_>) -> Result<Vec<f32>> {
        let cells = self.probabilities(params, inputs)?;
        Ok(self.regions.probabilities(self.scheme, &cells, self.cells()))
    }

    /// The centre of the region with the highest probability, or with the highest sum over its neighbourhood.
    fn answers(&self, probabilities: &[f32], kernel: Option<&Tensor>) -> Result<Vec<LatLon>> {
        let n = self.regions.centres.len();
        let gathered = match kernel {
            None => probabilities.to_vec(),
            Some(kernel) => {
                let device = kernel.device();
                let rows = probabilities.len() / n;
                let from = Tensor::from_slice(device, rows, n, probabilities)?;
                let mut to = Tensor::zeros(device, rows, n)?;
                let (a, b, no) = (from.view(), kernel.view(), Transpose::No);
                ops::gemm(to.view_mut(), a, no, b, no, 0.0, None)?;
                to.to_vec()?
            }
        };
        Ok(highest(&gathered, &self.regions.centres))
    }
}

impl Baseline for CellClassifier {
    fn predict(&self, embeddings: &[f32]) -> Result<Vec<LatLon>> {
        let probabilities = self.net.region_probabilities(&self.params, self.inputs(embeddings)?.view())?;
        self.net.answers(&probabilities, self.kernel.as_ref())
    }

    /// Constant inside a cell; the mean of the partitions' densities for the combination, the finest partition's cells
    /// for the hierarchy.
    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        let net = &self.net;
        let cells = net.probabilities(&self.params, self.inputs(embeddings)?.view())?;
        if let (CellScheme::Hierarchy, Some((partition, block))) =
            (net.scheme, net.partitions.last().zip(net.blocks.last()))
        {
            // Nested cells: a region is a finest cell.
            let regions = net.regions.probabilities(net.scheme, &cells, net.cells());
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
                    points.all().iter().map(at).collect()
                })
            };
            return Ok(regions.chunks_exact(net.regions.cells.len()).map(density).collect());
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
                points.all().iter().map(at).collect()
            })
        };
        Ok(cells.chunks_exact(net.cells()).map(density).collect())
    }

    fn parameters(&self) -> usize {
        self.params.count()
    }

    fn chosen(&self) -> String {
        let cells: Vec<String> = self.net.partitions.iter().map(|p| p.len().to_string()).collect();
        let labels = match self.net.scheme {
            CellScheme::Smooth => format!(", labels {} km", self.label_width_km),
            _ => String::new(),
        };
        format!("{} cells{labels}, window {} km", cells.join(" + "), self.window_km)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effort, toy};
    use locdiff_nn::Device;
    use locdiff_shdd::sphere::Grid;

    const SCHEMES: [CellScheme; 4] =
        [CellScheme::Hard, CellScheme::Smooth, CellScheme::Combined, CellScheme::Hierarchy];

    #[test]
    fn every_scheme_finds_the_city() {
        let (training, validation, test) = (toy::cities(600, 1), toy::cities(60, 2), toy::cities(80, 3));
        for scheme in SCHEMES {
            let (device, effort) = (Device::cpu(), Effort::tiny());
            let task = toy::task(&device, &effort, 5, &training, &validation);
            let method = CellClassifier::fit(task, scheme, &mut |_| ()).unwrap();
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
        let (device, effort) = (Device::cpu(), Effort { steps: 150, ..Effort::tiny() });
        for scheme in SCHEMES {
            let task = toy::task(&device, &effort, 5, &training, &test);
            let method = CellClassifier::fit(task, scheme, &mut |_| ()).unwrap();
            let repeated = test.photos()[..3].repeat(grid.len());
            let logs = toy::log_densities(&method, &repeated, grid.points());
            let mass: f64 = logs.iter().zip(grid.weights()).map(|(log, weight)| log.exp() * weight).sum();
            assert!((mass - 1.0).abs() < 0.05, "{scheme:?}: {mass}");
            let logs = toy::log_densities(&method, test.photos(), test.points());
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            assert!(mean > 0.5 - (4.0 * std::f64::consts::PI).ln(), "{scheme:?}: {mean}");
        }
    }
}
