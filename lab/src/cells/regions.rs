//! Regions: where cells of several partitions overlap.

use super::{CellScheme, Partition};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, UnitVec, spherical_mean};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The sets of cells, one of each partition, that training photos lie in.
pub(crate) struct Regions {
    /// For every region the numbers of its cells in the row of all cells.
    pub(crate) cells: Vec<Vec<usize>>,
    pub(crate) centres: Vec<UnitVec>,
}

impl Regions {
    pub(crate) fn new(partitions: &[Partition], points: &[UnitVec]) -> Self {
        let mut starts = vec![0];
        for partition in partitions {
            starts.push(starts[starts.len() - 1] + partition.len());
        }
        let mut members: BTreeMap<Vec<usize>, Vec<UnitVec>> = BTreeMap::new();
        for point in points {
            let key = partitions.iter().zip(&starts).map(|(p, start)| start + p.cell(*point)).collect();
            members.entry(key).or_default().push(*point);
        }
        let centres = members.values().map(|points| spherical_mean(points).unwrap_or(points[0])).collect();
        Self { cells: members.into_keys().collect(), centres }
    }

    /// The regions' probabilities, row by row, from those of all cells.
    pub(crate) fn probabilities(&self, scheme: CellScheme, cells: &[f32], columns: usize) -> Vec<f32> {
        let mut out = vec![0.0; cells.len() / columns * self.cells.len()];
        out.par_chunks_mut(self.cells.len()).zip(cells.par_chunks(columns)).for_each(|(out, row)| {
            for (value, members) in out.iter_mut().zip(&self.cells) {
                let each = members.iter().map(|&cell| row[cell]);
                *value = if scheme == CellScheme::Combined { each.sum() } else { each.product() };
            }
            let sum: f32 = out.iter().sum();
            if sum > 0.0 {
                for value in out.iter_mut() {
                    *value /= sum;
                }
            }
        });
        out
    }

    /// Gaussian kernels of `window_km` between all centres, row by row; `None` for a window of 0.
    pub(crate) fn kernel(&self, window_km: f64) -> Option<Vec<f32>> {
        let n = self.centres.len();
        (window_km > 0.0).then(|| {
            let mut kernel = vec![0.0; n * n];
            kernel.par_chunks_mut(n).zip(&self.centres).for_each(|(row, a)| {
                for (value, b) in row.iter_mut().zip(&self.centres) {
                    let widths = a.angle_rad(*b) * EARTH_RADIUS_KM / window_km;
                    *value = (-0.5 * widths * widths).exp() as f32;
                }
            });
            kernel
        })
    }
}
