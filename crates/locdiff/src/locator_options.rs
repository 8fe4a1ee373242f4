//! What is opened.

use crate::names::{device, is_default, named, optional_name};
use locdiff_base::named;
use locdiff_nn::{DeviceSpec, Precision};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Options of a locator: model, encoder, device, precision, gallery. The default is the bundled model and encoder, on the best device.
///
/// ```
/// # #[cfg(feature = "bundled")] {
/// use locdiff::{DeviceSpec, Locator, LocatorOptions};
/// let mut options = LocatorOptions::default();
/// options.device = DeviceSpec::Cpu;
/// assert!(Locator::open(&options)?.encoder().is_some());
/// # }
/// # Ok::<(), locdiff::LocateError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LocatorOptions {
    /// Folder of a model, or its name in the data folder; `cs-unet` is the bundled model of the paper's network. `None` is the bundled default.
    pub model: Option<PathBuf>,
    /// Folder of an encoder, or its name in the data folder. `None` is the model's own.
    pub encoder: Option<PathBuf>,
    /// Device of the model and the encoder: `auto`, `cpu`, `cuda` or `cuda:N`.
    #[serde(with = "device", skip_serializing_if = "is_default")]
    pub device: DeviceSpec,
    /// The arithmetic of products. `None` is the device's own; [`Precision::Int8`] makes transformer encoders faster on the CPU.
    #[serde(with = "optional_name", skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// A gallery that is combined with the model: a folder, or with `geoclip` a file of locations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gallery: Option<PathBuf>,
    /// GeoCLIP's folder, if GeoCLIP made the gallery's vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geoclip: Option<PathBuf>,
    /// Rule that combines the gallery with the model.
    #[serde(with = "named", skip_serializing_if = "is_default")]
    pub gallery_rule: GalleryRule,
    /// Changes to the rules `hybrid` and `paper`.
    #[serde(skip_serializing_if = "is_default")]
    pub hybrid: HybridChanges,
    /// Whether to open no encoder: the locator then takes embeddings, not photos.
    #[serde(skip)]
    pub without_encoder: bool,
}

impl LocatorOptions {
    /// Returns whether the gallery's rule makes samples for every answer.
    pub fn makes_samples(&self) -> bool {
        self.gallery.is_some() && self.gallery_rule != GalleryRule::Mix
    }
}

named! {
    /// Rule that combines a gallery with the model, see [`LocatorOptions::gallery_rule`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum GalleryRule: "gallery rule" {
        #[default]
        Mix = "mix", "one density of the model and the gallery (LocDiff+kNN)";
        /// LocDiff-H: the location near the samples with the highest density times retrieval.
        Hybrid = "hybrid", "retrieval near the samples, times the model's density (LocDiff-H)";
        Paper = "paper", "the best match near a sample: LocDiff-H as in the paper";
    }
}

/// Changes to LocDiff-H, in [`LocatorOptions::hybrid`]. `None` keeps the rule's own value.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct HybridChanges {
    /// Whether to search around the model's answer, not around every sample.
    pub around_answer: bool,
    /// Distance to search within, in km.
    pub radius_km: Option<f64>,
    /// Temperature of the softmax over cosines.
    pub temperature: Option<f64>,
    /// Weight of the model's log density.
    pub weight: Option<f64>,
    /// Share of probability around the best candidate below which the model's own answer is kept.
    pub confidence: Option<f64>,
}
