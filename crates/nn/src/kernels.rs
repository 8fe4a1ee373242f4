//! Kernels that are compiled on demand.
#![cfg_attr(not(feature = "cuda"), allow(dead_code))] // reason: without CUDA nothing reads them

/// Kernels that are compiled only for those who ask.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kernels {
    /// Inference in bf16.
    Bf16,
    /// Attention of heads of 33 to 64 values, as most have.
    Attention,
    /// Convolutions.
    Conv,
    /// What a training step reads.
    Feed,
    /// Searches for maxima.
    Decode,
    /// Photos on their way into a network.
    Photos,
}
