//! What can be wrong with a window or a raster.

use thiserror::Error;

/// A window or raster that cannot be.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
#[non_exhaustive]
pub enum MapError {
    #[error("a window cannot reach from latitude {south_deg} to {north_deg}: give -90 <= south < north <= 90")]
    Latitudes { south_deg: f64, north_deg: f64 },
    #[error(
        "a window cannot reach from longitude {west_deg} to {east_deg}: give west < east, at most 360 degrees apart \
         (170 to 190 crosses the antimeridian)"
    )]
    Longitudes { west_deg: f64, east_deg: f64 },
    #[error("a window cannot have {rows} x {columns} cells: give 1 to {most} in all", most = crate::Window::MOST_CELLS)]
    Cells { rows: usize, columns: usize },
    #[error("a raster of {rows} x {columns} cells needs {} values, got {got}", rows * columns)]
    Values { rows: usize, columns: usize, got: usize },
    #[error("{maps} maps in {columns} columns make no sheet: give maps of one size, and at least one column")]
    Sheet { maps: usize, columns: usize },
    #[error(
        "an ASCII grid needs square cells, these are {width_deg} x {height_deg} degrees: choose rows and columns in the \
         proportion of the window's height and width"
    )]
    NotSquare { width_deg: f64, height_deg: f64 },
    #[error("not an ASCII grid: {reason}; give ncols, nrows, xllcorner, yllcorner, cellsize, then the values")]
    Ascii { reason: String },
}
