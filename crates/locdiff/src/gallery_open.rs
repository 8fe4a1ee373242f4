//! A locator with a gallery, or with GeoCLIP's places.

use crate::{GalleryRule, HybridChanges, Locator, LocatorOptions, error::Result, gallery_use::GalleryUse};
use crate::{geoclip_model::GeoClipModel, hybrid::Hybrid, hybrid::open_retriever};
use locdiff_base::{Named, setting};
use locdiff_io::data::TableReader;
use locdiff_model::answer::{GalleryMix, Reader};
use locdiff_nn::Device;
use locdiff_retrieval::gallery::{PHOTO_LIST, Retriever};
use locdiff_vision::Encoder;
use std::path::Path;

/// Returns the names of a gallery's photos, if its folder has a list of them.
fn photo_names(gallery: &Path) -> Result<Vec<String>> {
    let (list, mut names) = (gallery.join(PHOTO_LIST), Vec::new());
    if !list.is_file() {
        return Ok(names);
    }
    let mut table = TableReader::open(&list)?;
    let at = table.column(&["path"])?;
    while let Some((_, mut fields)) = table.next_row()? {
        names.push(fields.swap_remove(at));
    }
    Ok(names)
}

impl Locator {
    pub(crate) fn with_gallery_of(
        mut self,
        options: &LocatorOptions,
        device: &Device,
        mut progress: impl FnMut(usize),
    ) -> Result<Self> {
        let rule = options.gallery_rule;
        let Some(gallery) = &options.gallery else {
            if options.geoclip.is_none() && rule == GalleryRule::Mix {
                return Ok(self);
            }
            return Err(setting("gallery", "none", "its rule or GeoCLIP's folder is given: name one"));
        };
        if rule == GalleryRule::Mix && options.hybrid != HybridChanges::default() {
            return Err(setting("hybrid", "with the rule mix", "it changes the rules hybrid and paper: leave it out"));
        }
        if self.places.is_some() && rule != GalleryRule::Mix {
            let remedy = "GeoCLIP has no samples to retrieve near: let the gallery mix";
            return Err(setting("gallery rule", rule.name(), remedy));
        }
        let names = photo_names(gallery)?;
        if let Some(hybrid) = options.open_hybrid(device, &mut progress)? {
            self.gallery = Some(GalleryUse::Settle { hybrid, names });
            return Ok(self);
        }
        self.with_mix(open_retriever(gallery, options.geoclip.as_deref(), device, progress)?, names)
    }

    /// Adds a gallery: answers come from a mixture of both densities (LocDiff+kNN). The calibration gives the gallery's weight; without one it is
    /// cautious. Fails if the gallery is of another encoder.
    pub fn with_gallery(self, gallery: Box<dyn Retriever>) -> Result<Self> {
        self.with_mix(gallery, Vec::new())
    }

    fn with_mix(mut self, retriever: Box<dyn Retriever>, names: Vec<String>) -> Result<Self> {
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
    pub(crate) fn of_geoclip(opened: GeoClipModel, encoder: Option<Encoder>) -> Result<Self> {
        let GeoClipModel { model, calibration, places } = opened;
        let mut locator = Self::new(model, Some(calibration), encoder)?;
        locator.places = Some(places);
        Ok(locator)
    }

    /// Returns LocDiff-H, if the gallery's rule uses it.
    pub fn hybrid(&self) -> Option<&Hybrid> {
        if let Some(GalleryUse::Settle { hybrid, .. }) = &self.gallery { Some(hybrid) } else { None }
    }

    /// Returns whether a gallery is used.
    pub fn has_gallery(&self) -> bool {
        self.gallery.is_some()
    }
}
