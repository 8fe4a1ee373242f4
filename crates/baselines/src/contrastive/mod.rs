//! Retrieval of places by an image–location contrast, as GeoCLIP does it.

mod features;
mod retrieval;

pub(crate) use retrieval::Contrastive;
pub use retrieval::RetrievalGallery;
