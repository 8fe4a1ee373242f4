//! What chooses a variant of an operation: plain values that both backends know.

/// An element-wise function with a known derivative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// `x·Φ(x)`, the exact form with erf, as `PyTorch`'s default.
    Gelu,
    /// `max(x, 0)`.
    Relu,
    /// `sin(w0·x)`.
    Sine {
        /// The factor on the argument.
        w0: f32,
    },
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
pub struct SamplerStep {
    /// Factor of x in the clean estimate.
    pub x0_from_x: f32,
    /// Factor of the network's output in the clean estimate.
    pub x0_from_prediction: f32,
    /// Factor of x in the next x.
    pub x_from_x: f32,
    /// Factor of the clean estimate in the next x.
    pub x_from_x0: f32,
    /// Factor of the previous step's clean estimate in the next x.
    pub x_from_previous_x0: f32,
    /// Factor of fresh noise in the next x.
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
