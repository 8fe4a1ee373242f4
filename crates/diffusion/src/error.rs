//! What can go wrong in diffusion.

use locdiff_base::BadSetting;
use locdiff_nn::NnError;

/// A setting out of range, or a failure of the engine below.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiffusionError {
    /// A setting outside its range.
    #[error(transparent)]
    Setting(#[from] BadSetting),
    /// A failure of the engine.
    #[error(transparent)]
    Engine(#[from] NnError),
}
