//! A part of the globe between two parallels and two meridians, cut into cells.

use crate::MapError;
use locdiff_shdd::sphere::{LatLon, UnitVec};

/// A rectangle of `rows` × `columns` equal cells, at most 360° wide. Its eastern edge may lie beyond 180°.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    south_deg: f64,
    north_deg: f64,
    west_deg: f64,
    east_deg: f64,
    rows: usize,
    columns: usize,
}

impl Window {
    /// The most cells a window may have: a raster of them takes 2 GiB.
    pub const MOST_CELLS: usize = 1 << 28;

    /// A window from its edges and cells. The western edge is brought to −180…180 by whole turns, the eastern with it.
    /// Fails if the edges are not finite, not in order or too far apart, or there are no cells or too many.
    pub fn new(
        south_deg: f64,
        north_deg: f64,
        west_deg: f64,
        east_deg: f64,
        rows: usize,
        columns: usize,
    ) -> Result<Self, MapError> {
        if !(-90.0 <= south_deg && south_deg < north_deg && north_deg <= 90.0) {
            return Err(MapError::Latitudes { south_deg, north_deg });
        }
        // A sum of decimal degrees may miss 360 by a rounding.
        let in_order = west_deg < east_deg && east_deg - west_deg <= 360.0 + 1e-9;
        if !(in_order && west_deg.abs() <= 1e6 && east_deg.abs() <= 1e6) {
            return Err(MapError::Longitudes { west_deg, east_deg });
        }
        if !rows.checked_mul(columns).is_some_and(|cells| (1..=Self::MOST_CELLS).contains(&cells)) {
            return Err(MapError::Cells { rows, columns });
        }
        let turns = if (-180.0..=180.0).contains(&west_deg) { 0.0 } else { ((west_deg + 180.0) / 360.0).floor() };
        let shift_deg = 360.0 * turns;
        let (west_deg, east_deg) = (west_deg - shift_deg, (east_deg - shift_deg).min(west_deg - shift_deg + 360.0));
        Ok(Self { south_deg, north_deg, west_deg, east_deg, rows, columns })
    }

    /// The whole globe, from −180° to 180°. Fails if there are no cells or too many.
    pub fn globe(rows: usize, columns: usize) -> Result<Self, MapError> {
        Self::new(-90.0, 90.0, -180.0, 180.0, rows, columns)
    }

    /// Southern edge, northern edge, western edge and width, in degrees, of what holds all points with a margin of so many
    /// degrees around each. It is the world's width if nearly that wide.
    pub fn bounds(points: &[UnitVec], margin_deg: f64) -> [f64; 4] {
        let ends = |(low, high): (f64, f64), z: f64| (low.min(z), high.max(z));
        let (low, high) = points.iter().map(|point| point.z()).fold((1.0, -1.0), ends);
        let outer = points.iter().filter(|point| point.z() < low + NEAR || point.z() > high - NEAR);
        let (south, north) = outer.map(|point| point.to_latlon().lat_deg()).fold((90.0, -90.0), ends);
        let (south, north) = ((south - margin_deg).max(-90.0), (north + margin_deg).min(90.0));
        // A margin is wider in degrees of longitude the nearer it is to a pole.
        let margin = margin_deg / north.abs().max(south.abs()).to_radians().cos().max(1e-3);
        let mut lons = outer_lons(points);
        lons.sort_by(f64::total_cmp);
        let (west, width) = widest_gap(&lons);
        if width + 2.0 * margin >= 350.0 {
            [south, north, -180.0, 360.0]
        } else {
            [south, north, west - margin, width + 2.0 * margin]
        }
    }

    /// A window of a picture of `columns` × `rows` pixels that holds what [`Window::bounds`] gives, in cells about as wide as
    /// high in its middle. If that is nearly the whole world, it is the world without the polar regions. Fails if there are
    /// no pixels or too many.
    pub fn of_picture(bounds: [f64; 4], columns: usize, rows: usize) -> Result<Self, MapError> {
        const LEAST_DEG: f64 = 3.0;
        const WORLD_DEG: [f64; 2] = [-56.0, 80.0];
        let [south, north, west, width] = bounds;
        let (middle_lat, middle_lon) = (0.5 * (south + north), west + 0.5 * width);
        let shrink = middle_lat.to_radians().cos().max(0.25);
        // Degrees of latitude of a pixel.
        let step = ((north - south).max(LEAST_DEG) / rows as f64).max(width * shrink / columns as f64);
        let (high, wide) = (step * rows as f64, step * columns as f64 / shrink);
        if wide >= 300.0 || high >= 150.0 {
            return Self::new(WORLD_DEG[0], WORLD_DEG[1], -180.0, 180.0, rows, columns);
        }
        let south = (middle_lat - 0.5 * high).clamp(-90.0, 90.0 - high);
        Self::new(south, south + high, middle_lon - 0.5 * wide, middle_lon + 0.5 * wide, rows, columns)
    }

    /// The same part of the globe in other cells. Fails if there are no cells or too many.
    pub fn with_cells(self, rows: usize, columns: usize) -> Result<Self, MapError> {
        Self::new(self.south_deg, self.north_deg, self.west_deg, self.east_deg, rows, columns)
    }

    /// Southern edge.
    pub const fn south_deg(&self) -> f64 {
        self.south_deg
    }

    /// Northern edge.
    pub const fn north_deg(&self) -> f64 {
        self.north_deg
    }

    /// Western edge, −180…180.
    pub const fn west_deg(&self) -> f64 {
        self.west_deg
    }

    /// Eastern edge, above the western one and possibly above 180.
    pub const fn east_deg(&self) -> f64 {
        self.east_deg
    }

    /// Number of rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Number of cells.
    #[allow(clippy::len_without_is_empty, reason = "a window has at least one cell")]
    pub const fn len(&self) -> usize {
        self.rows * self.columns
    }

    /// From edge to edge, west to east.
    pub fn width_deg(&self) -> f64 {
        self.east_deg - self.west_deg
    }

    /// From edge to edge, south to north.
    pub fn height_deg(&self) -> f64 {
        self.north_deg - self.south_deg
    }

    /// Whether the eastern edge is the western edge.
    pub(crate) fn goes_around(&self) -> bool {
        self.width_deg() > 360.0 - 1e-9
    }

    pub(crate) fn cell_width_deg(&self) -> f64 {
        self.width_deg() / self.columns as f64
    }

    pub(crate) fn cell_height_deg(&self) -> f64 {
        self.height_deg() / self.rows as f64
    }

    /// Latitude of the centres of a row; row 0 is the northernmost.
    pub(crate) fn row_lat_deg(&self, row: usize) -> f64 {
        self.north_deg - (row as f64 + 0.5) * self.cell_height_deg()
    }

    /// Longitude of the centres of a column, from the western edge on, possibly above 180.
    pub(crate) fn column_lon_deg(&self, column: usize) -> f64 {
        self.west_deg + (column as f64 + 0.5) * self.cell_width_deg()
    }

    /// Centre of a cell.
    pub fn center(&self, row: usize, column: usize) -> LatLon {
        LatLon::new(self.row_lat_deg(row).clamp(-90.0, 90.0), self.column_lon_deg(column))
            .expect("a window's cells are places: its edges were checked")
    }

    /// Centres of the first cells of rows, from north to south, and of columns, from west to east.
    pub fn lines(&self) -> [Vec<LatLon>; 2] {
        let row = |row| self.center(row, 0);
        [(0..self.rows).map(row).collect(), (0..self.columns).map(|column| self.center(0, column)).collect()]
    }

    /// Centre of every cell, row after row from north to south, each from west to east.
    pub fn points(&self) -> Vec<UnitVec> {
        let cells = (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| (row, column)));
        cells.map(|(row, column)| self.center(row, column).to_unit()).collect()
    }

    /// Area of a cell of a row on the unit sphere.
    pub fn cell_area_sr(&self, row: usize) -> f64 {
        let half_rad = 0.5 * self.cell_height_deg().to_radians();
        let lat_rad = self.row_lat_deg(row).to_radians();
        // sin(a + h) − sin(a − h), without the cancellation of small cells
        2.0 * lat_rad.cos() * half_rad.sin() * self.cell_width_deg().to_radians()
    }

    /// The cell that holds a place, if the window does.
    pub fn cell_of(&self, place: LatLon) -> Option<(usize, usize)> {
        let down = (self.north_deg - place.lat_deg()) / self.cell_height_deg();
        let right = (place.lon_deg() - self.west_deg).rem_euclid(360.0) / self.cell_width_deg();
        let inside = (0.0..=self.rows as f64).contains(&down) && (0.0..=self.columns as f64).contains(&right);
        inside.then(|| ((down as usize).min(self.rows - 1), (right as usize).min(self.columns - 1)))
    }
}

/// Only points that come so near to the outermost may be the outermost: to compare is faster than to take angles of all.
const NEAR: f64 = 1e-9;

/// The outermost longitudes of the points in each of 512 sectors: enough to find a gap wider than these.
fn outer_lons(points: &[UnitVec]) -> Vec<f64> {
    // A number from −2 to 2 that rises with the longitude.
    let turn = |point: &UnitVec| {
        let (x, y) = (point.x(), point.y());
        let turn = y / (x.abs() + y.abs()).max(f64::MIN_POSITIVE);
        if x >= 0.0 { turn } else { 2.0_f64.copysign(y) - turn }
    };
    let sector = |turn: f64| (128.0 * (turn + 2.0)) as usize;
    let turns: Vec<f64> = points.iter().map(turn).collect();
    let mut ends = [(2.0_f64, -2.0_f64); 513];
    for turn in &turns {
        let (low, high) = &mut ends[sector(*turn)];
        (*low, *high) = (low.min(*turn), high.max(*turn));
    }
    let is_outer = |turn: f64| {
        let (low, high) = ends[sector(turn)];
        turn < low + NEAR || turn > high - NEAR
    };
    let outer = points.iter().zip(&turns).filter(|(_, turn)| is_outer(**turn));
    outer.map(|(point, _)| point.to_latlon().lon_deg()).collect()
}

/// Where the arc that holds all longitudes begins, and how wide it is: all but the widest gap between two neighbours.
fn widest_gap(sorted: &[f64]) -> (f64, f64) {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return (-180.0, 360.0) };
    let whole = (*first, 360.0 - (first + 360.0 - last));
    let arcs = sorted.windows(2).map(|pair| (pair[1], 360.0 - (pair[1] - pair[0])));
    arcs.fold(whole, |best, arc| if arc.1 < best.1 { arc } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::PI;

    #[test]
    fn bad_windows_are_refused() {
        let nan = f64::NAN;
        for (south, north) in [(10.0, 10.0), (10.0, -10.0), (-90.1, 0.0), (0.0, 90.1), (nan, 0.0), (0.0, nan)] {
            let error = Window::new(south, north, 0.0, 1.0, 2, 2).unwrap_err();
            assert!(matches!(error, MapError::Latitudes { .. }), "{south} {north}");
        }
        for (west, east) in [(1.0, 1.0), (170.0, -170.0), (0.0, 361.0), (nan, 0.0), (0.0, nan), (0.0, f64::INFINITY)] {
            let error = Window::new(0.0, 1.0, west, east, 2, 2).unwrap_err();
            assert!(matches!(error, MapError::Longitudes { .. }), "{west} {east}");
        }
        for (rows, columns) in [(0, 1), (1, 0), (usize::MAX, 2), (1 << 15, 1 << 14)] {
            assert_eq!(Window::globe(rows, columns), Err(MapError::Cells { rows, columns }));
        }
    }

    #[test]
    fn edges_are_brought_near_greenwich() {
        let window = Window::new(0.0, 1.0, 530.0, 550.0, 1, 2).unwrap();
        assert_eq!((window.west_deg(), window.east_deg()), (170.0, 190.0));
        assert_eq!(window.center(0, 1).lon_deg(), -175.0);
        assert!(Window::new(0.0, 1.0, 0.0, 360.0, 1, 2).unwrap().goes_around());
    }

    #[test]
    fn cells_cover_the_globe() {
        let globe = Window::globe(90, 180).unwrap();
        let area: f64 = (0..90).map(|row| globe.cell_area_sr(row) * 180.0).sum();
        assert!((area - 4.0 * PI).abs() < 1e-12);
        let points = globe.points();
        assert_eq!((points.len(), globe.len()), (90 * 180, 90 * 180));
        assert_eq!(points[181], globe.center(1, 1).to_unit());
        assert_eq!(globe.center(0, 0).lat_deg(), 89.0);
    }

    #[test]
    fn pictures_cross_the_antimeridian_and_end_at_the_world() {
        let window = |places: &[(f64, f64)]| {
            let place = |(lat, lon): &(f64, f64)| LatLon::new(*lat, *lon).unwrap().to_unit();
            Window::of_picture(Window::bounds(&places.iter().map(place).collect::<Vec<_>>(), 1.0), 800, 500)
        };
        let fiji = window(&[(-17.0, 179.0), (-18.0, -179.0)]).unwrap();
        assert!(fiji.east_deg() > 180.0 && fiji.width_deg() < 7.0 && fiji.height_deg() > 2.9, "{fiji:?}");
        let wide = window(&[(50.0, -120.0), (20.0, -60.0), (0.0, 20.0), (10.0, 80.0), (-30.0, 140.0)]);
        assert_eq!(wide, Window::new(-56.0, 80.0, -180.0, 180.0, 500, 800));
        assert!(window(&[(-84.0, 0.0)]).unwrap().south_deg() > -90.0 && window(&[]).unwrap().goes_around());
    }

    proptest! {
        #[test]
        fn a_centre_lies_in_its_cell(
            south in -90.0..80.0f64, height in 1.0..10.0f64, west in -180.0..180.0f64, width in 1.0..360.0f64,
            row in 0usize..7, column in 0usize..9,
        ) {
            let window = Window::new(south, south + height, west, west + width, 7, 9).unwrap();
            prop_assert_eq!(window.cell_of(window.center(row, column)), Some((row, column)));
        }

        #[test]
        fn a_picture_holds_the_circle(
            lat in -55.0..79.0f64, lon in -180.0..180.0f64, deg in 0.1..20.0f64, bearing in 0.0..std::f64::consts::TAU,
        ) {
            let place = LatLon::new(lat, lon).unwrap();
            let window = Window::of_picture(Window::bounds(&[place.to_unit()], deg), 80, 50).unwrap();
            let reach_rad = (0.999 * deg).to_radians();
            let on_circle = place.to_unit().step(reach_rad * bearing.cos(), reach_rad * bearing.sin()).to_latlon();
            prop_assert!(window.cell_of(on_circle).is_some() || window.goes_around());
        }
    }
}
