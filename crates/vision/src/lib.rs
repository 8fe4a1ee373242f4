//! From photo to embedding.
//!
//! | you want | item |
//! |---|---|
//! | a photo from a file, upright, within limits | [`Photo`], [`PhotoLimits`] |
//! | resizing as encoders were trained with | [`resize`](mod@resize) |
//! | other views of a photo: crops and colours, seeded | [`Augmentation`] |
//! | embeddings from an encoder's folder | [`Encoder`] |
//! | what an encoder does to a photo first | [`Preprocessing`] |
//! | the network itself | [`EfficientNetLite`], [`EfficientNetLiteCuda`], [`EfficientNetLiteConfig`]; [`VisionTransformer`], [`VisionTransformerCuda`], [`VitConfig`] |
//! | what went wrong, in one line | [`VisionError`] |
//!
//! # Example
//! ```
//! use locdiff_vision::{Encoder, Photo, PhotoLimits};
//! # let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
//! let encoder = Encoder::open(&root.join("models/streetview-lite0"))?;
//! let photo = Photo::open(&root.join("fixtures/vision/china.jpg"), &PhotoLimits::default())?;
//! let embeddings = encoder.embed(&[photo])?;
//! assert_eq!(embeddings[0].dimension(), 512);
//! # Ok::<(), locdiff_vision::VisionError>(())
//! ```

mod augment;
mod colour;
mod depthwise;
mod description;
mod efficientnet_config;
mod efficientnet_cuda;
mod efficientnet_lite;
mod efficientnet_weights;
mod encoder;
mod error;
mod fingerprint;
mod gps;
mod hugging_face;
mod iso_media;
mod jpeg;
mod linear;
mod network;
#[cfg(feature = "onnx")]
mod onnx;
mod photo;
mod pointwise;
mod preprocessing;
pub mod resize;
mod rows;
mod vit;
mod vit_config;
mod vit_cuda;
mod weights;

pub use augment::{Augmentation, Crop};
pub use efficientnet_config::{EfficientNetLiteConfig, Stage};
pub use efficientnet_cuda::EfficientNetLiteCuda;
pub use efficientnet_lite::EfficientNetLite;
pub use encoder::Encoder;
pub use error::{Result, VisionError};
pub use linear::Activation;
pub use photo::{Photo, PhotoLimits};
pub use preprocessing::{CentreCrop, CropRounding, Preprocessing, ResizeRule};
pub use vit::VisionTransformer;
pub use vit_config::VitConfig;
pub use vit_cuda::VisionTransformerCuda;
