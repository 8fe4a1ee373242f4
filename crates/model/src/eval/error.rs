//! What can be wrong with what is to be evaluated.

/// Lists that do not fit together, a setting out of range, or a failure below.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields, the types what is passed on")]
#[non_exhaustive]
pub enum EvalError {
    #[error("{what}: {got} given for {expected} photos: give one per photo")]
    Length { what: &'static str, expected: usize, got: usize },
    #[error(transparent)]
    Setting(#[from] locdiff_base::BadSetting),
    #[error(transparent)]
    Codec(#[from] locdiff_shdd::ShddError),
}

pub(crate) type Result<T, E = EvalError> = std::result::Result<T, E>;

pub(crate) fn expect_len(what: &'static str, got: usize, expected: usize) -> Result<()> {
    if got == expected { Ok(()) } else { Err(EvalError::Length { what, expected, got }) }
}
