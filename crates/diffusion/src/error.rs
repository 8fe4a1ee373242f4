//! What can go wrong in diffusion.

use locdiff_nn::NnError;

/// A setting out of range, or a failure of the engine below.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiffusionError {
    /// A setting outside its range.
    #[error("{what} = {value} is out of range: {remedy}")]
    Setting {
        /// The setting's name.
        what: &'static str,
        /// The value met.
        value: String,
        /// What would be accepted.
        remedy: String,
    },
    /// A failure of the engine.
    #[error(transparent)]
    Engine(#[from] NnError),
}

pub(crate) fn out_of_range(
    what: &'static str,
    value: impl std::fmt::Display,
    remedy: &str,
) -> DiffusionError {
    DiffusionError::Setting { what, value: value.to_string(), remedy: remedy.to_owned() }
}
