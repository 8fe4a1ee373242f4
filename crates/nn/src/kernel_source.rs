//! Which kernels a CUDA device compiles on demand.
#![cfg_attr(not(feature = "cuda"), allow(dead_code))] // reason: without CUDA nothing reads them

/// Kernels of this crate that are compiled only for those who ask.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kernels {
    Bf16,
    /// Attention of heads of 33 to 64 values, as most have.
    Attention,
    Conv,
    Feed,
    Photos,
}

/// CUDA source of another crate, behind the macros and functions that this crate's kernels share (`common.cu`).
#[derive(Debug)]
pub struct KernelSource {
    /// Pieces of source, which are compiled as one.
    pub sources: &'static [&'static str],
    /// The kernels' names, with spaces between them.
    pub kernels: &'static str,
}
