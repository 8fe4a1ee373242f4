//! Tests of `immich`.
mod common;
mod immich;
