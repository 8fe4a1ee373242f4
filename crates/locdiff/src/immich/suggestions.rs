//! Suggestions in a file, each with whether it is to be written.

use crate::{immich::ImmichError, immich::Result, immich::client::Asset, immich::client::is_id};
use locdiff_album::{KnownPlace, WrongClock};
use locdiff_base::AtomicFile;
use locdiff_shdd::sphere::LatLon;
use serde::{Deserialize, Serialize};
use std::path::Path;

const MOST_BYTES: u64 = 1 << 30;

/// A suggested location of a photo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Suggestion {
    /// Id of the photo.
    pub asset: String,
    pub(crate) name: String,
    pub(crate) time: String,
    #[serde(flatten)]
    pub(crate) at: LatLon,
    pub(crate) place: String,
    pub(crate) radius_50_km: f64,
    pub(crate) radius_90_km: f64,
    pub(crate) because: String,
    pub(crate) warning: Option<String>,
    /// Whether it is to be written.
    pub take: bool,
    /// Whether the rule would have it written; stated once somebody has reviewed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sure: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) corrected: Option<Corrected>,
}

/// The place that a review found: by hand, or by what somebody placed by hand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Corrected {
    #[serde(flatten)]
    pub(crate) at: LatLon,
}

impl Suggestion {
    /// Returns the location to write: the reviewed one, otherwise the suggested one.
    pub fn place_to_write(&self) -> LatLon {
        self.corrected.map_or(self.at, |corrected| corrected.at)
    }
}

/// A located trip, so that a review can locate its photos again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SuggestedTrip {
    pub(crate) photos: Vec<Asset>,
    /// Places of photos next to it.
    pub(crate) known: Vec<KnownPlace>,
    /// Clocks that were set.
    pub(crate) clocks: Vec<WrongClock>,
}

/// Suggestions for a server's photos, in a file. [`Immich::apply`](crate::immich::Immich::apply) writes those that are accepted.
///
/// ```
/// use locdiff::immich::Suggestions;
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("suggestions.json");
/// Suggestions::new("https://photos.example", Vec::new(), Vec::new()).write(&file)?;
/// assert_eq!(Suggestions::read(&file, "https://photos.example")?.suggestions.len(), 0);
/// assert!(Suggestions::read(&file, "https://elsewhere.example").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Suggestions {
    /// The server's address.
    pub server: String,
    /// One suggestion for each photo without a location.
    pub suggestions: Vec<Suggestion>,
    /// Their trips. Files of earlier versions have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) trips: Vec<SuggestedTrip>,
}

impl Suggestions {
    /// Collects suggestions for a server, and their trips.
    pub fn new(server: &str, suggestions: Vec<Suggestion>, trips: Vec<SuggestedTrip>) -> Self {
        Self { server: server.to_owned(), suggestions, trips }
    }

    /// Reads a file of suggestions. Fails if it cannot be read, or is about another server.
    pub fn read(file: &Path, server: &str) -> Result<Self> {
        let failed = |reason: String| ImmichError::File { file: file.to_owned(), reason };
        let text = locdiff_base::read_text_bounded(file, MOST_BYTES)
            .map_err(|error| failed(format!("{error}; `suggest` makes one")))?;
        let read: Self = serde_json::from_str(&text)
            .map_err(|error| failed(format!("it holds no suggestions ({error}); `suggest` makes them")))?;
        let photos = read.trips.iter().flat_map(|trip| &trip.photos).map(|asset| &asset.id);
        if let Some(odd) = read.suggestions.iter().map(|one| &one.asset).chain(photos).find(|id| !is_id(id)) {
            return Err(failed(format!("'{}' is not an id of a photo", locdiff_base::excerpt(odd))));
        }
        if read.server != server {
            let (theirs, ours) = (read.server, server.to_owned());
            return Err(ImmichError::OtherServer { file: file.to_owned(), theirs, ours });
        }
        Ok(read)
    }

    /// Writes the file, whole or not at all. Fails if it cannot be written.
    pub fn write(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        Ok(AtomicFile::write_whole(file, &text)?)
    }

    /// Returns the number of accepted suggestions.
    pub fn taken(&self) -> usize {
        self.suggestions.iter().filter(|one| one.take).count()
    }
}
