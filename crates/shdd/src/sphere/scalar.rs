//! The numbers that harmonics are written as.

/// Number type that f64 rounds to.
pub trait Number: Copy + Default + Send + Sync + 'static {
    /// Rounded from f64.
    fn from_f64(value: f64) -> Self;
}

impl Number for f64 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Number for f32 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}
