//! The points over which densities are integrated.

use crate::{CodeWriter, DevicePoints, Result, chance};
use locdiff_base::setting;
use locdiff_nn::{Device, losses::Quadrature, losses::QuadratureGrid};
use locdiff_shdd::sphere::{Grid, UnitVec};
use rayon::prelude::*;
use std::{f64::consts::PI, sync::Arc};

const POOL_UNIFORM: usize = 16_384;
/// The pool's kernels, in units of 1/(L+1) rad. A clean code's density has a deviation of 0.15 of these units.
const POOL_SCALES: [f64; 3] = [0.12, 0.4, 1.5];
/// Kernels further than this many squared deviations away count nothing.
const FAR: f64 = 40.0;

/// Points with the logs of their weights in steradian.
#[derive(Debug, Clone, PartialEq)]
pub struct QuadraturePoints {
    /// The points.
    pub points: Vec<UnitVec>,
    /// One log weight a point.
    pub log_weights: Vec<f32>,
}

impl QuadraturePoints {
    /// A Fibonacci grid. Fails if there are no points.
    pub fn fibonacci(points: usize) -> Result<Self> {
        let grid = Grid::fibonacci(points)?;
        let log_weights = grid.weights().iter().map(|w| w.ln() as f32).collect();
        Ok(Self { points: grid.points().to_vec(), log_weights })
    }

    /// `count` points: a Fibonacci grid, and jittered copies of training locations at several scales of 1/(L+1), each
    /// weighing one over the density of the whole mixture there. Fails if there are no locations, or fewer points than
    /// the grid's share.
    pub fn pool(degree: usize, locations: &[UnitVec], count: usize, seed: u64) -> Result<Self> {
        if locations.is_empty() || count < 64 {
            return Err(setting("quadrature pool", count, "at least 64 points and one training location"));
        }
        let uniform = POOL_UNIFORM.min(count / 3);
        let scales = POOL_SCALES.map(|scale| scale / (degree as f64 + 1.0));
        let centres = distinct(locations, (count - uniform) / scales.len(), seed);
        let uniform = count - centres.len() * scales.len(); // few locations leave more for the grid
        let mut points = Grid::fibonacci(uniform)?.points().to_vec();
        for (k, scale) in scales.iter().enumerate() {
            points.extend(centres.iter().enumerate().map(|(i, centre)| {
                let (a, b) = chance::normals([seed, 0x700 + k as u64, i as u64]);
                centre.step(a * scale, b * scale)
            }));
        }
        let log_weight = |point: &UnitVec| {
            let mut density = uniform as f64 / (4.0 * PI);
            for centre in &centres {
                let squared = 2.0 * (1.0 - centre.dot(*point)).max(0.0);
                for variance in scales.map(|scale| scale * scale) {
                    if squared < FAR * variance {
                        density += (-0.5 * squared / variance).exp() / (2.0 * PI * variance);
                    }
                }
            }
            -density.ln() as f32
        };
        Ok(Self { log_weights: points.par_iter().map(log_weight).collect(), points })
    }

    /// The points' codes on a device. Fails if device memory is too small.
    pub fn on_device(&self, device: &Device, codes: &CodeWriter) -> Result<QuadratureGrid> {
        let dimension = codes.dimension();
        if device.is_cuda() {
            let points: Vec<[f64; 3]> = self.points.iter().map(|point| point.to_array()).collect();
            let points = DevicePoints::from_slice(device, &points)?;
            let mut grid = QuadratureGrid::blank(device, dimension, points.len(), Some(&self.log_weights))?;
            if let Some(out) = grid.codes_mut() {
                codes.on_device(device)?.write(out, &points, false)?;
            }
            device.synchronize()?;
            return Ok(grid);
        }
        let mut grid = vec![0.0; self.points.len() * dimension];
        codes.write_plain(&self.points, &mut grid)?;
        Ok(QuadratureGrid::new(device, dimension, &grid, Some(&self.log_weights))?)
    }
}

/// Integrals over such a grid for batches of up to `max_batch` rows.
pub(crate) fn integrals(device: &Device, grid: Arc<QuadratureGrid>, max_batch: usize) -> Result<Quadrature> {
    let max_logits = if device.is_cuda() { 1 << 28 } else { 1 << 22 };
    Ok(Quadrature::over(grid, max_batch, max_logits)?)
}

/// At most `most` different locations, a random choice where there are more.
fn distinct(locations: &[UnitVec], most: usize, seed: u64) -> Vec<UnitVec> {
    let key = |(i, point): (usize, &UnitVec)| {
        let bits = point.to_array().map(f64::to_bits);
        (chance::hash(&[seed, bits[0], bits[1], bits[2]]), bits, i)
    };
    let mut keyed: Vec<(u64, [u64; 3], usize)> = locations.iter().enumerate().map(key).collect();
    keyed.sort_unstable();
    keyed.dedup_by_key(|(_, bits, _)| *bits);
    keyed.truncate(most);
    keyed.into_iter().map(|(_, _, i)| locations[i]).collect()
}
