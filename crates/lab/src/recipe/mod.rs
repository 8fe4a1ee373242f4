//! `locdiff-lab recipe`: the paper's main tables from the published data, a chain of stages, each of which is passed over when it is done.
//!
//! `dataset` knows the published sets of photos and whether they are there; `chain` plans the stages, `stage` is one of them, with its
//! `task`s for the other libraries (`work` does them) and `steps` of its own; `run` runs them, `stamp` and `identity` say how far one
//! is; `estimate` says what it takes, `paper` what the paper reports, `tables` puts both side by side.
//!
//! A stage leaves `NAME/`, `NAME.begun` with the checksum of its inputs and settings, and in the end `NAME.done`, sealed, with that of
//! what it made. Inputs are known by names, sizes and times of change, and stages by what those before them made: whatever
//! changes makes the stages anew that see a difference.

mod chain;
mod command;
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
mod task;
mod work;

pub(crate) use command::Recipe;
