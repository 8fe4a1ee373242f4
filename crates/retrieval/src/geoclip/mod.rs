//! GeoCLIP in Rust: its location encoder and image head, read from the weights of the Python package.
//!
//! | you want | item |
//! |---|---|
//! | the package's wheel, folder or files as a model folder | [`import`], [`Sources`] |
//! | a GeoCLIP model: places and CLIP features into one space | [`GeoClip`] |
//! | its vectors of a file of places, computed once | [`open_geoclip_gallery`], [`GeoClipCache`] |
//! | retrieval with it | [`GeoClipRetriever`] |
//! | what went wrong, in one line | [`GeoClipError`], [`Refused`] |
//!
//! GeoCLIP (Vivanco Cepeda, Nayak and Shah, 2023) puts photos and places into one space: a photo's CLIP ViT-L/14 features
//! go through a small head, a place through the Equal Earth projection, random Fourier features at three scales and three
//! capsules; the cosine says how well they fit. CLIP itself is an encoder folder of `locdiff-vision`.
//!
//! Weights come as `.pth` files. Their pickles are read as data and never run; any other instruction is refused by name.

mod cache;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod import;
mod location;
mod model;
mod pth;
mod refine;
mod retriever;

pub use cache::{GeoClipCache, open_geoclip_gallery};
pub use error::{GeoClipError, Result};
pub use import::{Sources, import};
pub use model::{GALLERY_FILE, GeoClip, SETTINGS_FILE, WEIGHTS_FILE};
pub use pth::Refused;
pub use retriever::GeoClipRetriever;
