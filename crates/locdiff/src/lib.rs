//! Finds where on Earth a photo was taken: locations with calibrated probabilities.
//! The default model, LocDiff-Bayes (`bayes`), is a density given the image, and its denoiser follows by Bayes' rule; the
//! paper's network is the CS-UNet (`cs-unet`).
//!
//! ```
//! # #[cfg(feature = "bundled")] {
//! use locdiff::{AlbumOptions, LocateOptions, Locator, LocatorOptions};
//! # std::env::set_current_dir("../../fixtures/vision").unwrap();
//! # std::fs::copy("china.jpg", std::env::temp_dir().join("photo.jpg")).unwrap();
//! # std::env::set_current_dir(std::env::temp_dir()).unwrap();
//! # let (paths, photos) = (["photo.jpg"], ["photo.jpg"]);
//! let locator = Locator::open(&LocatorOptions::default())?;            // model, encoder, device, precision, gallery: what is opened
//! let answer = locator.locate("photo.jpg")?;                           // one photo
//! let options = LocateOptions::new().within("Japan");                  // what is asked: region, prior, clues, hypotheses, seed, sampler
//! for photo in locator.locate_all(paths, &options)? {                  // many: an iterator, a Result per photo
//!     match photo.answer { Ok(a) => println!("{}: {}", photo.name, a.headline), Err(e) => eprintln!("{e}") }
//! }
//! let trip = locator.locate_album(photos, &AlbumOptions::default())?;
//! # assert!(answer.radius_50_km > 0.0 && trip.photos.len() == 1);
//! # }
//! # Ok::<(), locdiff::LocateError>(())
//! ```
//!
//! | you want | item |
//! |---|---|
//! | the answer for a photo | [`Locator::locate`], [`Locator::locate_with`], [`Answer`] |
//! | many photos | [`Locator::locate_all`], [`Source`], [`Run::with_control`] |
//! | a whole album at once | [`Locator::locate_album`], [`AlbumAnswer`] |
//! | a model, an encoder, a gallery of your own | [`LocatorOptions`] |
//! | to state what else is known | [`LocateOptions::within`], [`LocateOptions::prior`], [`LocateOptions::knowledge`] |
//! | maps of an answer | [`AnswerMap`], [`AnswerFiles`], [`AlbumFiles`] |
//! | one answer for several photos of one location | [`Locator::locate_together`] |
//! | the whole density | [`Answer::density`], [`Density`], [`DensityGrid`] |
//! | the steps of sampling | [`Locator::sampled_steps`] |
//! | the parts of a photo that support its location | [`Locator::occlusion`] |
//! | everything that gives a photo's location away | [`Locator::exposure`] |
//! | a calibration of your own model | [`CalibrateRequest`] |
//! | millions of photos, files of embeddings | [`batch`], [`embed`] |
//! | to review and write locations | [`review`], the module `immich` (feature `immich`) |
//! | published models | the module `get` (feature `get`) |
//!
//! The crate `locdiff-shdd` has SHDD codes alone.

mod album;
mod album_files;
mod album_known;
mod album_options;
mod album_read;
mod album_table;
mod answer_files;
pub mod batch;
mod cache;
mod calibrate;
mod control;
pub mod embed;
mod embedded;
mod error;
mod expose;
mod flat;
mod gallery_open;
mod gallery_use;
mod geoclip_model;
#[cfg(feature = "get")]
pub mod get;
mod grid;
mod home;
mod hybrid;
#[cfg(feature = "immich")]
pub mod immich;
mod in_memory;
mod inputs;
mod judged;
mod locate_options;
mod locator;
mod locator_options;
mod maps;
mod names;
mod occlusion;
mod open;
mod pipeline;
mod prior;
mod reading;
mod retrieval;
pub mod review;
mod run;
mod shape;
mod source;
mod table;

pub use album::AlbumRun;
pub use album_files::AlbumFiles;
pub use album_options::{AlbumOptions, StatedPlace};
pub use answer_files::{AnswerFiles, AnswerTargets};
pub use calibrate::{CalibrateRequest, EmbeddingRows};
pub use control::{Control, Progress, StageTimes};
pub use embedded::EmbeddedPhoto;
pub use error::{ErrorKind, LocateError};
pub use flat::FlatOptions;
pub use grid::DensityGrid;
pub use hybrid::Hybrid;
pub use inputs::Inputs;
pub use judged::AnswerScore;
pub use locate_options::{LocateOptions, MapFactorChoice};
pub use locator::Locator;
pub use locator_options::{GalleryRule, HybridChanges, LocatorOptions};
pub use locdiff_album::{AlbumAnswer, PhotoTime};
pub use locdiff_io::data::Embedding;
pub use locdiff_model::Pooling;
pub use locdiff_model::answer::{Answer, Density, Knowledge};
pub use locdiff_nn::{DeviceSpec, Precision};
pub use locdiff_shdd::sphere::LatLon;
pub use locdiff_vision::{Photo, PhotoLimits};
pub use maps::AnswerMap;
pub use occlusion::Occlusion;
pub use pipeline::Read;
pub use run::{Located, Run};
pub use source::{Origin, Source};
