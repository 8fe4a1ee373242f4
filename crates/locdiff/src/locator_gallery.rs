//! A locator with a gallery beside its model.

use crate::gallery_use::{GalleryUse, PhotoNames};
use crate::geoclip_model::GeoClipModel;
use crate::hybrid::{Hybrid, check_embeddings, open_retriever};
use crate::{GalleryRule, HybridChanges, LocateError, Locator};
use locdiff_model::answer::{GalleryMix, Reader};
use locdiff_base::Named;
use locdiff_retrieval::gallery::{HybridRule, Retriever};
use locdiff_nn::Device;
use locdiff_vision::Encoder;
use std::path::Path;

impl Locator {
    /// The same with the gallery in files, used by a rule.
    pub(crate) fn with_gallery_files(
        mut self,
        (gallery, geoclip): (&Path, Option<&Path>),
        (rule, changes): (GalleryRule, &HybridChanges),
        device: &Device,
        mut progress: impl FnMut(usize),
    ) -> Result<Self, LocateError> {
        if self.places.is_some() && rule != GalleryRule::Mix {
            let remedy = "GeoCLIP has no samples to retrieve near: let the gallery mix";
            return Err(locdiff_base::setting("gallery rule", rule.name(), remedy));
        }
        let retriever = open_retriever(gallery, geoclip, device, |done, _| progress(done))?;
        let names = PhotoNames::of(gallery)?;
        let rule = match rule {
            GalleryRule::Mix => return self.with_mix(retriever, names),
            GalleryRule::Hybrid => HybridRule::Fused,
            GalleryRule::Paper => HybridRule::Paper,
        };
        let hybrid = Hybrid::new(retriever, changes.apply(rule)?);
        self.gallery = Some(GalleryUse::Settle { hybrid, names });
        Ok(self)
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
        check_embeddings("the model", columns, self.model().config().encoder.as_ref(), retriever.as_ref())?;
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
