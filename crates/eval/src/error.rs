//! What can be wrong with what is to be evaluated.

/// Lists that do not fit together, a setting out of range, or a failure below.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// Two lists that belong together differ in length.
    #[error("{what}: {got} given for {expected} photos: give one a photo")]
    Length {
        /// Which list.
        what: &'static str,
        /// The length that fits.
        expected: usize,
        /// The length that came.
        got: usize,
    },
    /// A setting outside its range.
    #[error("{what} = {value} cannot be used: {remedy}")]
    Setting {
        /// The setting's name.
        what: &'static str,
        /// The value met.
        value: String,
        /// What would be accepted.
        remedy: &'static str,
    },
    /// A failure of the codec.
    #[error(transparent)]
    Codec(#[from] locdiff_shdd::ShddError),
}

/// Checks that a list has one entry a photo.
pub(crate) fn expect_len(what: &'static str, got: usize, expected: usize) -> Result<(), EvalError> {
    if got == expected { Ok(()) } else { Err(EvalError::Length { what, expected, got }) }
}

pub(crate) fn setting(what: &'static str, value: impl std::fmt::Display, remedy: &'static str) -> EvalError {
    EvalError::Setting { what, value: value.to_string(), remedy }
}
