//! What an evaluation found out, to be read by people and by programs.
//!
//! | you want | item |
//! |---|---|
//! | all of it as text, JSON, CSV or a page | [`Report`] |
//! | a plot of your own | [`svg::Plot`] |

mod csv;
mod html;
mod page;
mod plots;
mod report;
pub mod svg;
mod text;
mod words;

pub use report::{Breakdown, PrdcReport, Report, Rival};
