//! Tests of `data`.
mod fixtures;
mod streams;
