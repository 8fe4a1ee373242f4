//! The tables beside embeddings: where each photo was taken, and the photos that could not be used.

use super::EmbedCounts;
use locdiff_io::data::{DataError, TableWriter};
use locdiff_shdd::sphere::LatLon;
use locdiff_vision::sources::PlaceSource;
use std::path::Path;

/// Both tables of a run while they are written; they appear when they are finished.
pub(crate) struct EmbedTables {
    pub(crate) counts: EmbedCounts,
    bad: TableWriter,
    locations: TableWriter,
    always_list_bad: bool,
}

impl EmbedTables {
    pub(crate) fn create(locations: &Path, bad: &Path, always_list_bad: bool) -> Result<Self, DataError> {
        Ok(Self {
            counts: EmbedCounts::default(),
            locations: TableWriter::create(locations, &["row", "path", "lat", "lon", "source"])?,
            // An empty list is written where it was asked for, or would else leave an old one standing.
            always_list_bad: always_list_bad || bad.exists(),
            bad: TableWriter::create(bad, &["path", "reason"])?,
        })
    }

    pub(crate) fn embedded(&mut self, photo: &str, place: Option<(LatLon, PlaceSource)>) -> Result<(), DataError> {
        self.counts.rows += 1;
        self.counts.without_place += usize::from(place.is_none());
        let row = self.counts.rows.to_string();
        let [lat, lon] =
            place.map_or_else(Default::default, |(at, _)| [at.lat_deg(), at.lon_deg()].map(|n| n.to_string()));
        self.locations.write(&[&row, photo, &lat, &lon, place.map_or("", |(_, source)| source.name())])
    }

    pub(crate) fn bad(&mut self, photo: &str, reason: &str) -> Result<(), DataError> {
        self.counts.bad += 1;
        self.bad.write(&[photo, reason])
    }

    pub(crate) fn left_out(&mut self, photo: &str) -> Result<(), DataError> {
        self.counts.left_out += 1;
        self.bad.write(&[photo, "it has no location, and a location was required"])
    }

    /// Completes them: the list of bad photos where there are any, the locations where there are rows.
    pub(crate) fn finish(self) -> Result<(), DataError> {
        if self.counts.bad + self.counts.left_out > 0 || self.always_list_bad {
            self.bad.finish()?;
        }
        if self.counts.rows > 0 {
            self.locations.finish()?;
        }
        Ok(())
    }
}
