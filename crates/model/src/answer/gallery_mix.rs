//! LocDiff+kNN: the model's density mixed with a gallery's.

use crate::answer::{KernelSettings, LEVELS, place_table::out_of_range};
use serde::{Deserialize, Serialize};

/// How a gallery's density is mixed with a model's, `q = (1 − share)·model + share·gallery`, and how the answer is then read.
///
/// ```
/// use locdiff_model::answer::GalleryMix;
/// let mix = GalleryMix::unfitted(0.05, 750.0);
/// assert!(!mix.is_fitted() && mix.share_for(1.0) < mix.share_for(0.0));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GalleryMix {
    /// The gallery that it was fitted with; empty for one that never was.
    pub key: String,
    /// How the gallery's photos become a density.
    pub kernels: KernelSettings,
    /// The gallery's share for photos of the model's kind.
    pub share: f64,
    /// The gallery's share for photos of another kind.
    #[serde(alias = "strangers_share")]
    pub out_of_domain_share: f64,
    /// As the calibration's own, for the mixed density: the window,
    pub window_km: f64,
    /// the locatability from which an answer means something,
    pub can_tell_from: f64,
    /// the radii,
    pub radius_levels: [f64; 9],
    /// and those of out of domain.
    #[serde(alias = "strangers_radius_levels")]
    pub out_of_domain_radius_levels: [f64; 9],
    /// Mean −log density at the true places that it was fitted on, nats per steradian.
    pub nll_nats: f64,
}

impl GalleryMix {
    /// A cautious mixture for a gallery that nothing was fitted with: `temperature` is the retriever's own.
    pub fn unfitted(temperature: f64, window_km: f64) -> Self {
        Self {
            key: String::new(),
            kernels: KernelSettings { neighbours: 40, temperature, width_km: 250.0 },
            share: 0.3,
            out_of_domain_share: 0.05,
            window_km,
            can_tell_from: 0.0,
            radius_levels: LEVELS,
            out_of_domain_radius_levels: LEVELS,
            nll_nats: f64::MAX,
        }
    }

    /// Whether it was fitted on photos.
    pub fn is_fitted(&self) -> bool {
        !self.key.is_empty()
    }

    /// The gallery's share for a photo that is out of domain with this probability.
    pub fn share_for(&self, ood: f64) -> f64 {
        (1.0 - ood) * self.share + ood * self.out_of_domain_share
    }

    /// What is out of range, if anything.
    pub(crate) fn fault(&self) -> Option<String> {
        let KernelSettings { neighbours, temperature, width_km } = self.kernels;
        out_of_range(&[
            ("gallery: neighbours", neighbours as f64, 1.0, 100_000.0),
            ("gallery: temperature", temperature, 1e-6, 1e6),
            ("gallery: width_km", width_km, 1.0, 20_000.0),
            ("gallery: share", self.share, 0.0, 1.0),
            ("gallery: out_of_domain_share", self.out_of_domain_share, 0.0, 1.0),
            ("gallery: window_km", self.window_km, 1.0, 20_000.0),
            ("gallery: can_tell_from", self.can_tell_from, 0.0, 1.0),
        ])
    }
}
