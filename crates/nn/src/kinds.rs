//! What chooses a variant of an operation: plain values that both backends know.

use crate::{Result, error::check_shape};
use locdiff_base::{BadSetting, Named, named};
use std::str::FromStr;

/// An element-wise function with a known derivative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// `x·Φ(x)`, the exact form with erf, as `PyTorch`'s default.
    Gelu,
    /// `max(x, 0)`.
    Relu,
    /// `sin(w0·x)`.
    #[allow(missing_docs, reason = "the variant explains its fields")]
    Sine { w0: f32 },
}

impl Activation {
    /// The number and the factor by which the CUDA kernels know it.
    pub(crate) fn kernel_args(self) -> (i32, f32) {
        match self {
            Self::Gelu => (0, 0.0),
            Self::Relu => (1, 0.0),
            Self::Sine { w0 } => (2, w0),
        }
    }
}

/// Whether an operand is read as it lies or transposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transpose {
    /// As it lies.
    No,
    /// Transposed.
    Yes,
}

/// A loss that compares an output with its target value by value, in the order of the CUDA kernel's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointLoss {
    /// `1 − cos(e, y)`.
    Cosine,
    /// Mean absolute difference.
    L1,
    /// Mean squared difference.
    L2,
}

/// The coefficients of one sampler step; every sampler of the diffusion crate is a list of these.
///
/// With the network's output `p` and the previous step's clean estimate `x0'`:
/// `x0 = x0_from_x·x + x0_from_prediction·p`, then
/// `x ← x_from_x·x + x_from_x0·x0 + x_from_previous_x0·x0' + x_from_noise·z` with z standard normal.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[allow(missing_docs, reason = "the formulas above have every factor")]
pub struct SamplerStep {
    pub x0_from_x: f32,
    pub x0_from_prediction: f32,
    pub x_from_x: f32,
    pub x_from_x0: f32,
    pub x_from_previous_x0: f32,
    pub x_from_noise: f32,
}

impl SamplerStep {
    /// In the order of the CUDA kernel's arguments.
    #[cfg(feature = "cuda")]
    pub(crate) fn factors(&self) -> [f32; 6] {
        let Self { x0_from_x, x0_from_prediction, x_from_x, x_from_x0, x_from_previous_x0, x_from_noise } = *self;
        [x0_from_x, x0_from_prediction, x_from_x, x_from_x0, x_from_previous_x0, x_from_noise]
    }
}

/// A square kernel that walks over square pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walk {
    /// Pixels along a side of a picture.
    pub side: usize,
    /// Pixels along a side of the kernel.
    pub kernel: usize,
    /// Pixels from one place of the kernel to the next.
    pub step: usize,
}

impl Walk {
    /// Pixels along a side of the result.
    ///
    /// ```
    /// use locdiff_nn::conv::Walk;
    /// assert_eq!(Walk { side: 13, kernel: 3, step: 2 }.out_side(), 7);
    /// ```
    pub fn out_side(&self) -> usize {
        self.side.div_ceil(self.step)
    }

    /// Zeros before the first pixel.
    #[cfg(feature = "cuda")]
    pub(crate) fn before(&self) -> usize {
        ((self.out_side() - 1) * self.step + self.kernel).saturating_sub(self.side) / 2
    }

    pub(crate) fn check(&self, op: &'static str) -> Result<()> {
        check_shape(self.side > 0 && self.kernel > 0 && self.step > 0, op, || format!("{self:?}"))
    }
}

named! {
    /// The arithmetic of matrix products; storage and everything else stay in f32. The CPU uses f32, and where it is asked
    /// for, encoders use int8.
    ///
    /// ```
    /// use locdiff_nn::Precision;
    /// assert_eq!("bf16".parse::<Precision>()?, Precision::Bf16);
    /// # Ok::<(), locdiff_base::BadSetting>(())
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

    fn from_str(name: &str) -> std::result::Result<Self, BadSetting> {
        Self::from_name(name)
    }
}
