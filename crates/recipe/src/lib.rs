//! The paper's main tables from the published data: a chain of stages, each of which is passed over when it is done.
//!
//! | you want | item |
//! |---|---|
//! | the published sets of photos, and whether they are there | [`Dataset`], [`TrainingSet`], [`test_set`], [`Missing`] |
//! | the chain | [`paper`], [`Settings`], [`Chain`], [`Stage`] |
//! | to run it, or to see how far it is | [`Run`], [`Standing`] |
//! | what it takes | [`Rates`], [`Work`] |
//! | what the paper reports | [`published`], [`Published`] |
//! | what went wrong, in one line | [`RecipeError`] |
//!
//! A stage leaves `NAME/`, `NAME.begun` with the checksum of its inputs and settings, and in the end `NAME.done`, sealed, with that of
//! what it made. Inputs are known by names, sizes and times of change, and stages by what those before them made: whatever
//! changes makes the stages anew that see a difference.

mod chain;
mod dataset;
mod error;
mod estimate;
mod identity;
mod paper;
mod run;
mod stage;
mod stamp;
mod steps;
mod tables;

pub use chain::{Chain, Settings, paper};
pub use dataset::{Dataset, Missing, Photos, TrainingSet, find_encoder, test_set};
pub use error::{RecipeError, Result};
pub use estimate::Rates;
pub use paper::{Published, published};
pub use run::{Run, Standing};
pub use stage::{Stage, Work};
