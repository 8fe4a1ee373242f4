//! Matrix-product precision on CUDA.

use crate::NnError;
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
    /// cuBLASLt may round operands to bf16 on the tensor cores (`CUBLAS_COMPUTE_32F_FAST_16BF`); storage stays f32.
    ///
    /// On an H200 with CUDA 13.0 it chose the same kernels as for [`Precision::Tf32`]: the same losses to six digits and
    /// the same times. A gain over tf32 needs weights and activations stored in bf16, which this engine does not do.
    Bf16,
}

impl FromStr for Precision {
    type Err = NnError;

    fn from_str(name: &str) -> Result<Self, NnError> {
        match name {
            "f32" => Ok(Self::F32),
            "tf32" => Ok(Self::Tf32),
            "bf16" => Ok(Self::Bf16),
            _ => Err(NnError::Setting {
                what: "precision",
                value: name.to_owned(),
                remedy: "use f32, tf32 or bf16".to_owned(),
            }),
        }
    }
}
