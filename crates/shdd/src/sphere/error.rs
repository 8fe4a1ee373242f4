//! What can be wrong with a place or a degree.

use thiserror::Error;

/// A value that does not name a point on the sphere, or a degree that is not supported.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum SphereError {
    #[error("latitude {0} is not a number from -90 to 90 degrees")]
    Latitude(f64),
    #[error("longitude {0} is not a number of degrees: give one from -180 to 180")]
    Longitude(f64),
    #[error("the vector ({0}, {1}, {2}) has no direction: give finite numbers, not all zero")]
    Direction(f64, f64, f64),
    #[error("degree {0} is out of range: choose L from 1 to {max}", max = crate::sphere::Degree::MAX.get())]
    Degree(usize),
    #[error("{0} coefficients are not (L+1)² for any L from 1 to {max} (L=23 has 576, L=47 has 2304)", max = crate::sphere::Degree::MAX.get())]
    Dimension(usize),
    #[error("{what}: expected {expected} values, got {got}")]
    Length { what: &'static str, expected: usize, got: usize },
    #[error("a {grid} grid cannot have size {size}: {remedy}")]
    GridSize { grid: &'static str, size: usize, remedy: &'static str },
}

/// Checks that a slice has the length it must have.
pub(crate) fn expect_len(what: &'static str, got: usize, expected: usize) -> Result<(), SphereError> {
    if got == expected { Ok(()) } else { Err(SphereError::Length { what, expected, got }) }
}
