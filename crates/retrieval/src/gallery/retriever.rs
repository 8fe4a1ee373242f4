//! Retrieval for photos, behind one trait.

use crate::gallery::{Cap, Gallery, Hit, Kind, Result};
use locdiff_base::{BadSetting, setting};
use locdiff_io::data::Fingerprint;

/// Finds places for a photo's embedding; shared between threads.
pub trait Retriever: Send + Sync {
    /// Numbers of the embeddings it takes.
    fn input_dimension(&self) -> usize;

    /// The encoder whose embeddings it takes, where that is known.
    fn encoder(&self) -> Option<&Fingerprint> {
        None
    }

    /// The temperature at which a softmax over scores says how probable the places are.
    fn temperature(&self) -> f64;

    /// The `most` best places, best first, within the caps' union. Fails for a wrong size, or a failing gallery.
    fn retrieve(&self, embedding: &[f32], caps: Option<&[Cap]>, most: usize) -> Result<Vec<Hit>>;

    /// The hits that [`Retriever::retrieve`] gives each of many photos, sooner. Fails as that does.
    fn retrieve_many(&self, embeddings: &[Vec<f32>], most: usize) -> Result<Vec<Vec<Hit>>> {
        embeddings.iter().map(|embedding| self.retrieve(embedding, None, most)).collect()
    }

    /// What tells its gallery from others.
    fn identity(&self) -> String;

    /// Fails if embeddings of `name` have another number of values than the retriever takes, or are of another encoder.
    fn check_embeddings(&self, name: &str, columns: usize, encoder: Option<&Fingerprint>) -> Result<(), BadSetting> {
        let wanted = self.input_dimension();
        if columns != wanted {
            let remedy = format!("the retrieval takes {wanted} numbers: use the encoder the gallery was built with");
            return Err(setting("embeddings", format!("{columns} numbers of {name}"), remedy));
        }
        match (encoder, self.encoder()) {
            (Some(own), Some(gallery)) if !own.is_same_encoder(gallery) => {
                let remedy = format!("the gallery was built with {gallery}: use one encoder for both");
                Err(setting("encoder", format!("{own} of {name}"), remedy))
            }
            _ => Ok(()),
        }
    }
}

/// The places of one's own photos: the nearest embeddings by cosine.
pub struct PhotoRetriever {
    gallery: Gallery,
}

impl PhotoRetriever {
    /// Cosines of embeddings differ by about this much between good and poor matches (chosen on validation photos).
    const TEMPERATURE: f64 = 0.05;

    /// Retrieval from a gallery of photos. Fails for a gallery of another kind.
    pub fn new(gallery: Gallery) -> Result<Self> {
        match gallery.kind() {
            Kind::Photos => Ok(Self { gallery }),
            Kind::Geoclip => Err(setting("the gallery's kind", "geoclip", "give GeoCLIP's folder too")),
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

    fn encoder(&self) -> Option<&Fingerprint> {
        self.gallery.encoder()
    }

    fn temperature(&self) -> f64 {
        Self::TEMPERATURE
    }

    fn retrieve(&self, embedding: &[f32], caps: Option<&[Cap]>, most: usize) -> Result<Vec<Hit>> {
        self.gallery.search(embedding, caps, most)
    }

    fn retrieve_many(&self, embeddings: &[Vec<f32>], most: usize) -> Result<Vec<Vec<Hit>>> {
        self.gallery.search_many(embeddings, None, most)
    }

    fn identity(&self) -> String {
        self.gallery.identity()
    }
}
