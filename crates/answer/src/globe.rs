//! What every answer of one degree shares: the codec and the pixels on which probabilities are summed.

use crate::AnswerError;
use locdiff_shdd::Codec;
use locdiff_sphere::{Degree, Pixels};
use std::sync::Arc;

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
/// use locdiff_answer::Globe;
/// let globe = Globe::new(23)?;
/// assert_eq!(globe.codec().degree().get(), 23);
/// assert_eq!(globe.pixels().len(), 196_608);
/// # Ok::<(), locdiff_answer::AnswerError>(())
/// ```
#[derive(Debug)]
pub struct Globe {
    codec: Arc<Codec>,
    pixels: Pixels,
}

impl Globe {
    /// For densities of this degree.
    ///
    /// # Errors
    /// A degree out of range.
    pub fn new(degree: usize) -> Result<Self, AnswerError> {
        Self::of(Arc::new(Codec::new(Degree::new(degree)?)))
    }

    /// For densities of a codec's degree, with that codec.
    ///
    /// # Errors
    /// A failure to lay out the pixels.
    pub fn of(codec: Arc<Codec>) -> Result<Self, AnswerError> {
        let depth = depth(codec.degree().get());
        Ok(Self { codec, pixels: Pixels::new(depth)? })
    }

    /// With pixels twice as wide, for work on many densities at once.
    ///
    /// # Errors
    /// A degree out of range.
    pub fn coarse(degree: usize) -> Result<Self, AnswerError> {
        let codec = Arc::new(Codec::new(Degree::new(degree)?));
        Ok(Self { codec, pixels: Pixels::new(depth(degree) - 1)? })
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
