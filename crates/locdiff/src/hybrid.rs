//! LocDiff-H: retrieval inside the regions that diffusion proposes.

use crate::{GalleryRule, LocatorOptions, error::Result, home::found};
use locdiff_base::setting;
use locdiff_io::data::Fingerprint;
use locdiff_model::Prediction;
use locdiff_nn::Device;
use locdiff_retrieval::gallery::{Gallery, HybridAnswer, HybridOptions, HybridRule, PhotoRetriever, Retriever};
use locdiff_retrieval::gallery::{VectorType, hybrid};
use locdiff_retrieval::geoclip::{GeoClip, GeoClipCache, GeoClipRetriever, open_geoclip_gallery};
use locdiff_shdd::{Codec, sphere::UnitVec};
use std::path::{Path, PathBuf};

/// LocDiff-H: a retriever and the rule that combines it with the diffusion model. See [`LocatorOptions::open_hybrid`] and
/// [`Locator::hybrid`](crate::Locator::hybrid).
pub struct Hybrid {
    retriever: Box<dyn Retriever>,
    options: HybridOptions,
}

impl Hybrid {
    /// Fails if the embeddings of `name` do not fit the retrieval: another length, or another encoder.
    pub fn check_embeddings(&self, name: &str, columns: usize, encoder: Option<&Fingerprint>) -> Result<()> {
        Ok(self.retriever.check_embeddings(name, columns, encoder)?)
    }

    /// Finds the location of a photo from the model's prediction and its samples. Fails if the embedding has another size, or the gallery fails.
    pub fn settle(&self, codec: &Codec, embedding: &[f32], prediction: &Prediction) -> Result<HybridAnswer> {
        // The pooled code's field is the mean of the samples' densities, cut at the code's degree.
        let field = codec.field(&prediction.code).map_err(locdiff_model::ModelError::from)?;
        let log_density = |points: &[UnitVec]| -> Vec<f64> {
            field.values(points).into_iter().map(|density| density.max(f64::MIN_POSITIVE).ln()).collect()
        };
        let Prediction { samples, place, .. } = prediction;
        Ok(hybrid(self.retriever.as_ref(), embedding, samples, *place, &log_density, &self.options)?)
    }
}

impl LocatorOptions {
    /// Opens the gallery alone, if there is one. `progress` receives the number of its locations that are embedded.
    /// Fails on files that cannot be used, or that do not belong together.
    pub fn open_retriever(&self, device: &Device, progress: impl FnMut(usize)) -> Result<Option<Box<dyn Retriever>>> {
        let open = |gallery: &PathBuf| open_retriever(gallery, self.geoclip.as_deref(), device, progress);
        self.gallery.as_ref().map(open).transpose()
    }

    /// Opens LocDiff-H alone, if there is a gallery and its rule is `hybrid` or `paper`. Fails as [`LocatorOptions::open_retriever`] does, and if
    /// a change does not fit the rule.
    pub fn open_hybrid(&self, device: &Device, progress: impl FnMut(usize)) -> Result<Option<Hybrid>> {
        let rule = match self.gallery_rule {
            GalleryRule::Mix => return Ok(None),
            GalleryRule::Hybrid => HybridRule::Fused,
            GalleryRule::Paper => HybridRule::Paper,
        };
        let Some(retriever) = self.open_retriever(device, progress)? else { return Ok(None) };
        Ok(Some(Hybrid { retriever, options: self.hybrid.apply(rule)? }))
    }
}

/// A gallery's folder, or a file of locations with GeoCLIP's folder.
pub(crate) fn open_retriever(
    gallery: &Path,
    geoclip: Option<&Path>,
    device: &Device,
    mut progress: impl FnMut(usize),
) -> Result<Box<dyn Retriever>> {
    if let Some(folder) = geoclip {
        return Ok(Box::new(open_geoclip(gallery, folder, device, |done, _| progress(done))?));
    }
    if !gallery.is_dir() {
        let remedy = "it is not a folder: build a gallery from photos, or give GeoCLIP's folder for a location file";
        return Err(setting("gallery", gallery.display(), remedy));
    }
    Ok(Box::new(PhotoRetriever::new(Gallery::open(gallery)?)?))
}

/// A file of places, or a folder of their vectors, with GeoCLIP's folder.
pub(crate) fn open_geoclip(
    gallery: &Path,
    folder: &Path,
    device: &Device,
    progress: impl FnMut(usize, usize),
) -> Result<GeoClipRetriever> {
    let folder = &found(folder)?;
    let model = GeoClip::open(folder, device)?;
    let gallery = if gallery.is_dir() {
        Gallery::open(gallery)?
    } else {
        let cache = GeoClipCache { places: gallery.to_owned(), model: folder.to_owned(), vectors: VectorType::F32 };
        open_geoclip_gallery(&cache, &model, progress)?
    };
    Ok(GeoClipRetriever::new(model, gallery)?)
}
