//! The arithmetic of matrix products.

use locdiff_base::{BadSetting, Named, named};
use std::str::FromStr;

named! {
    /// The arithmetic of matrix products; storage and everything else stay in f32. The CPU uses f32, and where it is asked for, encoders use int8.
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
        /// Weights and inputs of 8 bits, whole sums: transformer encoders on the CPU.
        Int8 = "int8", "operands of 8 bits, whole sums: transformer encoders on the CPU";
    }
}

impl FromStr for Precision {
    type Err = BadSetting;

    fn from_str(name: &str) -> Result<Self, BadSetting> {
        Self::from_name(name)
    }
}
