//! Suggestions in a file, each with whether it is to be written.

use crate::immich::{ImmichError, Result, asset::is_id};
use locdiff_base::AtomicFile;
use locdiff_shdd::sphere::LatLon;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Far more than any library has.
const MOST_BYTES: u64 = 1 << 30;

/// A place for a photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Suggestion {
    /// The photo's number.
    pub asset: String,
    /// Its file's name.
    pub name: String,
    /// When it was taken.
    pub time: String,
    /// Where.
    #[serde(flatten)]
    pub at: LatLon,
    /// That in words.
    pub place: String,
    /// Half of all such photos were taken within this distance.
    pub radius_50_km: f64,
    /// Nine in ten.
    pub radius_90_km: f64,
    /// Why.
    pub because: String,
    /// What does not fit, in words.
    pub warning: Option<String>,
    /// Whether it is to be written.
    pub take: bool,
    /// Whether the rule would have it written; said once somebody has looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sure: Option<bool>,
    /// Where somebody says that it was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<Corrected>,
}

/// A place that somebody gave.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Corrected {
    /// Where.
    #[serde(flatten)]
    pub at: LatLon,
}

impl Suggestion {
    /// The place that is written: as somebody says, else as it was suggested.
    pub fn place_to_write(&self) -> LatLon {
        self.corrected.map_or(self.at, |corrected| corrected.at)
    }
}

/// All of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Suggestions {
    /// The server's address.
    pub server: String,
    /// One for each photo without a place.
    pub suggestions: Vec<Suggestion>,
}

impl Suggestions {
    /// Reads a file, which must be about this server.
    ///
    /// # Errors
    /// A file that is none, or of another server.
    pub fn read(file: &Path, server: &str) -> Result<Self> {
        let failed = |reason: String| ImmichError::File { file: file.to_owned(), reason };
        let text = locdiff_base::read_text_bounded(file, MOST_BYTES)
            .map_err(|error| failed(format!("{error}; `suggest` makes one")))?;
        let read: Self = serde_json::from_str(&text)
            .map_err(|error| failed(format!("it holds no suggestions ({error}); `suggest` makes them")))?;
        if let Some(odd) = read.suggestions.iter().find(|one| !is_id(&one.asset)) {
            return Err(failed(format!("'{}' is no number of a photo", locdiff_base::excerpt(&odd.asset))));
        }
        if read.server != server {
            let (theirs, ours) = (read.server, server.to_owned());
            return Err(ImmichError::OtherServer { file: file.to_owned(), theirs, ours });
        }
        Ok(read)
    }

    /// Writes them, whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        Ok(AtomicFile::write_whole(file, &text)?)
    }

    /// How many are to be written.
    pub fn taken(&self) -> usize {
        self.suggestions.iter().filter(|one| one.take).count()
    }
}
