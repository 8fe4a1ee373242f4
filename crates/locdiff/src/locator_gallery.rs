//! A locator with a gallery beside its model.

use crate::gallery_use::{GalleryUse, PhotoNames};
use crate::geoclip_model::GeoClipModel;
use crate::hybrid::{Hybrid, open_retriever};
use crate::{GalleryRule, HybridChanges, LocateError, Locator, LocatorOptions};
use locdiff_base::{Named, setting};
use locdiff_model::answer::{GalleryMix, Reader};
use locdiff_nn::Device;
use locdiff_retrieval::gallery::Retriever;
use locdiff_vision::Encoder;

impl Locator {
    /// The same with the gallery that options name.
    pub(crate) fn with_gallery_of(
        mut self,
        options: &LocatorOptions,
        device: &Device,
        mut progress: impl FnMut(usize),
    ) -> Result<Self, LocateError> {
        let rule = options.gallery_rule;
        let Some(gallery) = &options.gallery else {
            let is_idle = options.geoclip.is_none() && rule == GalleryRule::Mix;
            return if is_idle {
                Ok(self)
            } else {
                Err(setting("gallery", "none", "its rule or GeoCLIP's folder is given: name one"))
            };
        };
        if rule == GalleryRule::Mix && options.hybrid != HybridChanges::default() {
            return Err(setting("hybrid", "with the rule mix", "it changes the rules hybrid and paper: leave it out"));
        }
        if self.places.is_some() && rule != GalleryRule::Mix {
            let remedy = "GeoCLIP has no samples to retrieve near: let the gallery mix";
            return Err(setting("gallery rule", rule.name(), remedy));
        }
        let names = PhotoNames::of(gallery)?;
        if let Some(hybrid) = options.open_hybrid(device, &mut progress)? {
            self.gallery = Some(GalleryUse::Settle { hybrid, names });
            return Ok(self);
        }
        self.with_mix(open_retriever(gallery, options.geoclip.as_deref(), device, progress)?, names)
    }

    /// The same with a gallery beside the model: answers are read off a mixture of both densities (LocDiff+kNN), with the share
    /// that the calibration has for this gallery, or a cautious one where it has none.
    ///
    /// # Errors
    /// A gallery of another encoder.
    pub fn with_gallery(self, gallery: Box<dyn Retriever>) -> Result<Self, LocateError> {
        self.with_mix(gallery, PhotoNames::default())
    }

    fn with_mix(mut self, retriever: Box<dyn Retriever>, names: PhotoNames) -> Result<Self, LocateError> {
        let columns = self.model().config().embedding_dim;
        retriever.check_embeddings("the model", columns, self.model().config().encoder.as_ref())?;
        self.check_encoder(retriever.encoder())?;
        let calibration = self.reader.calibration().clone();
        let fitted = calibration.gallery.clone().filter(|mix| mix.key == retriever.identity());
        let mix = fitted.unwrap_or_else(|| GalleryMix::unfitted(retriever.temperature(), calibration.window_km));
        self.reader = Reader::new(self.reader.globe().clone(), calibration.with_gallery(mix))?;
        self.gallery = Some(GalleryUse::Mix { retriever, names });
        Ok(self)
    }

    /// A locator whose model gives places scores: GeoCLIP.
    pub(crate) fn of_geoclip(opened: GeoClipModel, encoder: Option<Encoder>) -> Result<Self, LocateError> {
        let GeoClipModel { model, calibration, places } = opened;
        let mut locator = Self::new(model, Some(calibration), encoder)?;
        locator.places = Some(places);
        Ok(locator)
    }

    /// LocDiff-H, where the gallery settles places.
    pub fn hybrid(&self) -> Option<&Hybrid> {
        match &self.gallery {
            Some(GalleryUse::Settle { hybrid, .. }) => Some(hybrid),
            _ => None,
        }
    }

    /// Whether a gallery beside the model takes part in answers.
    pub fn has_gallery(&self) -> bool {
        self.gallery.is_some()
    }
}
