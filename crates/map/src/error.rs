//! What can be wrong with a window or a raster.

use thiserror::Error;

/// A window or raster that cannot be.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MapError {
    /// The latitudes are not two numbers in −90…90, south first.
    #[error(
        "a window cannot reach from latitude {south_deg} to {north_deg}: give -90 <= south < north <= 90"
    )]
    Latitudes {
        /// Southern edge.
        south_deg: f64,
        /// Northern edge.
        north_deg: f64,
    },
    /// The longitudes are not finite, not in order, or more than a full turn apart.
    #[error(
        "a window cannot reach from longitude {west_deg} to {east_deg}: give west < east, at most 360 degrees apart \
         (170 to 190 crosses the antimeridian)"
    )]
    Longitudes {
        /// Western edge.
        west_deg: f64,
        /// Eastern edge.
        east_deg: f64,
    },
    /// No cells, or too many.
    #[error("a window cannot have {rows} x {columns} cells: give 1 to {most} in all", most = crate::Window::MOST_CELLS)]
    Cells {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// A raster has not one value for each cell.
    #[error("a raster of {rows} x {columns} cells needs {} values, got {got}", rows * columns)]
    Values {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// Values given.
        got: usize,
    },
    /// Maps that do not make a sheet.
    #[error("{maps} maps in {columns} columns make no sheet: give maps of one size, and at least one column")]
    Sheet {
        /// Maps given.
        maps: usize,
        /// Columns asked for.
        columns: usize,
    },
    /// The format needs square cells.
    #[error(
        "an ASCII grid needs square cells, these are {width_deg} x {height_deg} degrees: choose rows and columns in the \
         proportion of the window's height and width"
    )]
    NotSquare {
        /// A cell's width.
        width_deg: f64,
        /// A cell's height.
        height_deg: f64,
    },
    /// Text that is no ASCII grid.
    #[error("no ASCII grid: {reason}; give ncols, nrows, xllcorner, yllcorner, cellsize, then the values")]
    Ascii {
        /// What is wrong.
        reason: String,
    },
}
