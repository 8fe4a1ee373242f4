//! Probability of a cap and of the cells of a raster.

use super::CodeDensity;
use crate::{ShddError, cubature::Leaf, cubature::evaluate, sphere::Rings, sphere::UnitVec};
use std::f64::consts::PI;

/// Probabilities of an equiangular raster, rows from north to south, columns from 180° W eastwards; they sum to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct RasterMass {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Probabilities, row by row.
    pub masses: Vec<f64>,
}

impl RasterMass {
    /// Returns the index of the cell that holds a point.
    pub fn index(&self, point: UnitVec) -> usize {
        let place = point.to_latlon();
        let row = ((90.0 - place.lat_deg()) / 180.0 * self.rows as f64) as usize;
        let column = ((place.lon_deg() + 180.0) / 360.0 * self.columns as f64) as usize;
        row.min(self.rows - 1) * self.columns + column % self.columns
    }
}

impl CodeDensity<'_> {
    /// Returns the probability within `radius_rad` of `center`. Fails if the radius is not a positive number.
    pub fn cap_mass(&self, center: UnitVec, radius_rad: f64) -> Result<f64, ShddError> {
        if !(radius_rad > 0.0 && radius_rad.is_finite()) {
            return Err(ShddError::Radius(radius_rad));
        }
        // Cells astride the rim are split until what is astride no longer matters.
        const ASTRIDE: f64 = 1e-4;
        const MOST_SPLITS: usize = 8;
        let mut inside = 0.0;
        let mut astride: Vec<Leaf> = Vec::new();
        let mut sort = |leaves: &[Leaf], astride: &mut Vec<Leaf>| {
            for leaf in leaves {
                let (distance, reach) = (center.angle_rad(leaf.cell.center()), leaf.cell.radius_rad());
                if distance + reach <= radius_rad {
                    inside += leaf.mass(self.log_z);
                } else if distance - reach < radius_rad {
                    astride.push(leaf.clone());
                }
            }
        };
        sort(&self.leaves, &mut astride);
        for _ in 0..MOST_SPLITS {
            let (heavy, light): (Vec<Leaf>, Vec<Leaf>) =
                astride.into_iter().partition(|leaf| leaf.mass(self.log_z) > ASTRIDE);
            astride = light;
            if heavy.is_empty() {
                break;
            }
            let cells: Vec<_> = heavy.iter().flat_map(|leaf| leaf.cell.children()).collect();
            sort(&evaluate(&self.field, &cells), &mut astride);
        }
        let near = radius_rad.min(PI).cos();
        let nodes = super::nodes_of(&astride, self.log_z);
        let held = nodes.filter(|(point, _, _)| radius_rad >= PI || point.dot(center) >= near);
        let rim: f64 = held.map(|(_, _, mass)| mass).sum();
        Ok((inside + rim).min(1.0))
    }

    /// Returns log q at the cell centres of a raster of the whole Earth, in the order of [`RasterMass`].
    pub fn raster_log_density(&self, rows: usize, columns: usize) -> Vec<f64> {
        Rings::raster(rows, columns).synthesize(&self.field).into_iter().map(|value| value - self.log_z).collect()
    }

    /// Returns the probabilities of the cells of a raster of the whole Earth.
    pub fn raster_mass(&self, rows: usize, columns: usize) -> RasterMass {
        let (rows, columns) = (rows.max(1), columns.max(1));
        let mut raster = RasterMass { rows, columns, masses: vec![0.0; rows * columns] };
        // Where the density is smooth, 3 × 3 samples per cell are right; elsewhere split cells of the cubature are.
        const SUB: usize = 3;
        const SMOOTH_NATS: f64 = 1.5;
        let samples = Rings::raster(SUB * rows, SUB * columns);
        let values = samples.synthesize(&self.field);
        let mut rough = vec![false; rows * columns];
        for row in 0..rows {
            for column in 0..columns {
                let (mut low, mut high, mut mass) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
                for r in SUB * row..SUB * (row + 1) {
                    let ring = &values[r * samples.longitudes()..][SUB * column..SUB * (column + 1)];
                    for value in ring {
                        (low, high) = (low.min(*value), high.max(*value));
                        mass += samples.ring_point_weight(r) * (value - self.log_z).exp();
                    }
                }
                let index = row * columns + column;
                raster.masses[index] = mass;
                rough[index] = high - low > SMOOTH_NATS;
            }
        }
        // A peak may hide between samples: the cells of the modes and their neighbours are rough as well.
        for mode in &self.modes {
            let width = PI / rows as f64;
            for a in [-1.0, 0.0, 1.0] {
                for b in [-1.0, 0.0, 1.0] {
                    rough[raster.index(mode.point.step(a * width, b * width))] = true;
                }
            }
        }
        (0..rows * columns).filter(|&i| rough[i]).for_each(|i| raster.masses[i] = 0.0);
        let dense = (PI / rows as f64).min(2.0 * PI / columns as f64) / 2.0;
        let mut pending: Vec<Leaf> = self.fine().to_vec();
        while !pending.is_empty() {
            let mut cells = Vec::new();
            for leaf in pending {
                let touches = leaf.points.iter().any(|p| rough[raster.index(*p)]);
                let coarse = crate::cell::Cell::width_rad(leaf.cell.level) > dense;
                if touches && coarse && leaf.mass(self.log_z) > 1e-7 {
                    cells.extend(leaf.cell.children());
                } else if touches {
                    for (point, _, mass) in super::nodes_of(std::slice::from_ref(&leaf), self.log_z) {
                        let index = raster.index(point);
                        if rough[index] {
                            raster.masses[index] += mass;
                        }
                    }
                }
            }
            pending = evaluate(&self.field, &cells);
        }
        let total: f64 = raster.masses.iter().sum();
        raster.masses.iter_mut().for_each(|m| *m /= total);
        raster
    }
}
