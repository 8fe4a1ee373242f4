//! What was found out, to be read by people and by programs: an [`Evaluation`] judges a [`System`] by truths in a
//! [`Report`], a [`DensitySummary`] shows one density, a [`svg::Plot`] goes to a file.

mod csv;
mod density;
mod error;
mod evaluation;
mod html;
mod plots;
mod report;
mod rows;
pub mod svg;
mod text;

pub use density::{DensitySummary, MapView, REGION_PROBABILITIES};
pub use error::ReportError;
pub(crate) use error::Result;
pub use evaluation::{Division, Evaluation, MissingRule, PrdcChoice};
pub(crate) use report::{Breakdown, Rival};
pub use report::{Report, System};
pub use rows::{FileRows, Matching, RowError, in_row_order, match_rows, names_beside, places_of_rows};
