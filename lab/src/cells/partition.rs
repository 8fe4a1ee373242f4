//! Cells that hold about the same number of training photos each.

use crate::cells::CellScheme;
use anyhow::Result;
use locdiff_base::setting;
use locdiff_model::chance;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, Grid, UnitVec, spherical_mean};
use rayon::prelude::*;
use std::{collections::BTreeMap, f64::consts::PI};

/// Points that measure the cells' areas.
const AREA_POINTS: usize = 200_000;

enum Node {
    /// Points whose coordinate along an axis is below the threshold go left.
    Split {
        axis: [f64; 3],
        threshold: f64,
        left: usize,
        right: usize,
    },
    Cell(usize),
}

/// The whole sphere cut into cells by planes, each cut through the median of the photos along the axis of their largest
/// spread: small cells where there are many photos (PlaNet's idea, with a k-d tree in place of S2 cells).
///
/// Partitions of the same points and frame with fewer photos per cell refine each other.
pub(crate) struct Partition {
    nodes: Vec<Node>,
    centres: Vec<UnitVec>,
    areas_sr: Vec<f64>,
}

impl Partition {
    /// Cells of at most `most_photos` photos (unless they are all at one place). The cuts are normal to the axes of a
    /// random frame where `frame_seed` is given, else to x, y and z.
    pub(crate) fn new(points: &[UnitVec], most_photos: usize, frame_seed: Option<u64>) -> Result<Self> {
        if points.is_empty() || most_photos == 0 {
            return Err(setting("photos per cell", most_photos, "at least 1, and at least one photo"));
        }
        let frame = frame(frame_seed);
        let mut partition = Self { nodes: Vec::new(), centres: Vec::new(), areas_sr: Vec::new() };
        let mut all = points.to_vec();
        partition.grow(&mut all, most_photos, &frame);
        let mut counts = vec![0_usize; partition.centres.len()];
        for point in Grid::fibonacci(AREA_POINTS)?.points() {
            counts[partition.cell(*point)] += 1;
        }
        // A cell too small for the grid counts as one point: its area is an upper bound.
        let share = 4.0 * PI / AREA_POINTS as f64;
        partition.areas_sr = counts.iter().map(|count| share * (*count).max(1) as f64).collect();
        Ok(partition)
    }

    /// Adds the subtree of these points and returns its node.
    fn grow(&mut self, points: &mut [UnitVec], most_photos: usize, frame: &[[f64; 3]; 3]) -> usize {
        let here = self.nodes.len();
        if points.len() > most_photos
            && let Some((axis, threshold)) = cut(points, frame)
        {
            self.nodes.push(Node::Split { axis, threshold, left: 0, right: 0 });
            points.sort_unstable_by(|a, b| along(axis, *a).total_cmp(&along(axis, *b)));
            let middle = points.partition_point(|point| along(axis, *point) < threshold);
            let (low, high) = points.split_at_mut(middle);
            let left = self.grow(low, most_photos, frame);
            let right = self.grow(high, most_photos, frame);
            self.nodes[here] = Node::Split { axis, threshold, left, right };
        } else {
            self.nodes.push(Node::Cell(self.centres.len()));
            self.centres.push(spherical_mean(points).unwrap_or(points[0]));
        }
        here
    }

    pub(crate) fn len(&self) -> usize {
        self.centres.len()
    }

    pub(crate) fn cell(&self, point: UnitVec) -> usize {
        let mut at = 0;
        loop {
            match self.nodes[at] {
                Node::Cell(cell) => return cell,
                Node::Split { axis, threshold, left, right } => {
                    at = if along(axis, point) < threshold { left } else { right };
                }
            }
        }
    }

    /// The spherical means of the cells' photos.
    pub(crate) fn centres(&self) -> &[UnitVec] {
        &self.centres
    }

    /// The cells' areas in steradian, by counting grid points.
    pub(crate) fn areas_sr(&self) -> &[f64] {
        &self.areas_sr
    }
}

fn along(axis: [f64; 3], point: UnitVec) -> f64 {
    axis[0] * point.x() + axis[1] * point.y() + axis[2] * point.z()
}

/// The axis of the largest spread and the threshold at the median, between two different values; `None` where all points
/// are one.
fn cut(points: &[UnitVec], frame: &[[f64; 3]; 3]) -> Option<([f64; 3], f64)> {
    let spread = |axis: [f64; 3]| {
        let n = points.len() as f64;
        let mean = points.iter().map(|point| along(axis, *point)).sum::<f64>() / n;
        points.iter().map(|point| (along(axis, *point) - mean).powi(2)).sum::<f64>()
    };
    let axis = frame.iter().copied().max_by(|a, b| spread(*a).total_cmp(&spread(*b)))?;
    let mut values: Vec<f64> = points.iter().map(|point| along(axis, *point)).collect();
    values.sort_unstable_by(f64::total_cmp);
    // The gap nearest to the middle: photos of one place stay together.
    let middle = values.len() / 2;
    let gaps = (1..values.len()).filter(|&k| values[k] > values[k - 1]);
    let gap = gaps.min_by_key(|&k| k.abs_diff(middle))?;
    let threshold = 0.5 * (values[gap - 1] + values[gap]);
    // Two neighbouring numbers have no number between them: the upper one separates them as well.
    Some((axis, if threshold > values[gap - 1] { threshold } else { values[gap] }))
}

/// Three orthonormal axes: those of the coordinates, or a random frame.
fn frame(seed: Option<u64>) -> [[f64; 3]; 3] {
    let Some(seed) = seed else { return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };
    let pole = chance::point([seed, 0xF7A3E, 0]);
    let (u, v) = pole.tangents();
    let (sin, cos) = (2.0 * PI * chance::uniform(&[seed, 0xF7A3E, 1])).sin_cos();
    [
        pole.to_array(),
        std::array::from_fn(|i| cos * u[i] + sin * v[i]),
        std::array::from_fn(|i| cos * v[i] - sin * u[i]),
    ]
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_hold_few_photos_cover_the_sphere_and_nest() {
        let points: Vec<UnitVec> = (0..3000).map(|k| chance::point([1, 2, k / 4])).collect();
        for seed in [None, Some(7)] {
            let fine = Partition::new(&points, 40, seed).unwrap();
            let coarse = Partition::new(&points, 320, seed).unwrap();
            let mut counts = vec![0; fine.len()];
            let mut parent = vec![None; fine.len()];
            for point in &points {
                let (small, large) = (fine.cell(*point), coarse.cell(*point));
                counts[small] += 1;
                assert_eq!(*parent[small].get_or_insert(large), large);
            }
            assert!(counts.iter().all(|count| (1..=40).contains(count)));
            assert!((fine.areas_sr().iter().sum::<f64>() / (4.0 * PI) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn photos_of_one_place_stay_in_one_cell() {
        // 1000 → 500 → 250 → 125 → 62 or 63.
        let even = Grid::fibonacci(1000).unwrap();
        assert_eq!(Partition::new(even.points(), 100, None).unwrap().len(), 16);
        let partition = Partition::new(&[UnitVec::NORTH; 50], 10, None).unwrap();
        assert_eq!((partition.len(), partition.centres()[0]), (1, UnitVec::NORTH));
        assert!(Partition::new(&[], 10, None).is_err());
    }
}
