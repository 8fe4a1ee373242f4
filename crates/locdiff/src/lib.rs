//! Where on Earth was this photo taken? A photo in, places with calibrated probabilities out.
//!
//! | you want | item |
//! |---|---|
//! | the answer for a photo | [`Locator::locate`], [`Answer`] |
//! | many photos, other settings | [`Locator::run`], [`Request`], [`Source`], [`Control`] |
//! | a whole album at once | [`Locator::run_album`], [`AlbumAnswer`] |
//! | a model, an encoder, a gallery of your own | [`Locator::builder`] |
//! | to add what is also known | [`Request::within`], [`Request::prior`], [`Knowledge`] |
//! | maps of an answer | [`Atlas`], [`AnswerMap`], [`AlbumFiles`] |
//! | several photos of one place, one answer | [`Locator::run_together`] |
//! | the whole density | [`Answer::density`], [`Density`], [`DensityGrid`] |
//! | the backward process | [`Locator::sampled_steps`] |
//! | which parts of a photo speak for its place | [`Locator::occlusion`] |
//! | answers as rows of a table | [`AnswerRow`] |
//! | probabilities that hold, for a model of your own | [`calibrate`], [`CalibrateRequest`] |
//! | SHDD codes by themselves | [`Codec`] |
//!
//! ```
//! # #[cfg(feature = "bundled")] {
//! use locdiff::{Control, Locator, Request, Source};
//! let photo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/china.jpg");
//! let locator = Locator::bundled()?;
//! // It was taken somewhere in Japan: that much we know.
//! let mut request = Request::default();
//! request.within = vec!["Japan".to_owned()];
//! for located in locator.run([Source::file(photo)], &request, Control::new())? {
//!     let answer = located?.answer?;
//!     assert_eq!(answer.country_code.as_deref(), Some("JP"));
//!     let density = answer.density().unwrap();
//!     assert!(density.region(0.5).area_km2 < density.region(0.9).area_km2);
//! }
//! # }
//! # Ok::<(), locdiff::LocateError>(())
//! ```

pub mod batch;
#[cfg(feature = "immich")]
pub mod immich;
mod album;
#[cfg(feature = "maps")]
mod album_files;
mod album_known;
mod album_read;
mod album_table;
#[cfg(feature = "maps")]
mod answer_files;
mod builder;
#[cfg(feature = "bundled")]
mod bundled;
mod cache;
mod calibrate;
mod control;
pub mod embed;
mod embedded;
mod error;
#[cfg(feature = "gallery")]
mod gallery_use;
#[cfg(feature = "gallery")]
mod geoclip_model;
#[cfg(feature = "get")]
mod get;
#[cfg(feature = "maps")]
mod grid;
mod home;
#[cfg(feature = "gallery")]
mod hybrid;
mod in_memory;
#[cfg(feature = "gallery")]
mod inputs;
mod judged;
mod locator;
#[cfg(feature = "gallery")]
mod locator_gallery;
#[cfg(feature = "maps")]
mod maps;
mod occlusion;
mod options;
mod pipeline;
mod prior;
mod request;
mod retrieval;
pub mod review;
mod run;
mod shape;
mod source;
mod stated;
mod steps;
mod table;
mod thumbnails;

pub use album::{AlbumLocated, AlbumRun};
#[cfg(feature = "maps")]
pub use album_files::AlbumFiles;
pub use builder::LocatorBuilder;
pub use cache::{EmbeddingCache, FileStamp};
pub use calibrate::{CalibrateRequest, EmbeddingRows, calibrate};
pub use control::{Control, Progress};
pub use embedded::EmbeddedPhoto;
pub use error::LocateError;
#[cfg(feature = "maps")]
pub use grid::DensityGrid;
pub use locator::Locator;
pub use locdiff_album::{AlbumAnswer, AlbumSettings, KnownPlace, PhotoTime, WrongClock};
pub use locdiff_model::answer::{
    Answer, Calibration, Density, DensityRegion, FromDensity, GalleryContribution, Hypothesis, Knowledge,
};
pub use locdiff_io::data::{Embedding, Fingerprint};
pub use locdiff_model::diffusion::Sampler;
pub use locdiff_model::{Model, Pooling, SampleOptions};
pub use locdiff_nn::{Device, DeviceSpec, Precision};
pub use locdiff_map::places::Region;
pub use locdiff_shdd::{CodeDensity, Codec, Coefficients, Decoder};
pub use locdiff_shdd::sphere::{Degree, LatLon, haversine_km};
pub use locdiff_vision::{Encoder, Photo, PhotoLimits};
#[cfg(feature = "maps")]
pub use maps::{AnswerMap, Atlas};
pub use occlusion::Occlusion;
pub use options::LocateOptions;
pub use request::{GalleryRule, HybridChanges, Request};
pub use run::{Located, Run};
pub use source::{Origin, Source};
pub use stated::StatedPlace;
pub use steps::SampledStep;
pub use table::AnswerRow;

/// What programs on top of this library use beside: the doors (command, server, jobs, Python) and the laboratory. No promise is made of it.
pub mod parts {
    #[cfg(feature = "maps")]
    pub use crate::album_files::write_album_table;
    pub use crate::album_known::film_places;
    pub use crate::album_read::{AlbumChanges, PlacedAlbum, PlacedTrips, ReadAlbum};
    pub use crate::album_table::AlbumRow;
    #[cfg(feature = "maps")]
    pub use crate::answer_files::{AnswerFiles, AnswerTargets, Document, Target};
    pub use crate::builder::{encoder_of, model_of};
    #[cfg(feature = "bundled")]
    pub use crate::bundled::{BUNDLED_MODEL_NAME, bundled_encoder, bundled_model};
    pub use crate::calibrate::check_rows;
    pub use crate::control::StageTimes;
    #[cfg(feature = "get")]
    pub use crate::get::{GetError, GetPlan, GetSettings, Installed, Published, installed, published, remove};
    pub use crate::home::{data_folder, models_folder};
    #[cfg(feature = "gallery")]
    pub use crate::hybrid::{Hybrid, check_embeddings, open_retriever};
    pub use crate::in_memory::FilesInMemory;
    #[cfg(feature = "gallery")]
    pub use crate::inputs::Inputs;
    pub use crate::judged::{AnswerScore, JudgedPlace, judge_rows};
    pub use crate::locator::open_model;
    #[cfg(feature = "maps")]
    pub use crate::maps::kilometres;
    pub use crate::pipeline::{EmbedSources, Read};
    pub use crate::prior::with_prior;
    #[cfg(feature = "gallery")]
    pub use crate::retrieval::neighbours;
    pub use crate::table::{ANSWER_COLUMNS, FoundRow, failure_json};
    pub use crate::thumbnails::Thumbnails;
    pub use locdiff_album::{
        Album, AlbumError, AlbumPhoto, AlbumScores, AlbumTrip, Judging, Outlier, TRIP_PAUSE_S, TimeSource, Track,
        Traveller, TripStop, beside, parse_duration, parse_offset, parse_time, set_clocks, trips,
    };
    pub use locdiff_model::answer::{
        AnswerError, AnsweredBy, BACKGROUND_DRAWS, CALIBRATION_FILE, FEWEST_TO_CALIBRATE, Factors, FitReport,
        GalleryMix, Globe, LEVELS, MOST_NEIGHBOURS, Match, ModelOutput, ModelShape, Neighbour, Observation,
        OutOfDomain, Peak, Probe, ReadOptions, Reader, ReliabilityCurve, Verdict, fit, fit_gallery,
    };
    pub use locdiff_base::BadSetting;
    #[cfg(feature = "gallery")]
    pub use locdiff_retrieval::gallery::{Centres, Fusion, Gallery, HybridAnswer, HybridOptions, HybridRule, Retriever};
    pub use locdiff_model::{ModelConfig, ModelError, Prediction, Predictor, Query, Reading, TraceStep};
    pub use locdiff_nn::NnError;
    pub use locdiff_shdd::ShddError;
    pub use locdiff_shdd::sphere::UnitVec;
    pub use locdiff_vision::{PhotoFacts, Taken, VisionError};
}
