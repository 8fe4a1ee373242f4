//! The classifier.

use crate::baseline::{Task, highest, score};
use crate::cells::{CELLS, COMBINED, CellScheme, LABEL_WIDTH_KM, NESTED, Partition, WINDOWS_KM, partition::Regions};
use crate::learner::{Batch, Weights, learn};
use crate::search::{ByRule, by_rule};
use crate::{Baseline, PhotoDensity, Result, examples::Bank, examples::upload, reading::likelihood};
use locdiff_model::Standardisation;
use locdiff_nn::{Params, ParamsBuilder, Tensor, View, layers::Mlp, ops, ops::Transpose};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use rayon::prelude::*;
use std::{ops::Range, sync::Arc};

/// A classifier over cells, by one of the schemes of [`CellScheme`].
pub(crate) struct CellClassifier {
    net: Arc<CellNetwork>,
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
    /// The partitions with 2 to the power of `size` times the usual number of cells.
    fn partitions(self, points: &[UnitVec], size: i32, seed: u64) -> Result<Vec<Partition>> {
        // Halving leaves cells between half of the most and the most: aim at the middle.
        let most = |cells: usize| {
            let cells = 2.0_f64.powi(size) * cells as f64;
            ((points.len() as f64 * 4.0 / (3.0 * cells)) as usize).max(1)
        };
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
    /// Trains the classifier, with several numbers of cells, and several widths of labels where they are smooth.
    pub(crate) fn fit(task: Task<'_>, scheme: CellScheme, progress: &mut dyn FnMut(f64)) -> Result<ByRule<Self>> {
        let bank = Bank::new(task.device, task.data.training)?;
        let is_smooth = i32::from(scheme == CellScheme::Smooth);
        let boxes = ([(-1, 1), (-is_smooth, is_smooth)], [(-4, 4), (-4 * is_smooth, 4 * is_smooth)]);
        by_rule(boxes, progress, |[size, width], part| {
            let width_km = f64::from(is_smooth) * LABEL_WIDTH_KM * 2.5_f64.powi(width);
            Self::train((task, &bank), scheme, (size, width_km), part)
        })
    }

    /// Trains with one size; the scores and classifiers of the best accuracy and of the best likelihood.
    fn train(
        (task, bank): (Task<'_>, &Bank),
        scheme: CellScheme,
        (size, label_width_km): (i32, f64),
        part: &mut dyn FnMut(f64),
    ) -> Result<[(f64, Self); 2]> {
        let Task { device, effort, data, .. } = task;
        let (training, validation) = (data.training, data.validation);
        let inputs = upload(device, &bank.standardisation, validation.photos())?;
        let (net, mut weights) = CellNetwork::new(task, scheme, size)?;
        let (mlp, cells) = (&net.mlp, net.cells());
        let zeros = |columns: usize| Tensor::zeros(device, effort.batch, columns);
        let labels = net.labels(training.points(), label_width_km);
        let labels = Tensor::from_slice(device, training.len(), cells, &labels)?;
        let mut work = mlp.work(device, effort.batch)?;
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
            let right = score(&net.answers(&probabilities, None)?, validation.points());
            Ok([right, likelihood(&net.densities(params, inputs.view())?, validation.points())])
        };
        let [right, likely] = learn(&mut weights, task, bank, gradients, validate, part)?;
        // Combined partitions smooth each other, and their regions are too many for a kernel.
        let windows: &[f64] = if scheme == CellScheme::Combined { &[0.0] } else { &WINDOWS_KM };
        let probabilities = net.region_probabilities(&weights.params, inputs.view())?;
        let mut best = (right, 0.0, None);
        for &window_km in windows {
            let n = net.regions.centres.len();
            let kernel = net.regions.kernel(window_km);
            let kernel = kernel.map(|k| Tensor::from_slice(device, n, n, &k)).transpose()?;
            let right = score(&net.answers(&probabilities, kernel.as_ref())?, validation.points());
            if right > best.0 {
                best = (right, window_km, kernel);
            }
        }
        let net = Arc::new(net);
        let made = |params, window_km, kernel| {
            let (net, standardisation) = (net.clone(), bank.standardisation.clone());
            Self { net, params, standardisation, label_width_km, window_km, kernel }
        };
        let (right, window_km, kernel) = best;
        Ok([(right, made(weights.params, window_km, kernel)), (likely, made(weights.likeliest, 0.0, None))])
    }

    fn inputs(&self, embeddings: &[f32]) -> Result<Tensor> {
        upload(self.params.device(), &self.standardisation, embeddings)
    }
}

impl CellNetwork {
    fn new(task: Task<'_>, scheme: CellScheme, size: i32) -> Result<(Self, Weights)> {
        let training = task.data.training;
        let (columns, points) = (training.columns(), training.points());
        let partitions = scheme.partitions(points, size, task.seed)?;
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

    /// Constant inside a cell; the mean of the partitions' densities for the combination, the finest partition's cells
    /// for the hierarchy.
    fn densities(&self, params: &Params, inputs: View<'_>) -> Result<Vec<PhotoDensity<'_>>> {
        let net = self;
        let cells = net.probabilities(params, inputs)?;
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

    fn densities(&self, embeddings: &[f32]) -> Result<Vec<PhotoDensity<'_>>> {
        self.net.densities(&self.params, self.inputs(embeddings)?.view())
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
        let window = if self.window_km > 0.0 { format!(", window {} km", self.window_km) } else { String::new() };
        format!("{} cells{labels}{window}", cells.join(" + "))
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
