//! The tensors of PyTorch's `.pth` files, and nothing but tensors.
//!
//! A pickle is a program. This module runs none: it reads the few instructions that describe tensors as data and refuses a
//! file with anything else in it, by name. Memory stays in proportion to the file.

#[cfg_attr(target_arch = "wasm32", path = "no_archive.rs")]
mod archive;
mod file;
#[cfg(test)]
mod hostile;
mod pickle;

pub(crate) use archive::Archive;
pub use file::Refused;
pub(crate) use file::{PthTensor, read_pth};
#[cfg(feature = "fuzzing")]
pub(crate) use pickle::tensors as pickled_tensors;
