//! What can go wrong in diffusion.

use locdiff_base::BadSetting;
use locdiff_nn::NnError;

/// A setting out of range, or a failure of the engine below.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the errors passed on are named by their types")]
#[non_exhaustive]
pub enum DiffusionError {
    #[error(transparent)]
    Setting(#[from] BadSetting),
    #[error(transparent)]
    Engine(#[from] NnError),
}
