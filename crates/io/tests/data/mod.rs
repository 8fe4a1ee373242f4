//! Tests of `data`.
mod fixtures;
