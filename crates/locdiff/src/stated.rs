//! What somebody knows of an album.

use serde::{Deserialize, Serialize};

/// Where somebody says that photos of a time were taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedPlace {
    /// A town ("Kyoto", "Paris, France"), a country, or a region as [`crate::LocateOptions::within`] has it.
    #[serde(alias = "name")]
    pub place: String,
    /// From when on, as EXIF or ISO 8601 has times; local where it has no offset. `None` is from the first photo on.
    #[serde(default)]
    pub from: Option<String>,
    /// Until when; a day is until its end. `None` is to the last photo.
    #[serde(default)]
    pub to: Option<String>,
}
