//! Matrix-product precision on CUDA.

use crate::NnError;
use locdiff_base::setting;
use std::str::FromStr;

/// The arithmetic of matrix products on CUDA; storage and everything else stay in f32. The CPU always uses f32.
///
/// ```
/// use locdiff_nn::Precision;
/// assert_eq!("tf32".parse::<Precision>().unwrap(), Precision::Tf32);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Precision {
    /// Plain f32 products and sums: what the tests compare with `PyTorch`.
    F32,
    /// Operands rounded to 10 mantissa bits on the tensor cores, f32 sums: the default, as in `PyTorch`'s `high`.
    #[default]
    Tf32,
    /// Operands rounded to bf16 (7 mantissa bits) before every product, f32 sums and storage, as `PyTorch`'s autocast
    /// does. The rounding is a pass over each operand, so small products gain nothing over [`Precision::Tf32`].
    Bf16,
}

impl FromStr for Precision {
    type Err = NnError;

    fn from_str(name: &str) -> Result<Self, NnError> {
        match name {
            "f32" => Ok(Self::F32),
            "tf32" => Ok(Self::Tf32),
            "bf16" => Ok(Self::Bf16),
            _ => Err(setting("precision", name, "use f32, tf32 or bf16")),
        }
    }
}
