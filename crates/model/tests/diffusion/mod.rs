//! Tests of `diffusion`.
mod gaussian;
