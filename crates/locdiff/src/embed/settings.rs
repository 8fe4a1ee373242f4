//! Settings and counts of a run, and the tables that belong to embeddings.

use locdiff_io::data::{DataError, Dtype, TableWriter};
use locdiff_shdd::sphere::LatLon;
use locdiff_vision::{Augmentation, PhotoLimits, sources::PlaceSource};
use std::path::Path;

/// Settings of an [`EmbedRun`](super::EmbedRun).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EmbedSettings {
    /// Number of other views of each photo that are embedded too.
    pub augment: u32,
    /// Crops and colours of the other views.
    pub augmentation: Augmentation,
    /// Seed of the other views.
    pub seed: u64,
    /// Whether to leave out photos without a location.
    pub require_place: bool,
    /// Number type of the embeddings' file.
    pub dtype: Dtype,
    /// Pictures per batch of the encoder, including other views.
    pub batch: u32,
    /// Limits of a photo's size.
    pub limits: PhotoLimits,
}

impl Default for EmbedSettings {
    /// No other views, photos without a location too, f32, 32 pictures at a time.
    fn default() -> Self {
        let (augmentation, limits) = (Augmentation::default(), PhotoLimits::default());
        Self { augment: 0, augmentation, seed: 0, require_place: false, dtype: Dtype::F32, batch: 32, limits }
    }
}

impl EmbedSettings {
    /// Photos of a batch: those whose views are as many pictures as were asked for.
    pub(crate) fn photos_per_batch(&self) -> usize {
        (self.batch / (self.augment + 1)).max(1) as usize
    }

    pub(crate) fn tensors(&self) -> Vec<String> {
        let copies = (1..=self.augment).map(|k| format!("augmented_{k}"));
        std::iter::once("embeddings".to_owned()).chain(copies).collect()
    }
}

/// Counts of photos during and after [`EmbedRun::run`](super::EmbedRun::run).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbedCounts {
    /// Photos finished by an earlier, interrupted run.
    pub resumed: usize,
    /// Photos finished.
    pub done: usize,
    /// Photos read: those that are finished, and some that wait for the encoder.
    pub read: usize,
    /// Photos embedded. This and the following are 0 until the files are written.
    pub rows: usize,
    /// Photos that cannot be read.
    pub bad: usize,
    /// Photos left out because they have no location.
    pub left_out: usize,
    /// Photos embedded without a location.
    pub without_place: usize,
}

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

    /// Completes the tables: the list of bad photos if there are any, the locations if there are rows.
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
