//! Retrieval of places by an image–location contrast, as GeoCLIP does it.

mod features;
mod retrieval;

pub(crate) use features::FourierFeatures;
pub(crate) use retrieval::Contrastive;
pub use retrieval::RetrievalGallery;
