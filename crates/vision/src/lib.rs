//! Photos, image encoders and text recognition: finds photos, decodes them, embeds them and reads text in them.
//!
//! | you want | item |
//! |---|---|
//! | a photo from a file, upright, within limits | [`Photo`], [`PhotoLimits`] |
//! | resizing by the filters that encoders were trained with | [`resize`](mod@resize) |
//! | other views of a photo: crops and colours, seeded | [`Augmentation`] |
//! | embeddings from an encoder's folder | [`Encoder`] |
//! | embeddings of many photos, batch by batch | [`Encoder::prepare`], [`Encoder::begin`] |
//! | what an encoder is, whether it works, and how fast | [`Inspection`] |
//! | how an encoder resizes and normalises photos | [`Preprocessing`] |
//! | text in a photo | [`TextReader`], [`TextLine`] |
//! | the network itself | [`EfficientNetLite`], [`EfficientNetLiteCuda`], [`EfficientNetLiteConfig`] |
//! | the error, in one line | [`VisionError`] |
//!
//! # Example
//! ```
//! use locdiff_vision::{Encoder, Photo, PhotoLimits};
//! # let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
//! let encoder = Encoder::open(&root.join("models/streetview-lite2"))?;
//! let photo = Photo::open(&root.join("fixtures/vision/china.jpg"), &PhotoLimits::default())?;
//! let embeddings = encoder.embed(&[photo])?;
//! assert_eq!(embeddings[0].dimension(), 512);
//! # Ok::<(), locdiff_vision::VisionError>(())
//! ```

mod efficientnet;
mod encoder;
mod error;
mod inspection;
mod network;
mod photo;
mod preprocessing;
mod reading;
pub mod sources;
mod vit;

pub use efficientnet::{EfficientNetLite, EfficientNetLiteConfig, EfficientNetLiteCuda, Stage};
pub use encoder::{Begun, Encoder, Prepared};
pub use error::{Result, VisionError};
pub use inspection::Inspection;
pub use locdiff_io::tags::{PhotoFacts, Taken};
pub use network::ReadTensor;
pub use photo::{Photo, PhotoLimits, libheif_version};
pub use preprocessing::{Augmentation, CentreCrop, Crop, CropRounding, Preprocessing, ResizeRule, resize};
pub use reading::{TextLine, TextReader, reader_weights};
