//! The numbers that harmonics are written as.

/// A number that harmonics can be written as.
pub trait Scalar: Copy + Default + Send + Sync + 'static {
    /// Rounded from f64.
    fn from_f64(value: f64) -> Self;
}

impl Scalar for f64 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Scalar for f32 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}
