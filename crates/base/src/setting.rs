//! The one error for a setting that is out of range.

use std::fmt::Display;

/// A setting with a value that cannot be used: its name, the value, and what would be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} = {value} cannot be used: {remedy}")]
pub struct BadSetting {
    /// The setting's name.
    pub what: &'static str,
    /// The value met.
    pub value: String,
    /// What would be accepted.
    pub remedy: String,
}

impl BadSetting {
    /// The error for one setting.
    pub fn new(what: &'static str, value: impl Display, remedy: impl Into<String>) -> Self {
        Self { what, value: value.to_string(), remedy: remedy.into() }
    }
}

/// [`BadSetting::new`] as the error type of the crate that found it, for `return Err(setting(…))`.
///
/// ```
/// use locdiff_base::{BadSetting, setting};
///
/// #[derive(Debug, thiserror::Error)]
/// enum MyError {
///     #[error(transparent)]
///     Setting(#[from] BadSetting),
/// }
///
/// fn check(samples: usize) -> Result<(), MyError> {
///     if samples == 0 { Err(setting("samples", samples, "at least 1")) } else { Ok(()) }
/// }
/// assert_eq!(check(0).unwrap_err().to_string(), "samples = 0 cannot be used: at least 1");
/// ```
pub fn setting<E: From<BadSetting>>(what: &'static str, value: impl Display, remedy: impl Into<String>) -> E {
    BadSetting::new(what, value, remedy).into()
}

/// Returns an error unless a condition holds, like `assert!`.
///
/// ```
/// fn check(samples: usize) -> Result<(), String> {
///     locdiff_base::ensure!(samples > 0, "at least 1".to_owned());
///     Ok(())
/// }
/// assert!(check(0).is_err() && check(1).is_ok());
/// ```
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $error:expr) => {
        if !$condition {
            return Err($error);
        }
    };
}
