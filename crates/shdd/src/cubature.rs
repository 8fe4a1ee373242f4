//! Adaptive quadrature of `exp F` over the sphere: the local quadrature that log Z, means and masses stand on.
//!
//! A field of degree L is smooth on cells of width ~ 1/L, but its exponential has peaks √L times narrower still. The
//! search grid says where the mass can be; only those cells are split, until Gauss–Legendre nodes resolve each.

use crate::sphere::{Field, UnitVec};
use crate::{Codec, Coefficients, Mode, cell::Cell, cell::NODES, error::Result, search::SearchScratch};
use std::collections::HashSet;

/// Terms below e^-20 of the total are dropped.
const NEGLIGIBLE_NATS: f64 = 20.0;
/// Nodes resolve a cell whose log density varies by at most this, where the density is highest…
const RESOLVED_NATS: f64 = 5.0;
/// …and by this much more for every nat that it lies lower.
const RESOLVED_SLACK: f64 = 0.4;
/// Cells this wide (times 1/(L+½)) resolve the field itself.
const FIELD_WIDTH: f64 = 4.0;
const FINEST_LEVEL: u8 = 24;

/// A cell with the field at its nodes.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub(crate) cell: Cell,
    pub(crate) points: [UnitVec; NODES],
    /// Area weights in steradian.
    pub(crate) weights: [f64; NODES],
    /// F at the nodes.
    pub(crate) values: [f64; NODES],
}

impl Leaf {
    /// Lowest and highest F at the nodes.
    pub(crate) fn range(&self) -> (f64, f64) {
        self.values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(*v), hi.max(*v)))
    }

    /// `∫ exp(F − reference)` over the cell.
    pub(crate) fn mass(&self, reference: f64) -> f64 {
        self.weights.iter().zip(&self.values).map(|(w, v)| w * (v - reference).exp()).sum()
    }
}

/// Evaluates cells, all nodes in one fused call.
pub(crate) fn evaluate(field: &Field, cells: &[Cell]) -> Vec<Leaf> {
    let (mut points, mut weights) = (Vec::new(), Vec::new());
    for cell in cells {
        cell.push_nodes(&mut points, &mut weights);
    }
    let values = field.values(&points);
    let leaf = |(k, &cell): (usize, &Cell)| {
        let (points, weights, values) = (nodes_of(&points, k), nodes_of(&weights, k), nodes_of(&values, k));
        Leaf { cell, points, weights, values }
    };
    cells.iter().enumerate().map(leaf).collect()
}

/// The values at the nodes of cell k.
fn nodes_of<T: Copy>(all: &[T], k: usize) -> [T; NODES] {
    *all[k * NODES..][..NODES].as_array().expect("NODES values")
}

/// The cells that hold the mass of `exp F`, each resolved, and the field's peaks.
pub(crate) struct Cubature {
    pub(crate) leaves: Vec<Leaf>,
    /// Local maxima within reach of the highest, highest first.
    pub(crate) modes: Vec<Mode>,
    /// Highest F known.
    pub(crate) top: f64,
}

impl Cubature {
    pub(crate) fn new(codec: &Codec, e: &Coefficients, field: &Field, scratch: &mut SearchScratch) -> Result<Self> {
        const MOST_MODES: usize = 128;
        codec.search.synthesize(e.as_slice(), scratch);
        // Even if all the rest of the sphere stood this far below the sharpest possible peak, it would not count.
        let depth = NEGLIGIBLE_NATS + (1.0 + 2.0 * codec.degree().curvature()).ln();
        let modes = codec.search.modes(&codec.jets, e, scratch, MOST_MODES, |highest| highest - depth)?;
        let grid_top = f64::from(scratch.highest());
        let top = modes.first().map_or(grid_top, |m| m.value.max(grid_top));

        // Start one level above the cells that resolve the field, so that every cell holds several grid points.
        let level = field_level(codec).saturating_sub(1);
        let mut seen = HashSet::new();
        let near = codec.search.points_near_above(scratch, (top - depth) as f32);
        let starts = near.into_iter().chain(modes.iter().map(|mode| mode.point));
        let cells = starts.map(|point| Cell::containing(point, level)).filter(|cell| seen.insert(*cell)).collect();
        let leaves = resolve(field, field_level(codec), cells, top);
        let top = leaves.iter().fold(top, |top, leaf| top.max(leaf.range().1));
        let modes = modes.into_iter().filter(|m| m.value >= top - depth).collect();
        Ok(Self { leaves, modes, top })
    }
}

/// The level whose cells resolve the field itself.
fn field_level(codec: &Codec) -> u8 {
    Cell::level_of_width(FIELD_WIDTH / (codec.degree().get() as f64 + 0.5))
}

/// Splits cells until the nodes of each resolve `exp F`.
fn resolve(field: &Field, field_level: u8, mut cells: Vec<Cell>, top: f64) -> Vec<Leaf> {
    let mut done: Vec<Leaf> = Vec::new();
    let mut total = 0.0; // of exp(F − top), a lower bound once the peaks are resolved
    while !cells.is_empty() {
        let leaves = evaluate(field, &cells);
        cells.clear();
        let level_total: f64 = leaves.iter().map(|leaf| leaf.mass(top)).sum();
        let reference = (total + level_total).max(f64::MIN_POSITIVE).ln();
        for leaf in leaves {
            let (low, high) = leaf.range();
            let below = (top - high).max(0.0);
            let area: f64 = leaf.weights.iter().sum();
            // Between nodes F may be higher than at them, by no more than it varies.
            let bound = (high - top) + 0.5 * (high - low) + area.ln();
            let negligible = bound < reference - NEGLIGIBLE_NATS - 3.0;
            let resolved = leaf.cell.level >= field_level && high - low <= RESOLVED_NATS + RESOLVED_SLACK * below;
            if negligible || resolved || leaf.cell.level >= FINEST_LEVEL {
                total += leaf.mass(top);
                done.push(leaf);
            } else {
                cells.extend(leaf.cell.children());
            }
        }
    }
    done
}
