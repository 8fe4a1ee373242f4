//! Tests of `batch`.
mod jobs;
