//! The activations of transformers.

use crate::cpu::math;

/// 2·√(2/π).
const TANH_FACTOR: f32 = std::f32::consts::SQRT_2 * std::f32::consts::FRAC_2_SQRT_PI;

/// An element-wise function between the two products of a transformer's layer, in the order of the CUDA kernel's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gelu {
    /// `x·σ(1.702 x)`: OpenAI's CLIP.
    Quick,
    /// `x·Φ(x)`, with erf.
    Exact,
    /// `x·Φ(x)` by a hyperbolic tangent: SigLIP.
    Tanh,
}

impl Gelu {
    /// In place `x ← f(x)`; to be inlined into a kernel that carries an instruction set.
    #[inline(always)]
    pub(crate) fn apply(self, values: &mut [f32]) {
        match self {
            Self::Quick => {
                for value in values {
                    *value /= 1.0 + math::exp(-1.702 * *value);
                }
            }
            Self::Tanh => {
                for value in values {
                    // 1 + tanh u = 2 σ(2u).
                    let twice = TANH_FACTOR * (*value + 0.044_715 * *value * *value * *value);
                    *value /= 1.0 + math::exp(-twice);
                }
            }
            Self::Exact => {
                for value in values {
                    *value *= 0.5 + 0.5 * math::erf(*value * std::f32::consts::FRAC_1_SQRT_2);
                }
            }
        }
    }
}
