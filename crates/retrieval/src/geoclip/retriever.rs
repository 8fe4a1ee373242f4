//! GeoCLIP as a retriever of galleries.

use crate::gallery::{Cap, Gallery, GalleryError, Hit, Kind, Result, Retriever, Scores, unit};
use crate::geoclip::GeoClip;
use locdiff_base::{ensure, setting};

/// GeoCLIP: a photo's CLIP features through the image head, against the places' own vectors.
pub struct GeoClipRetriever {
    model: GeoClip,
    gallery: Gallery,
    temperature: f64,
}

impl GeoClipRetriever {
    /// Retrieval from a gallery of GeoCLIP's vectors. Fails for a gallery of another kind or size.
    pub fn new(model: GeoClip, gallery: Gallery) -> Result<Self> {
        ensure!(gallery.kind() == Kind::Geoclip, setting("the gallery's kind", "photos", "it needs no GeoCLIP"));
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

    /// The model.
    pub fn model(&self) -> &GeoClip {
        &self.model
    }

    /// The scores that photos give all places. Fails for an embedding of another size, or a gallery that fails.
    pub fn score_all(&self, embeddings: &[Vec<f32>]) -> Result<Vec<Scores>> {
        self.gallery.score_all(&self.vectors(embeddings)?)
    }

    /// Photos' vectors by the image head.
    fn vectors(&self, embeddings: &[Vec<f32>]) -> Result<Vec<Vec<f32>>> {
        embeddings.iter().map(|embedding| self.vector(embedding)).collect()
    }

    /// A photo's vector by the image head, of length 1.
    pub(crate) fn vector(&self, embedding: &[f32]) -> Result<Vec<f32>> {
        if embedding.len() != self.input_dimension() {
            return Err(GalleryError::Dimension { got: embedding.len(), wanted: self.input_dimension() });
        }
        let mut vector = self.model.embed_features(embedding)?;
        let _ = unit(&mut vector, &[]);
        Ok(vector)
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
        self.gallery.search(&self.vector(embedding)?, caps, most)
    }

    fn retrieve_many(&self, embeddings: &[Vec<f32>], most: usize) -> Result<Vec<Vec<Hit>>> {
        self.gallery.search_many(&self.vectors(embeddings)?, None, most)
    }

    fn identity(&self) -> String {
        self.gallery.identity()
    }
}
