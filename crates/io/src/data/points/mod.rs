//! Points in and out.

mod columns;
mod json;
mod reader;
mod table;
mod writer;

pub use columns::PointColumns;
pub use reader::{PointReader, read_points};
pub use table::PlaceTable;
pub use writer::PointWriter;

pub(crate) const POINTS_TENSOR: &str = "points";
