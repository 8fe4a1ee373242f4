//! The numbers that harmonics are written as.

use crate::{Harmonics, UnitVec};

/// A number that harmonics can be written as.
pub trait Scalar: Copy + Default + Send + Sync + 'static {
    /// Rounded from f64.
    fn from_f64(value: f64) -> Self;

    /// [`Harmonics::write_single_thread`] without its check: compiled here, once for each kind of number, not in every crate that writes harmonics.
    #[doc(hidden)]
    fn write_rows(harmonics: &Harmonics, points: &[UnitVec], out: &mut [Self]);
}

impl Scalar for f64 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }

    fn write_rows(harmonics: &Harmonics, points: &[UnitVec], out: &mut [Self]) {
        harmonics.write_rows(points, out);
    }
}

impl Scalar for f32 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    fn write_rows(harmonics: &Harmonics, points: &[UnitVec], out: &mut [Self]) {
        harmonics.write_rows(points, out);
    }
}
