//! Tests of `gallery`.
mod search;
