//! Galleries of places with embeddings, and LocDiff-H: diffusion proposes regions, retrieval picks the place.
//!
//! | you want | item |
//! |---|---|
//! | a gallery from vectors and places, and its folder | [`GalleryBuilder`], [`Gallery`] |
//! | the places most alike, everywhere or within caps | [`Gallery::search`], [`Cap`], [`Hit`] |
//! | how like a query all places are | [`Gallery::score_all`], [`Scores`] |
//! | retrieval for photos: one's own photos, or another retriever | [`PhotoRetriever`], [`Retriever`] |
//! | the hybrid with a diffusion model's samples | [`hybrid()`], [`HybridOptions`] |
//! | what went wrong, in one line | [`GalleryError`] |
//!
//! A gallery's rows are kept in the order of HEALPix cells, so that the rows within a cap are a few runs; what is large is
//! read where it lies ([`locdiff_io::data::PositionedFile`]) and not held in memory.

mod builder;
mod cells;
mod error;
mod folder;
mod gallery;
mod hybrid;
mod open;
mod quantised;
mod retriever;
mod scan;
mod scores;

pub use builder::GalleryBuilder;
pub(crate) use builder::unit;
pub use cells::Cap;
pub use error::{GalleryError, Result};
pub use folder::{GALLERY_FILE, Kind, PHOTO_LIST, VectorType};
pub use gallery::{Gallery, Hit};
pub use hybrid::{Centres, Fusion, HybridAnswer, HybridOptions, HybridRule, hybrid};
pub use retriever::{PhotoRetriever, Retriever};
pub use scores::Scores;
