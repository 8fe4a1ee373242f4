//! The activations of transformers.

use crate::cpu::math;

/// An element-wise function between the two products of a transformer's layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gelu {
    /// `x·σ(1.702 x)`: OpenAI's CLIP.
    Quick,
    /// `x·Φ(x)`, with erf.
    Exact,
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
            Self::Exact => {
                for value in values {
                    *value *= 0.5 + 0.5 * math::erf(*value * std::f32::consts::FRAC_1_SQRT_2);
                }
            }
        }
    }
}
