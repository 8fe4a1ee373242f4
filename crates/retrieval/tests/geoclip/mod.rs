//! Tests of `geoclip`.
mod gallery;
mod parity;
