//! Tests of `eval`.
mod densities;
mod intervals;
mod prdc;
