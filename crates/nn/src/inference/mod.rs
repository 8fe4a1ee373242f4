//! Inference on the CPU with f32 buffers of one's own: the kernels of image encoders.
//!
//! [`ops`](crate::ops) works on tensors and keeps what a backward pass needs. These kernels work on windows of scratch
//! buffers, with spare channels and borders, take weights that were packed once, and do bias, activation and residual
//! before a tile leaves the registers. They run on the thread that calls them, except [`PackedLinear::run_shared`].
//! Every output value is one chain of sums in a fixed order, whatever tile it falls into: a row's result is the same bits
//! among any other rows on one machine.

mod depthwise;
mod finish;
mod int8;
mod linear;
mod pointwise;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tile_registers;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tiles;

pub use crate::aligned::Aligned;
pub use crate::cpu::simd::padded;
pub use depthwise::Depthwise;
pub use finish::{Finish, normalise_row, soften_row};
pub use linear::PackedLinear;
pub use pointwise::{PixelGrid, Pointwise};
