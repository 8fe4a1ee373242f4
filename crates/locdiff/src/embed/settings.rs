//! What a run makes of each photo, what it writes, and what came of it.

use locdiff_io::data::Dtype;
use locdiff_vision::{Augmentation, PhotoLimits};
use std::fmt;

/// What is made of each photo.
#[derive(Debug, Clone)]
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
        Self {
            augment: 0,
            augmentation: Augmentation::default(),
            seed: 0,
            require_place: false,
            dtype: Dtype::F32,
            batch: 32,
            limits: PhotoLimits::default(),
        }
    }
}

impl EmbedSettings {
    /// Photos of a batch: those whose views are as many pictures as were asked for.
    pub(crate) fn photos_per_batch(&self) -> usize {
        (self.batch / (self.augment + 1)).max(1) as usize
    }

    /// The names of the tensors, in their order.
    pub(crate) fn tensors(&self) -> Vec<String> {
        let copies = (1..=self.augment).map(|k| format!("augmented_{k}"));
        std::iter::once("embeddings".to_owned()).chain(copies).collect()
    }
}

/// What the files hold in the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbedCounts {
    /// Photos embedded.
    pub rows: usize,
    /// Photos that could not be read.
    pub bad: usize,
    /// Photos left out for want of a location.
    pub left_out: usize,
    /// Photos embedded without a location.
    pub without_place: usize,
}

/// One of the files of [`EmbedFiles`](super::EmbedFiles).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedOutput {
    /// The embeddings.
    Embeddings,
    /// The table of locations.
    Locations,
    /// The list of photos that could not be used.
    Bad,
}

impl fmt::Display for EmbedOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Embeddings => "the embeddings",
            Self::Locations => "the locations",
            Self::Bad => "the list of bad photos",
        })
    }
}
