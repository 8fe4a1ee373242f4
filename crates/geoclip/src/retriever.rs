//! GeoCLIP as a retriever of galleries.

use crate::GeoClip;
use locdiff_base::setting;
use locdiff_gallery::{Cap, Gallery, GalleryError, Hit, Kind, Result, Retriever};

/// GeoCLIP: a photo's CLIP features through the image head, against the places' own vectors.
pub struct GeoClipRetriever {
    model: GeoClip,
    gallery: Gallery,
    temperature: f64,
}

impl GeoClipRetriever {
    /// Retrieval from a gallery of GeoCLIP's vectors.
    ///
    /// # Errors
    /// A gallery of another kind or size.
    pub fn new(model: GeoClip, gallery: Gallery) -> Result<Self> {
        if gallery.kind() != Kind::Geoclip {
            return Err(setting("the gallery's kind", "photos", "it needs no GeoCLIP"));
        }
        if gallery.dimension() != model.dimension() {
            return Err(GalleryError::Dimension { got: model.dimension(), wanted: gallery.dimension() });
        }
        let temperature = 1.0 / f64::from(model.scale()?);
        Ok(Self { model, gallery, temperature })
    }

    /// The gallery.
    pub fn gallery(&self) -> &Gallery {
        &self.gallery
    }
}

impl Retriever for GeoClipRetriever {
    fn input_dimension(&self) -> usize {
        self.model.feature_dimension()
    }

    fn temperature(&self) -> f64 {
        self.temperature
    }

    fn retrieve(&self, embedding: &[f32], caps: Option<&[Cap]>, most: usize) -> Result<Vec<Hit>> {
        if embedding.len() != self.input_dimension() {
            return Err(GalleryError::Dimension { got: embedding.len(), wanted: self.input_dimension() });
        }
        self.gallery.search(&self.model.embed_features(embedding)?, caps, most)
    }

    fn retrieve_many(&self, embeddings: &[Vec<f32>], most: usize) -> Result<Vec<Vec<Hit>>> {
        let vectors = embeddings.iter().map(|embedding| {
            if embedding.len() != self.input_dimension() {
                return Err(GalleryError::Dimension { got: embedding.len(), wanted: self.input_dimension() });
            }
            Ok(self.model.embed_features(embedding)?)
        });
        self.gallery.search_many(&vectors.collect::<Result<Vec<_>>>()?, None, most)
    }

    fn identity(&self) -> String {
        self.gallery.identity()
    }
}
