//! What can be wrong with a place or a degree.

use thiserror::Error;

/// A value that does not name a point on the sphere, or a degree that is not supported.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum SphereError {
    /// The latitude is NaN, infinite or outside −90…90.
    #[error("latitude {0} is not a number from -90 to 90 degrees")]
    Latitude(f64),
    /// The longitude is NaN or infinite.
    #[error("longitude {0} is not a finite number of degrees")]
    Longitude(f64),
    /// The vector is zero or not finite, so it has no direction.
    #[error("the vector ({0}, {1}, {2}) has no direction: give finite numbers, not all zero")]
    Direction(f64, f64, f64),
    /// The spherical-harmonic degree is out of range.
    #[error("degree {0} is out of range: choose L from 1 to {max}", max = crate::sphere::Degree::MAX.get())]
    Degree(usize),
    /// The number of coefficients is not (L+1)² for any supported L.
    #[error("{0} coefficients are not (L+1)² for any L from 1 to {max} (L=23 has 576, L=47 has 2304)", max = crate::sphere::Degree::MAX.get())]
    Dimension(usize),
    /// Two slices that belong together differ in length.
    #[error("{what}: expected {expected} values, got {got}")]
    Length { what: &'static str, expected: usize, got: usize },
    /// A grid was asked for with a size that it cannot have.
    #[error("a {grid} grid cannot have size {size}: {remedy}")]
    GridSize { grid: &'static str, size: usize, remedy: &'static str },
}

/// Checks that a slice has the length it must have.
pub(crate) fn expect_len(what: &'static str, got: usize, expected: usize) -> Result<(), SphereError> {
    if got == expected { Ok(()) } else { Err(SphereError::Length { what, expected, got }) }
}
