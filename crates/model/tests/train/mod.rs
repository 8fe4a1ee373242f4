//! Tests of `train`.
mod cuda;
mod training;
