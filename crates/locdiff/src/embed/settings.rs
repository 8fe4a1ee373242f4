//! What a run makes of each photo, and what came of it.

use locdiff_io::data::Dtype;
use locdiff_vision::{Augmentation, PhotoLimits};

/// What is made of each photo. See [`EmbedRun`](super::EmbedRun).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EmbedSettings {
    /// Other views of each photo that are embedded too.
    pub augment: u32,
    /// What the other views are.
    pub augmentation: Augmentation,
    /// Seed of the other views.
    pub seed: u64,
    /// Leave out photos without a location.
    pub require_place: bool,
    /// Number type of the embeddings' file.
    pub dtype: Dtype,
    /// Pictures that the encoder takes at a time, other views counted.
    pub batch: u32,
    /// The most that a photo may ask for.
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

/// How far a run is, and what its files hold in the end. See [`EmbedRun::run`](super::EmbedRun::run).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbedCounts {
    /// Photos finished by an earlier run that was cut off.
    pub resumed: usize,
    /// Photos finished.
    pub done: usize,
    /// Photos read: those that are finished, and some that wait for the encoder.
    pub read: usize,
    /// Photos embedded. This and the following are 0 until the files are written.
    pub rows: usize,
    /// Photos that could not be read.
    pub bad: usize,
    /// Photos left out for want of a location.
    pub left_out: usize,
    /// Photos embedded without a location.
    pub without_place: usize,
}
