//! What a job makes of its photos. All of it stands in the job, so that every runner makes the same.

use crate::Result;
use locdiff::{LocateOptions, PhotoLimits, Region, SampleOptions};
use locdiff_base::Named;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is made of the photos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Answers: where each photo was taken.
    #[default]
    Locate,
    /// Embeddings of the photos.
    Embed,
}

impl Named for Task {
    const WHAT: &'static str = "task";
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Locate, "locate", "where each photo was taken: the answers of `locate`"),
        (Self::Embed, "embed", "the photos as embeddings: the rows of `embed`"),
    ];
}

/// How it is made. Folders and files are those of the machine that runs a shard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Folder of a model; `None` is the bundled one.
    pub model: Option<PathBuf>,
    /// Folder of an encoder; `None` is the bundled one.
    pub encoder: Option<PathBuf>,
    /// Views of each photo.
    pub views: usize,
    /// Draws of noise.
    pub samples: usize,
    /// Classifier-free guidance.
    pub guidance: f32,
    /// Seed of noise and views.
    pub seed: u64,
    /// The most places to list.
    pub hypotheses: usize,
    /// The radius of the window; `None` is the calibration's.
    pub window_km: Option<f64>,
    /// Regions, in one of which it must be.
    pub within: Vec<String>,
    /// The most pixels that a photo may have.
    pub max_pixels: u64,
}

impl Default for Settings {
    fn default() -> Self {
        let SampleOptions { samples, guidance, seed, .. } = SampleOptions::default();
        Self {
            model: None,
            encoder: None,
            views: 1,
            samples,
            guidance,
            seed,
            hypotheses: 5,
            window_km: None,
            within: Vec::new(),
            max_pixels: PhotoLimits::default().max_pixels,
        }
    }
}

impl Settings {
    /// The settings as a locator takes them.
    ///
    /// # Errors
    /// Regions that are not known.
    pub fn options(&self) -> Result<LocateOptions> {
        let Self { samples, guidance, seed, .. } = *self;
        let sampling = SampleOptions { samples, guidance, seed, ..SampleOptions::default() };
        let regions: std::result::Result<Vec<Region>, _> =
            self.within.iter().map(|text| Region::parse(text)).collect();
        let options = LocateOptions::default()
            .with_sampling(sampling)
            .with_views(self.views)
            .with_hypotheses(self.hypotheses)
            .with_window_km(self.window_km)
            .with_regions(&regions.map_err(locdiff::LocateError::from)?);
        options.check()?;
        Ok(options)
    }

    /// The most that a photo may ask for.
    pub fn limits(&self) -> PhotoLimits {
        let usual = PhotoLimits::default();
        // RGBA of 16 bits; the file's own bytes are bounded by the same number.
        PhotoLimits {
            max_pixels: self.max_pixels,
            max_bytes: usual.max_bytes.max(self.max_pixels.saturating_mul(8)),
        }
    }
}
