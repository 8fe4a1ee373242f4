//! A density as a small picture that any projection can be painted with.

use crate::{Answer, Density, error::Failure, error::Result};
use locdiff_map::Window;
use locdiff_shdd::sphere::UnitVec;

/// How far below the top the picture goes.
const DEPTH_NATS: f64 = 7.0;
const MOST_CELLS: f64 = 64_800.0;
/// Largest width of cells, unless that makes too many: half of a map cell's 25 km.
const CELL_DEG: f64 = 0.12;

/// A density on the rectangle of latitudes and longitudes worth drawing, one byte per cell. Bytes are log densities from
/// [`DensityGrid::DEPTH_NATS`] below the top (1) to the top (255); 0 is less.
///
/// ```
/// # #[cfg(feature = "bundled")] {
/// use locdiff::{DensityGrid, Locator};
/// # let photo = "../../fixtures/vision/china.jpg";
/// let grid = DensityGrid::of(&Locator::bundled()?.locate(photo)?)?;
/// assert_eq!(grid.values().len(), grid.window().len());
/// assert!(grid.values().iter().any(|value| *value > 200));
/// # }
/// # Ok::<(), locdiff::LocateError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DensityGrid {
    window: Window,
    values: Vec<u8>,
}

impl DensityGrid {
    /// Depth of the values below the top, in nats.
    pub const DEPTH_NATS: f64 = DEPTH_NATS;

    /// Makes the grid of an answer's density. Fails if the answer has none, as in an album.
    pub fn of(answer: &Answer) -> Result<Self> {
        let density = answer.density().ok_or(Failure::NoDensity)?;
        let window = worth_drawing(density, None)?;
        let [rows, columns] = window.lines();
        let values = density.log_density_on(&rows, &columns);
        let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Cells that are not possible are at minus infinity.
        let byte = |value: &f64| {
            let height = 1.0 + (value - top) / DEPTH_NATS;
            if height >= 0.0 { (1.0 + 254.0 * height).round() as u8 } else { 0 }
        };
        Ok(Self { values: values.iter().map(byte).collect(), window })
    }

    /// Returns the rectangle and its cells. It may cross the antimeridian.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Returns the values, row by row from the north-west.
    pub fn values(&self) -> &[u8] {
        &self.values
    }
}

/// The window that holds all of an answer's density that is worth drawing, or all that is above a level.
pub(crate) fn worth_drawing(density: &Density, level: Option<f64>) -> Result<Window> {
    let values = density.point_log_density();
    let top = || values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = level.unwrap_or_else(|| top() - DEPTH_NATS);
    let seen = density.points().iter().zip(values).filter(|(_, value)| **value >= least);
    let seen: Vec<UnitVec> = seen.map(|(point, _)| *point).collect();
    around(&seen, density.pixel_area_sr().sqrt().to_degrees())
}

/// Returns the window about the points of such pixels, in cells of half a pixel or less; larger if these would be too many.
fn around(points: &[UnitVec], pixel_deg: f64) -> Result<Window> {
    let [south, north, west, width] = Window::bounds(points, pixel_deg);
    let cell = (0.5 * pixel_deg).min(CELL_DEG).max(((north - south) * width / MOST_CELLS).sqrt());
    let cells = |deg: f64| ((deg / cell).floor() as usize).max(2);
    Ok(Window::new(south, north, west, west + width, cells(north - south), cells(width))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::LatLon;

    fn window(places: &[(f64, f64)]) -> Window {
        let points: Vec<UnitVec> = places.iter().map(|(lat, lon)| LatLon::new(*lat, *lon).unwrap().to_unit()).collect();
        around(&points, 0.5).unwrap()
    }

    #[test]
    fn windows_hold_their_points_and_little_more() {
        let japan = window(&[(35.0, 139.0), (43.0, 141.0), (26.0, 128.0)]);
        assert!(japan.west_deg() < 128.0 && japan.west_deg() > 126.0);
        assert!((japan.width_deg() - 14.4).abs() < 0.3 && (japan.height_deg() - 18.0).abs() < 1e-9);
        // Across the antimeridian it stays small.
        let fiji = window(&[(-17.0, 179.0), (-18.0, -179.0)]);
        assert!(fiji.width_deg() < 4.0 && fiji.west_deg() > 177.0 && fiji.east_deg() > 180.0);
        let pole = window(&[(89.9, 0.0), (89.0, 100.0), (89.0, -100.0)]);
        assert_eq!((pole.north_deg(), pole.width_deg()), (90.0, 360.0));
        let world = window(&[(-80.0, -170.0), (80.0, -50.0), (0.0, 70.0), (0.0, 175.0), (5.0, 0.0), (5.0, 120.0)]);
        assert!(world.len() <= 64_800 && world.len() > 40_000);
        assert_eq!(window(&[(1.0, 2.0)]).len(), 64);
    }
}
