//! What can be wrong with a coefficient vector or a question about it.

use crate::sphere::SphereError;
use thiserror::Error;

/// Reason why a coefficient vector or an argument cannot be used.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
pub enum ShddError {
    #[error(transparent)]
    Sphere(#[from] SphereError),
    #[error("coefficient {index} is {value}: every coefficient must be a finite number")]
    NotFinite { index: usize, value: f64 },
    #[error("coefficient {index} is {value:e}: coefficients beyond ±1e9 are not supported")]
    TooLarge { index: usize, value: f64 },
    #[error("the vector has degree {got} but the codec has degree {expected}: use a codec of the vector's degree")]
    DegreeMismatch { expected: usize, got: usize },
    #[error("probability {0} is not between 0 and 1 (exclusive)")]
    Probability(f64),
    #[error("radius {0} is not a positive number")]
    Radius(f64),
    #[error("the coefficient vector is zero, so it has no direction for the cosine distance")]
    ZeroVector,
}

/// A result whose error is [`ShddError`].
pub(crate) type Result<T, E = ShddError> = std::result::Result<T, E>;
