//! Matrix-product precision on CUDA.

use locdiff_base::{BadSetting, Named, named};
use std::str::FromStr;

named! {
    /// The arithmetic of matrix products on CUDA; storage and everything else stay in f32. The CPU always uses f32.
    ///
    /// ```
    /// use locdiff_nn::Precision;
    /// assert_eq!("tf32".parse::<Precision>().unwrap(), Precision::Tf32);
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Precision: "precision" {
        /// Plain f32 products and sums: what the tests compare with `PyTorch`.
        F32 = "f32", "plain f32 products and sums";
        /// Operands rounded to 10 mantissa bits on the tensor cores, f32 sums: the default, as in `PyTorch`'s `high`.
        #[default]
        Tf32 = "tf32", "operands of 10 mantissa bits, f32 sums";
        /// Operands rounded to bf16 (7 mantissa bits) before every product, f32 sums and storage, as `PyTorch`'s autocast
        /// does. The rounding is a pass over each operand, so small products gain nothing over [`Precision::Tf32`].
        Bf16 = "bf16", "operands of 7 mantissa bits, f32 sums";
    }
}

impl FromStr for Precision {
    type Err = BadSetting;

    fn from_str(name: &str) -> Result<Self, BadSetting> {
        Self::from_name(name)
    }
}
