//! What was found out, to be read by people and by programs.
//!
//! | you want | item |
//! |---|---|
//! | answers judged by truths | [`Evaluation`], [`System`] |
//! | which answer belongs to which truth | [`match_rows`] |
//! | all of it as text, JSON, CSV or a page | [`Report`] |
//! | a summary of one density, in words and as a map | [`DensitySummary`] |
//! | a table for a terminal or for Markdown | [`Table`] |
//! | a plot of your own | [`svg::Plot`] |

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

pub use csv::{Table, percent_interval, short_count};
pub use density::{DensitySummary, MapView, REGION_PROBABILITIES};
pub use error::ReportError;
pub(crate) use error::Result;
pub use evaluation::{Division, Evaluation, MissingRule, PrdcChoice};
pub(crate) use report::{Breakdown, PrdcReport, Rival};
pub use report::{Report, System};
pub use rows::{FileRows, Matching, RowError, in_row_order, match_rows};
