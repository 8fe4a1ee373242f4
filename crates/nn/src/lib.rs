//! Tensors, layers and kernels of `LocDiff`, on the CPU and CUDA.
//!
//! - [`Device`]: the CPU, or a CUDA device found at run time by the same binary.
//! - [`Tensor`], [`View`], [`ops`]: matrices, windows on them, and operations that never allocate.
//! - [`Params`], [`Gradients`], [`Adam`]: all weights in one flat buffer, the optimiser wholly on the device.
//! - [`layers`]: [`layers::Linear`], [`layers::Mlp`], [`layers::CsUnet`], written once, with explicit gradients.
//! - [`losses`]: over a quadrature grid and value by value.
//! - [`bf16`]: inference with matrices that stay rounded, on CUDA.
//! - [`conv`]: operations of convolutional networks, except products, on CUDA.
//! - [`feed`]: inputs of a training step, made on CUDA.
//! - [`photos`]: decoding and resizing of photos on CUDA.
//! - [`kernels`]: CUDA kernels of other crates.
//! - [`math`]: f32 functions for vectorised loops of other crates.
//! - [`inference`]: kernels of image encoders on the CPU, over buffers of the caller.
//! - [`Rng`], [`RowNoise`]: counter-based random numbers. [`Recorded`]: a whole step or sampler as one CUDA graph.
//!
//! The engine knows no geography: quadrature grids come in as matrices.
//!
//! # Errors
//! Operations fail if shapes do not fit or operands live on different devices. Allocations fail if the device's memory is full.
//! Functions that wait for a CUDA device fail if an earlier operation failed. Other reasons are named at each function.
//!
//! # Example
//! Fit a line with one [`layers::Linear`]:
//! ```
//! use locdiff_nn::{Adam, AdamConfig, Device, Gradients, ParamsBuilder, Tensor, layers::Linear, ops};
//! let device = Device::cpu();
//! let mut builder = ParamsBuilder::new();
//! let line = Linear::new(&mut builder, "line", 1, 1);
//! let mut params = builder.build(&device, 1)?;
//! let mut grads = Gradients::new(&params)?;
//! let config = AdamConfig { lr: 0.05, weight_decay: 0.0, clip_norm: 0.0, ..AdamConfig::default() };
//! let mut adam = Adam::new(config, &params)?;
//! let x = Tensor::from_slice(&device, 3, 1, &[-1.0, 0.0, 1.0])?;
//! let target = Tensor::from_slice(&device, 3, 1, &[-1.0, 1.0, 3.0])?;
//! let [mut y, mut dy, mut loss] = [0, 1, 2].map(|_| Tensor::zeros(&device, 3, 1).unwrap());
//! for _ in 0..400 {
//!     line.forward(&params, y.view_mut(), x.view())?;
//!     let scale = 1.0 / 3.0;
//!     ops::point_loss(ops::PointLoss::L2, dy.view_mut(), loss.view_mut(), y.view(), target.view(), scale)?;
//!     line.backward(&params, &mut grads, x.view(), dy.view(), None)?;
//!     adam.step(&mut params, &grads)?;
//! }
//! let weights = params.to_vec()?;
//! assert!((weights[0] - 2.0).abs() < 1e-2 && loss.to_vec()?.iter().all(|&l| l < 1e-3));
//! # Ok::<(), locdiff_nn::NnError>(())
//! ```

mod adam_config;
mod aligned;
pub mod bf16;
pub mod conv;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(not(feature = "cuda"))]
#[path = "no_cuda.rs"]
mod cuda;
mod device;
mod error;
pub mod feed;
mod gelu;
mod graph;
pub mod inference;
mod kernel_args;
mod kernel_source;
pub mod kernels;
mod kinds;
pub mod layers;
pub mod losses;
pub mod ops;
mod optim;
mod params;
pub mod photos;
mod pictures;
mod random;
mod tensor;
mod view;
mod weight_file;

/// Branch-free f32 functions that LLVM can vectorise inside a kernel compiled for wide registers.
pub mod math {
    pub use crate::cpu::math::{erf, exp};
}

pub use adam_config::{AdamConfig, LrSchedule};
pub use device::{Device, DeviceSpec};
pub use error::{NnError, Result};
pub use gelu::Gelu;
pub use graph::Recorded;
pub use kinds::Precision;
pub use optim::Adam;
pub use params::{Gradients, Init, ParamId, Params, ParamsBuilder};
pub use random::{Rng, RowKey, RowNoise};
pub use tensor::{Indices, Tensor};
pub use view::{View, ViewMut};
pub use weight_file::{Snapshot, TrainingState};
