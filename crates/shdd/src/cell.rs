//! Cells of an equiangular cubed sphere: a quadtree on each of six faces, with Gauss–Legendre nodes in each cell.

use crate::sphere::{UnitVec, gauss_legendre};
use std::{f64::consts::FRAC_PI_2, f64::consts::FRAC_PI_4, sync::LazyLock};

/// Nodes along each side of a cell.
pub(crate) const SIDE: usize = 8;
/// Nodes in a cell.
pub(crate) const NODES: usize = SIDE * SIDE;

/// Nodes and weights on [0, 1].
static RULE: LazyLock<([f64; SIDE], [f64; SIDE])> = LazyLock::new(|| {
    let (x, w) = gauss_legendre(SIDE);
    (std::array::from_fn(|i| 0.5 * (1.0 + x[i])), std::array::from_fn(|i| 0.5 * w[i]))
});

/// One cell: face 0…5, and position (i, j) among the 2^level × 2^level cells of the face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Cell {
    face: u8,
    pub(crate) level: u8,
    i: u32,
    j: u32,
}

impl Cell {
    /// Width of a cell's side in radians (at the face's centre line).
    pub(crate) fn width_rad(level: u8) -> f64 {
        FRAC_PI_2 / f64::from(1u32 << level)
    }

    /// The first level whose cells are at most this wide.
    pub(crate) fn level_of_width(width_rad: f64) -> u8 {
        (0..30).find(|&level| Self::width_rad(level) <= width_rad).unwrap_or(30)
    }

    /// The cell of a level that holds a point.
    pub(crate) fn containing(point: UnitVec, level: u8) -> Self {
        let p = point.to_array();
        let axis = (0..3).max_by(|&a, &b| p[a].abs().total_cmp(&p[b].abs())).expect("three axes");
        let (x, y) = (p[(axis + 1) % 3] / p[axis].abs(), p[(axis + 2) % 3] / p[axis].abs());
        let count = f64::from(1u32 << level);
        let index = |t: f64| ((t.atan() + FRAC_PI_4) / FRAC_PI_2 * count).clamp(0.0, count - 1.0) as u32;
        let face = 2 * axis as u8 + u8::from(p[axis] < 0.0);
        Self { face, level, i: index(x), j: index(y) }
    }

    /// The four cells it splits into.
    pub(crate) fn children(self) -> [Self; 4] {
        std::array::from_fn(|k| Self {
            level: self.level + 1,
            i: 2 * self.i + (k as u32 & 1),
            j: 2 * self.j + (k as u32 >> 1),
            ..self
        })
    }

    /// The point at the share (s, t) of the cell's sides, and the area element there per unit of s and t.
    pub(crate) fn point(self, s: f64, t: f64) -> (UnitVec, f64) {
        let width = Self::width_rad(self.level);
        let tangent = |index: u32, share: f64| (-FRAC_PI_4 + (f64::from(index) + share) * width).tan();
        self.place(tangent(self.i, s), tangent(self.j, t), width)
    }

    fn place(self, x: f64, y: f64, width: f64) -> (UnitVec, f64) {
        let axis = usize::from(self.face / 2);
        let mut p = [0.0; 3];
        p[axis] = if self.face.is_multiple_of(2) { 1.0 } else { -1.0 };
        (p[(axis + 1) % 3], p[(axis + 2) % 3]) = (x, y);
        let square = 1.0 + x * x + y * y;
        let area = (1.0 + x * x) * (1.0 + y * y) / (square * square.sqrt()) * width * width;
        (UnitVec::new(p[0], p[1], p[2]).expect("one coordinate is ±1"), area)
    }

    /// The cell's centre.
    pub(crate) fn center(self) -> UnitVec {
        self.point(0.5, 0.5).0
    }

    /// A radius about the centre that covers the cell.
    pub(crate) fn radius_rad(self) -> f64 {
        let center = self.center();
        let corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)];
        corners.iter().map(|(s, t)| center.angle_rad(self.point(*s, *t).0)).fold(0.0, f64::max)
    }

    /// Appends the nodes and their area weights.
    pub(crate) fn push_nodes(self, points: &mut Vec<UnitVec>, weights: &mut Vec<f64>) {
        let (shares, rule) = &*RULE;
        let width = Self::width_rad(self.level);
        let tangents = |index: u32| shares.map(|share| (-FRAC_PI_4 + (f64::from(index) + share) * width).tan());
        let (xs, ys) = (tangents(self.i), tangents(self.j));
        for (y, wy) in ys.iter().zip(rule) {
            for (x, wx) in xs.iter().zip(rule) {
                let (point, area) = self.place(*x, *y, width);
                points.push(point);
                weights.push(area * wx * wy);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_cells_of_a_level_tile_the_sphere() {
        for level in [0, 2] {
            let (mut points, mut weights) = (vec![], vec![]);
            for face in 0..6 {
                for i in 0..1u32 << level {
                    for j in 0..1u32 << level {
                        Cell { face, level, i, j }.push_nodes(&mut points, &mut weights);
                    }
                }
            }
            let area: f64 = weights.iter().sum();
            assert!((area - 8.0 * FRAC_PI_2).abs() < 1e-6 / f64::from(1 << (4 * level)), "{area}");
            let mean: f64 = points.iter().zip(&weights).map(|(p, w)| p.z() * p.z() * w).sum();
            assert!((mean - 8.0 * FRAC_PI_2 / 3.0).abs() < 1e-5, "{mean}");
        }
    }

    proptest! {
        #[test]
        fn a_point_is_inside_the_cell_that_contains_it(lat in -90.0..=90.0f64, lon in -180.0..180.0f64, level in 0u8..12) {
            let point = crate::sphere::LatLon::new(lat, lon).unwrap().to_unit();
            let cell = Cell::containing(point, level);
            prop_assert!(cell.center().angle_rad(point) <= cell.radius_rad() + 1e-12);
            let child = cell.children().into_iter().find(|c| *c == Cell::containing(point, level + 1));
            prop_assert!(child.is_some());
        }
    }
}
