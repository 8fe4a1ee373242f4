//! Node grids: the raster's cell centres as grids of nodes that end at the window's edges and at the antimeridian.

use crate::Raster;

/// Nodes at `xs` × `ys` (degrees, xs within −180…180), with the window's edges or the antimeridian as the outermost.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NodeGrid {
    /// Longitudes, increasing.
    pub(super) xs: Vec<f64>,
    /// Latitudes, decreasing.
    pub(super) ys: Vec<f64>,
    /// Values, row after row.
    pub(super) values: Vec<f64>,
}

/// A column of nodes: its longitude, and the raster's columns it lies between with the share of the second.
#[derive(Clone, Copy)]
struct Column {
    x: f64,
    left: usize,
    right: usize,
    share: f64,
}

/// One grid, or two where the window crosses the antimeridian.
pub(super) fn node_grids(raster: &Raster) -> Vec<NodeGrid> {
    let window = raster.window();
    let count = window.columns();
    let at = |column: usize, x: f64| Column { x, left: column, right: column, share: 0.0 };
    let center = |column: usize| at(column, window.column_lon_deg(column));
    let (west, east) = (window.west_deg(), window.east_deg());
    // The first column whose centre lies beyond the antimeridian.
    let cut = (0..count).find(|&column| window.column_lon_deg(column) >= 180.0).unwrap_or(count);
    let before = (0..cut).map(center);
    let beyond = (cut..count).map(|column| at(column, window.column_lon_deg(column) - 360.0));

    if window.goes_around() {
        // Linear between the two centres on either side of 180°, across the window's own seam if it is there.
        let (left, right) = ((cut + count - 1) % count, cut % count);
        let from_left = (180.0 - window.column_lon_deg(left)).rem_euclid(360.0);
        let share = (from_left / window.cell_width_deg()).clamp(0.0, 1.0);
        let edge = |x| Column { x, left, right, share };
        let columns: Vec<_> = [edge(-180.0)].into_iter().chain(beyond).chain(before).chain([edge(180.0)]).collect();
        return vec![node_grid(raster, columns)];
    }
    if west < 180.0 && 180.0 < east {
        let (left, right) = (cut.saturating_sub(1), cut.min(count - 1));
        let gap = window.column_lon_deg(right) - window.column_lon_deg(left);
        let share = if gap > 0.0 { ((180.0 - window.column_lon_deg(left)) / gap).clamp(0.0, 1.0) } else { 0.0 };
        let edge = |x| Column { x, left, right, share };
        let western = [at(0, west)].into_iter().chain(before).chain([edge(180.0)]).collect();
        let eastern = [edge(-180.0)].into_iter().chain(beyond).chain([at(count - 1, east - 360.0)]).collect();
        return vec![node_grid(raster, western), node_grid(raster, eastern)];
    }
    let turn = if west >= 180.0 { 360.0 } else { 0.0 };
    let centers = (0..count).map(|column| at(column, window.column_lon_deg(column) - turn));
    vec![node_grid(
        raster,
        [at(0, west - turn)].into_iter().chain(centers).chain([at(count - 1, east - turn)]).collect(),
    )]
}

fn node_grid(raster: &Raster, mut columns: Vec<Column>) -> NodeGrid {
    columns.dedup_by(|second, first| second.x <= first.x); // a centre may lie on the antimeridian
    let window = raster.window();
    let rows = window.rows();
    let row = |row: usize| -> Vec<f64> {
        let value = |column: &Column| match column.share {
            0.0 => raster.get(row, column.left),
            share => (1.0 - share) * raster.get(row, column.left) + share * raster.get(row, column.right),
        };
        columns.iter().map(value).collect()
    };
    let edge = |nearest: usize, lat_deg: f64| {
        let values = row(nearest);
        if lat_deg.abs() >= 90.0 && window.goes_around() {
            // A pole is one place: the mean around it, which a smooth function has at the middle.
            let values = &raster.values()[nearest * window.columns()..(nearest + 1) * window.columns()];
            vec![values.iter().sum::<f64>() / values.len() as f64; columns.len()]
        } else {
            values
        }
    };
    let (north, south) = (window.north_deg(), window.south_deg());
    let mut values = edge(0, north);
    values.extend((0..rows).flat_map(row));
    values.extend(edge(rows - 1, south));
    let lats = (0..rows).map(|row| window.row_lat_deg(row));
    let ys = [north].into_iter().chain(lats).chain([south]).collect();
    NodeGrid { xs: columns.iter().map(|column| column.x).collect(), ys, values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Window;

    fn raster(west: f64, east: f64, values: &[f64]) -> Raster {
        Raster::new(Window::new(-10.0, 10.0, west, east, 1, values.len()).unwrap(), values.to_vec()).unwrap()
    }

    #[test]
    fn a_plain_window_is_one_grid_to_its_edges() {
        let grids = node_grids(&raster(0.0, 4.0, &[1.0, 2.0]));
        assert_eq!(grids.len(), 1);
        assert_eq!(grids[0].xs, [0.0, 1.0, 3.0, 4.0]);
        assert_eq!(grids[0].ys, [10.0, 0.0, -10.0]);
        assert_eq!(grids[0].values, [1.0, 1.0, 2.0, 2.0].repeat(3));
    }

    #[test]
    fn a_window_over_the_antimeridian_is_two_grids_that_share_values() {
        let grids = node_grids(&raster(177.0, 183.0, &[1.0, 2.0, 4.0]));
        assert_eq!(grids[0].xs, [177.0, 178.0, 180.0]);
        assert_eq!(grids[1].xs, [-180.0, -178.0, -177.0]);
        assert_eq!(grids[0].values[..3], [1.0, 1.0, 2.0]);
        assert_eq!(grids[1].values[..3], [2.0, 4.0, 4.0]);
    }

    #[test]
    fn a_globe_joins_at_the_antimeridian_wherever_it_begins() {
        for (west, values) in [(-180.0, [1.0, 2.0, 3.0, 4.0]), (0.0, [3.0, 4.0, 1.0, 2.0])] {
            let grids = node_grids(&raster(west, west + 360.0, &values));
            assert_eq!(grids[0].xs, [-180.0, -135.0, -45.0, 45.0, 135.0, 180.0]);
            assert_eq!(grids[0].values[..6], [2.5, 1.0, 2.0, 3.0, 4.0, 2.5]);
        }
        // A centre on the antimeridian itself.
        let grids = node_grids(&raster(-135.0, 225.0, &[1.0, 2.0, 3.0, 4.0]));
        assert_eq!(grids[0].xs, [-180.0, -90.0, 0.0, 90.0, 180.0]);
        assert_eq!(grids[0].values[..5], [4.0, 1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn a_window_wholly_beyond_the_antimeridian_comes_back() {
        let grids = node_grids(&raster(180.0, 184.0, &[1.0, 2.0]));
        assert_eq!(grids[0].xs, [-180.0, -179.0, -177.0, -176.0]);
    }
}
