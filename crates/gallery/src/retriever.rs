//! Retrieval for photos, behind one trait: another retriever takes GeoCLIP's place without anyone noticing.

use crate::{Cap, Gallery, GalleryError, Hit, Kind, Result};
use locdiff_geoclip::GeoClip;

/// Finds places for a photo's embedding.
pub trait Retriever {
    /// Numbers of the embeddings it takes.
    fn input_dimension(&self) -> usize;

    /// The temperature at which a softmax over scores says how probable the places are.
    fn temperature(&self) -> f64;

    /// The `most` best places, best first; with caps, those in the caps' union.
    ///
    /// # Errors
    /// An embedding of another size, or a gallery that fails.
    fn retrieve(&self, embedding: &[f32], caps: Option<&[Cap]>, most: usize) -> Result<Vec<Hit>>;
}

/// The places of one's own photos: the nearest embeddings by cosine.
pub struct PhotoRetriever {
    gallery: Gallery,
}

impl PhotoRetriever {
    /// Cosines of embeddings differ by about this much between good and poor matches (chosen on validation photos).
    const TEMPERATURE: f64 = 0.05;

    /// Retrieval from a gallery of photos.
    ///
    /// # Errors
    /// A gallery of another kind.
    pub fn new(gallery: Gallery) -> Result<Self> {
        match gallery.kind() {
            Kind::Photos => Ok(Self { gallery }),
            Kind::Geoclip => Err(wrong_kind("geoclip", "give GeoCLIP's folder too")),
        }
    }

    /// The gallery.
    pub fn gallery(&self) -> &Gallery {
        &self.gallery
    }
}

impl Retriever for PhotoRetriever {
    fn input_dimension(&self) -> usize {
        self.gallery.dimension()
    }

    fn temperature(&self) -> f64 {
        Self::TEMPERATURE
    }

    fn retrieve(&self, embedding: &[f32], caps: Option<&[Cap]>, most: usize) -> Result<Vec<Hit>> {
        self.gallery.search(embedding, caps, most)
    }
}

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
            return Err(wrong_kind("photos", "it needs no GeoCLIP"));
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
}

fn wrong_kind(kind: &str, remedy: &'static str) -> GalleryError {
    locdiff_base::setting("the gallery's kind", kind, remedy)
}
