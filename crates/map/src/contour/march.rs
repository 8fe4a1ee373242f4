//! Marching squares: the closed lines that bound the nodes at or above a level.

use super::nodes::NodeGrid;
use locdiff_shdd::sphere::{Ring, ring_area_sr};

/// An edge between two nodes, by its western or northern node.
type EdgeId = (usize, usize, bool);

/// Lines keep this share of an edge away from its nodes: a node that has the level itself would let a line touch itself,
/// and no polygon may do so. It outlasts the rounding of GeoJSON.
const OFF_NODES: f64 = 1.0 / 256.0;

/// The lines around the region, each with the region on its left: outer rings run counterclockwise, holes clockwise.
pub(super) fn rings(nodes: &NodeGrid, level: f64) -> Vec<Ring> {
    let grid = Grid { nodes, level };
    // Where each edge's line goes on, by the edge's number.
    let number = |(row, column, along_row): EdgeId| 2 * (row * (nodes.xs.len() + 2) + column) + usize::from(along_row);
    let mut next: Vec<Option<EdgeId>> = vec![None; 2 * (nodes.xs.len() + 2) * (nodes.ys.len() + 2)];
    let mut order = Vec::new();
    for row in 0..=nodes.ys.len() {
        for column in 0..=nodes.xs.len() {
            for (from, to) in grid.segments(row, column).into_iter().flatten() {
                next[number(from)] = Some(to);
                order.push(from);
            }
        }
    }
    let mut rings = Vec::new();
    for start in order {
        let mut ring: Ring = Vec::new();
        let mut edge = start;
        while let Some(after) = next[number(edge)].take() {
            let position = grid.crossing(edge);
            if ring.last() != Some(&position) {
                ring.push(position);
            }
            edge = after;
        }
        while ring.len() > 1 && ring.first() == ring.last() {
            ring.pop();
        }
        if ring.len() >= 3 {
            ring.push(ring[0]);
            if ring_area_sr(&ring) != 0.0 {
                rings.push(ring);
            }
        }
    }
    rings
}

/// The grid with a frame of nodes around it that are outside and lie on its edge: cells of the frame have no width, so
/// lines are closed exactly along the edge. Nodes are counted with the frame.
struct Grid<'a> {
    nodes: &'a NodeGrid,
    level: f64,
}

impl Grid<'_> {
    /// A node's value; `None` in the frame.
    fn value(&self, row: usize, column: usize) -> Option<f64> {
        let inner = (1..=self.nodes.ys.len()).contains(&row) && (1..=self.nodes.xs.len()).contains(&column);
        inner.then(|| self.nodes.values[(row - 1) * self.nodes.xs.len() + column - 1])
    }

    fn inside(&self, row: usize, column: usize) -> bool {
        self.value(row, column).is_some_and(|value| value >= self.level)
    }

    fn position(&self, row: usize, column: usize) -> [f64; 2] {
        let clamp = |index: usize, count: usize| index.saturating_sub(1).min(count - 1);
        [self.nodes.xs[clamp(column, self.nodes.xs.len())], self.nodes.ys[clamp(row, self.nodes.ys.len())]]
    }

    /// The cell's pieces of line, each from edge to edge. Nodes: north-west, north-east, south-east, south-west.
    fn segments(&self, row: usize, column: usize) -> [Option<(EdgeId, EdgeId)>; 2] {
        let (north, west) = ((row, column, true), (row, column, false));
        let (south, east) = ((row + 1, column, true), (row, column + 1, false));
        let nodes = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)];
        let [nw, ne, se, sw] = nodes.map(|(row, column)| self.inside(row, column));
        match (nw, ne, se, sw) {
            (false, false, false, false) | (true, true, true, true) => [None, None],
            (true, false, false, false) => [Some((west, north)), None],
            (false, true, false, false) => [Some((north, east)), None],
            (false, false, true, false) => [Some((east, south)), None],
            (false, false, false, true) => [Some((south, west)), None],
            (true, true, false, false) => [Some((west, east)), None],
            (false, true, true, false) => [Some((north, south)), None],
            (false, false, true, true) => [Some((east, west)), None],
            (true, false, false, true) => [Some((south, north)), None],
            (false, true, true, true) => [Some((north, west)), None],
            (true, false, true, true) => [Some((east, north)), None],
            (true, true, false, true) => [Some((south, east)), None],
            (true, true, true, false) => [Some((west, south)), None],
            // Saddles: the middle decides whether the two inner nodes are joined.
            (true, false, true, false) if self.middle_inside(nodes) => [Some((east, north)), Some((west, south))],
            (true, false, true, false) => [Some((west, north)), Some((east, south))],
            (false, true, false, true) if self.middle_inside(nodes) => [Some((north, west)), Some((south, east))],
            (false, true, false, true) => [Some((north, east)), Some((south, west))],
        }
    }

    fn middle_inside(&self, nodes: [(usize, usize); 4]) -> bool {
        nodes.iter().filter_map(|&(row, column)| self.value(row, column)).sum::<f64>() / 4.0 >= self.level
    }

    /// Where the line crosses an edge.
    fn crossing(&self, (row, column, along_row): EdgeId) -> [f64; 2] {
        let (other_row, other_column) = if along_row { (row, column + 1) } else { (row + 1, column) };
        let (a, b) = (self.position(row, column), self.position(other_row, other_column));
        let share = match (self.value(row, column), self.value(other_row, other_column)) {
            (Some(value_a), Some(value_b)) => {
                let share = (self.level - value_a) / (value_b - value_a);
                let share = if share.is_finite() && (value_b - value_a).is_finite() { share } else { 0.5 };
                share.clamp(OFF_NODES, 1.0 - OFF_NODES)
            }
            _ => 0.0, // both ends are at the same place
        };
        let mix = |a: f64, b: f64| a + share * (b - a);
        [mix(a[0], b[0]), mix(a[1], b[1])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn node_grid(values: &[f64], columns: usize) -> NodeGrid {
        let rows = values.len() / columns;
        let xs = (0..columns).map(|x| x as f64).collect();
        let ys = (0..rows).map(|y| -(y as f64)).collect();
        NodeGrid { xs, ys, values: values.to_vec() }
    }

    #[test]
    fn a_peak_is_a_diamond() {
        let rings = rings(&node_grid(&[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 3), 0.75);
        let mut diamond = vec![[0.75, -1.0], [1.0, -1.25], [1.25, -1.0], [1.0, -0.75]];
        let start = diamond.iter().position(|position| *position == rings[0][0]).unwrap(); // it may begin anywhere
        diamond.rotate_left(start);
        diamond.push(diamond[0]);
        assert_eq!(rings, [diamond]);
    }

    #[test]
    fn a_corner_is_closed_along_the_edge() {
        let rings = rings(&node_grid(&[1.0, 0.0, 0.0, 0.0], 2), 0.5);
        assert_eq!(rings.len(), 1);
        for corner in [[0.0, 0.0], [0.5, 0.0], [0.0, -0.5]] {
            assert!(rings[0].contains(&corner));
        }
        assert_eq!(rings[0].len(), 4);
    }

    #[test]
    fn a_node_with_the_level_itself_lets_no_line_touch_itself() {
        let rings = rings(&node_grid(&[0.0, 0.0, 0.0, 1.0, 1.0, 0.5, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0], 4), 0.5);
        let positions: HashSet<[u64; 2]> = rings[0].iter().map(|position| position.map(f64::to_bits)).collect();
        assert_eq!((rings.len(), positions.len()), (1, rings[0].len() - 1), "{rings:?}");
    }

    #[test]
    fn saddles_join_or_part_by_their_middle() {
        let saddle = node_grid(&[1.0, 0.0, 0.0, 1.0], 2);
        assert_eq!(rings(&saddle, 0.4).len(), 1);
        assert_eq!(rings(&saddle, 0.6).len(), 2);
    }
}
