//! What was written, so that it can be undone.

use crate::immich::ImmichError;
use locdiff_base::JournalError;
use locdiff_shdd::sphere::LatLon;
use serde::{Deserialize, Serialize};

/// An entry: a photo and the place that it was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The server.
    pub server: String,
    /// The photo's number.
    pub asset: String,
    /// The place.
    #[serde(flatten)]
    pub at: LatLon,
}

/// The places that were written; an entry precedes its request.
pub type Journal = locdiff_base::Journal<Written>;

impl From<JournalError> for ImmichError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Unusable { file, reason } => {
                Self::File { file, reason: format!("{reason}; give the journal that `apply` named") }
            }
            JournalError::Write(error) => Self::Write(error),
        }
    }
}
