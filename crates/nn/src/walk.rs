//! How a square kernel walks over a picture.

use crate::{Result, error::check_shape};

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
