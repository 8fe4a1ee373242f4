//! The tables beside embeddings: where each photo was taken, and the photos that could not be used.

use super::EmbedCounts;
use locdiff_io::data::{DataError, TableWriter};
use locdiff_shdd::sphere::LatLon;
use locdiff_vision::sources::PlaceSource;
use std::path::Path;

/// Both tables of a run while they are written; they appear when they are finished.
pub struct EmbedTables {
    counts: EmbedCounts,
    bad: TableWriter,
    locations: TableWriter,
    always_list_bad: bool,
}

impl EmbedTables {
    /// Begins them.
    ///
    /// # Errors
    /// Files that cannot be created.
    pub fn create(locations: &Path, bad: &Path, always_list_bad: bool) -> Result<Self, DataError> {
        Ok(Self {
            counts: EmbedCounts::default(),
            locations: TableWriter::create(locations, &["row", "path", "lat", "lon", "source"])?,
            // An empty list is written where it was asked for, or would else leave an old one standing.
            always_list_bad: always_list_bad || bad.exists(),
            bad: TableWriter::create(bad, &["path", "reason"])?,
        })
    }

    /// A photo that has a row of embeddings.
    ///
    /// # Errors
    /// A full disk.
    pub fn embedded(&mut self, photo: &str, place: Option<(LatLon, PlaceSource)>) -> Result<(), DataError> {
        self.counts.rows += 1;
        let row = self.counts.rows.to_string();
        if let Some((place, source)) = place {
            let (lat, lon) = (place.lat_deg().to_string(), place.lon_deg().to_string());
            self.locations.write(&[&row, photo, &lat, &lon, source.name()])?;
        } else {
            self.counts.without_place += 1;
            self.locations.write(&[&row, photo, "", "", ""])?;
        }
        Ok(())
    }

    /// A photo that could not be read, and why.
    ///
    /// # Errors
    /// A full disk.
    pub fn bad(&mut self, photo: &str, reason: &str) -> Result<(), DataError> {
        self.counts.bad += 1;
        self.bad.write(&[photo, reason])
    }

    /// A photo that was left out for want of a location.
    ///
    /// # Errors
    /// A full disk.
    pub fn left_out(&mut self, photo: &str) -> Result<(), DataError> {
        self.counts.left_out += 1;
        self.bad.write(&[photo, "it has no location, and a location was required"])
    }

    /// What they hold so far.
    pub fn counts(&self) -> EmbedCounts {
        self.counts
    }

    /// Completes them: the list of bad photos where there are any, the locations where there are rows.
    ///
    /// # Errors
    /// A full disk.
    pub fn finish(self) -> Result<(), DataError> {
        if self.counts.bad + self.counts.left_out > 0 || self.always_list_bad {
            self.bad.finish()?;
        }
        if self.counts.rows > 0 {
            self.locations.finish()?;
        }
        Ok(())
    }
}
