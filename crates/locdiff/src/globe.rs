//! What every answer of one degree shares: the codec and the pixels on which probabilities are summed.

use crate::LocateError;
use locdiff_shdd::Codec;
use locdiff_sphere::{Degree, Pixels};

/// Depth of the pixels for a degree: they must be finer than a clean code's spread, 78 km at L = 23. 204 km wide up to
/// L = 11, 51 km up to L = 31, 25 km above.
fn depth(degree: usize) -> u8 {
    match degree {
        0..=11 => 5,
        12..=31 => 7,
        _ => 8,
    }
}

/// The codec of a degree and equal-area pixels fine enough for its densities.
///
/// ```
/// use locdiff::Globe;
/// let globe = Globe::new(23)?;
/// assert_eq!(globe.codec().degree().get(), 23);
/// assert_eq!(globe.pixels().len(), 196_608);
/// # Ok::<(), locdiff::LocateError>(())
/// ```
#[derive(Debug)]
pub struct Globe {
    codec: Codec,
    pixels: Pixels,
}

impl Globe {
    /// For densities of this degree.
    ///
    /// # Errors
    /// A degree out of range.
    pub fn new(degree: usize) -> Result<Self, LocateError> {
        Self::with_depth(degree, depth(degree))
    }

    /// With pixels twice as wide, for work on many densities at once.
    ///
    /// # Errors
    /// A degree out of range.
    pub fn coarse(degree: usize) -> Result<Self, LocateError> {
        Self::with_depth(degree, depth(degree) - 1)
    }

    fn with_depth(degree: usize, depth: u8) -> Result<Self, LocateError> {
        Ok(Self { codec: Codec::new(Degree::new(degree)?), pixels: Pixels::new(depth)? })
    }

    /// The codec.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// The pixels.
    pub fn pixels(&self) -> &Pixels {
        &self.pixels
    }
}
