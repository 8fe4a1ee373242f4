//! What is opened.

use crate::names::{device, is_default, named, optional_name};
use locdiff_base::named;
use locdiff_nn::{DeviceSpec, Precision};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is opened: model, encoder, device, precision, gallery. The default is the bundled model and encoder, on the best device.
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
    /// Folder of a model, or its name in the data folder. `None` is the bundled one.
    pub model: Option<PathBuf>,
    /// Folder of an encoder, or its name in the data folder. `None` is the bundled one, or the one that the model names.
    pub encoder: Option<PathBuf>,
    /// Where the model and the encoder run: `auto`, `cpu`, `cuda` or `cuda:N`.
    #[serde(with = "device", skip_serializing_if = "is_default")]
    pub device: DeviceSpec,
    /// The arithmetic of products. `None` is the device's own; [`Precision::Int8`] makes transformer encoders faster on the CPU.
    #[serde(with = "optional_name", skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// A gallery that is combined with the model: a folder, or with `geoclip` a file of locations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gallery: Option<PathBuf>,
    /// GeoCLIP's folder, if the gallery's vectors are GeoCLIP's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geoclip: Option<PathBuf>,
    /// What the gallery does: see [`GalleryRule`].
    #[serde(with = "named", skip_serializing_if = "is_default")]
    pub gallery_rule: GalleryRule,
    /// Changes to the rules `hybrid` and `paper`.
    #[serde(skip_serializing_if = "is_default")]
    pub hybrid: HybridChanges,
    /// Opens no encoder: the locator takes embeddings, not photos.
    #[serde(skip)]
    pub without_encoder: bool,
}

impl LocatorOptions {
    /// Whether the gallery's rule makes samples for every answer.
    pub fn makes_samples(&self) -> bool {
        self.gallery.is_some() && self.gallery_rule != GalleryRule::Mix
    }
}

named! {
    /// What a gallery does for an answer: [`LocatorOptions::gallery_rule`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum GalleryRule: "gallery rule" {
        #[default]
        Mix = "mix", "one density of the model and the gallery (LocDiff+kNN)";
        /// It settles the place near the samples, by density times retrieval: LocDiff-H.
        Hybrid = "hybrid", "retrieval near the samples, times the model's density (LocDiff-H)";
        Paper = "paper", "the best match near a sample: LocDiff-H as the paper has it";
    }
}

/// Changes to LocDiff-H, in [`LocatorOptions::hybrid`]. What is absent is the rule's own.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct HybridChanges {
    /// Candidates lie around the model's answer, not around every sample.
    pub around_answer: bool,
    /// Candidates lie within this distance.
    pub radius_km: Option<f64>,
    /// Temperature of the softmax over cosines.
    pub temperature: Option<f64>,
    /// Weight of the model's log density.
    pub weight: Option<f64>,
    /// Below this share of probability around the best candidate the model's own answer stands.
    pub confidence: Option<f64>,
}
