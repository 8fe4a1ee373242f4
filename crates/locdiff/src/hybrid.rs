//! LocDiff-H: retrieval inside the regions that diffusion proposes.

use crate::LocateError;
use locdiff_base::setting;
use locdiff_io::data::Fingerprint;
use locdiff_retrieval::gallery::{Gallery, HybridAnswer, HybridOptions, PhotoRetriever, Retriever, VectorType, hybrid};
use locdiff_retrieval::geoclip::{GeoClip, GeoClipCache, GeoClipRetriever, open_geoclip_gallery};
use locdiff_model::Prediction;
use locdiff_nn::Device;
use locdiff_shdd::Codec;
use locdiff_shdd::sphere::UnitVec;
use std::path::Path;

/// Retrieval beside the diffusion model: a retriever, and the rule that makes one place of both.
pub struct Hybrid {
    retriever: Box<dyn Retriever>,
    options: HybridOptions,
}

impl std::fmt::Debug for Hybrid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hybrid").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Hybrid {
    /// A retriever and a rule.
    pub fn new(retriever: Box<dyn Retriever>, options: HybridOptions) -> Self {
        Self { retriever, options }
    }

    /// Numbers of the embeddings that retrieval takes.
    pub fn input_dimension(&self) -> usize {
        self.retriever.input_dimension()
    }

    /// Fails where embeddings of `name` are not the retrieval's.
    ///
    /// # Errors
    /// Another number of values, or another encoder.
    pub fn check_embeddings(
        &self,
        name: &str,
        columns: usize,
        encoder: Option<&Fingerprint>,
    ) -> Result<(), LocateError> {
        check_embeddings(name, columns, encoder, self.retriever.as_ref())
    }

    /// The hybrid's place for a photo of which the model says `prediction`, with its samples' places.
    ///
    /// # Errors
    /// An embedding of another size, or a gallery that fails.
    pub fn settle(
        &self,
        codec: &Codec,
        embedding: &[f32],
        prediction: &Prediction,
    ) -> Result<HybridAnswer, LocateError> {
        // The pooled code's field is the mean of the samples' densities, cut at the code's degree.
        let field = codec.field(&prediction.code).map_err(locdiff_model::ModelError::from)?;
        let log_density = |points: &[UnitVec]| -> Vec<f64> {
            field.values(points).into_iter().map(|density| density.max(f64::MIN_POSITIVE).ln()).collect()
        };
        let Prediction { samples, place, .. } = prediction;
        Ok(hybrid(self.retriever.as_ref(), embedding, samples, *place, &log_density, &self.options)?)
    }
}

/// Fails where embeddings of `name` are not the retriever's.
///
/// # Errors
/// Another number of values, or another encoder.
pub fn check_embeddings(
    name: &str,
    columns: usize,
    encoder: Option<&Fingerprint>,
    retriever: &dyn Retriever,
) -> Result<(), LocateError> {
    let wanted = retriever.input_dimension();
    if columns == wanted {
        return match (encoder, retriever.encoder()) {
            (Some(met), Some(gallery)) if !met.is_same_encoder(gallery) => {
                let remedy = format!("the gallery was built with {gallery}: use one encoder for both");
                Err(setting("encoder", format!("{met} of {name}"), remedy))
            }
            _ => Ok(()),
        };
    }
    let remedy = format!("the retrieval takes {wanted} numbers: use the encoder the gallery was built with");
    Err(setting("embeddings", format!("{columns} numbers of {name}"), remedy))
}

/// A gallery's folder, or a file of places with GeoCLIP's folder; `progress` is told how many places are embedded.
///
/// # Errors
/// Files that cannot be used, or that do not belong together.
pub fn open_retriever(
    gallery: impl AsRef<Path>,
    geoclip: Option<&Path>,
    device: &Device,
    progress: impl FnMut(usize, usize),
) -> Result<Box<dyn Retriever>, LocateError> {
    let gallery = gallery.as_ref();
    let Some(folder) = geoclip else {
        if !gallery.is_dir() {
            let remedy = "it is no folder: build a gallery from photos, or give GeoCLIP's folder for a file of places";
            return Err(setting("gallery", gallery.display(), remedy));
        }
        return Ok(Box::new(PhotoRetriever::new(Gallery::open(gallery)?)?));
    };
    Ok(Box::new(open_geoclip(gallery, folder, device, progress)?))
}

/// A file of places, or a folder of their vectors, with GeoCLIP's folder.
pub(crate) fn open_geoclip(
    gallery: &Path,
    folder: &Path,
    device: &Device,
    progress: impl FnMut(usize, usize),
) -> Result<GeoClipRetriever, LocateError> {
    let model = GeoClip::open(folder, device)?;
    let gallery = if gallery.is_dir() {
        Gallery::open(gallery)?
    } else {
        let cache = GeoClipCache { places: gallery.to_owned(), model: folder.to_owned(), vectors: VectorType::F32 };
        open_geoclip_gallery(&cache, &model, progress)?
    };
    Ok(GeoClipRetriever::new(model, gallery)?)
}
