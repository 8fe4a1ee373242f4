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
//!     assert!(answer.density.region(0.5).area_km2 < answer.density.region(0.9).area_km2);
//! }
//! # }
//! # Ok::<(), locdiff::LocateError>(())
//! ```

mod album;
#[cfg(feature = "maps")]
mod album_files;
mod album_table;
mod builder;
#[cfg(feature = "bundled")]
mod bundled;
mod calibrate;
mod control;
mod embedded;
mod error;
#[cfg(feature = "gallery")]
mod gallery_use;
#[cfg(feature = "maps")]
mod grid;
#[cfg(feature = "gallery")]
mod hybrid;
mod judged;
mod locator;
#[cfg(feature = "gallery")]
mod locator_gallery;
#[cfg(feature = "maps")]
mod maps;
mod options;
mod pipeline;
mod prior;
mod request;
mod retrieval;
mod run;
mod shape;
mod source;
mod steps;
mod table;

pub use album::{AlbumLocated, AlbumRun};
#[cfg(feature = "maps")]
pub use album_files::AlbumFiles;
pub use album_table::{AlbumRow, by_album};
pub use builder::{LocatorBuilder, encoder_of, model_of};
#[cfg(feature = "bundled")]
pub use bundled::{BUNDLED_MODEL_NAME, bundled_encoder, bundled_model};
pub use calibrate::{CalibrateRequest, EmbeddingRows, calibrate, check_rows};
pub use control::{Control, Progress, StageTimes};
pub use embedded::EmbeddedPhoto;
pub use error::LocateError;
#[cfg(feature = "maps")]
pub use grid::DensityGrid;
#[cfg(feature = "gallery")]
pub use hybrid::{Hybrid, check_embeddings, open_retriever};
pub use judged::{AnswerScore, JudgedPlace, judge_rows};
pub use locator::{Locator, open_model};
#[cfg(feature = "maps")]
pub use maps::{
    AnswerMap, Atlas, add_places, answers_page, crowd_page, crowd_photo, kilometres, places_folder,
};
pub use options::LocateOptions;
pub use pipeline::{EmbedSources, Read};
pub use prior::with_prior;
pub use request::{GalleryRule, HybridChanges, Request};
#[cfg(feature = "gallery")]
pub use retrieval::neighbours;
pub use run::{Located, Run};
pub use source::{Origin, Source};
pub use steps::SampledStep;
pub use table::{ANSWER_COLUMNS, AnswerRow, FoundRow, GALLERY_COLUMNS, failure_json, gallery_fields};

pub use locdiff_album::{
    Album, AlbumAnswer, AlbumPhoto, AlbumPlace, AlbumScores, AlbumSettings, AlbumTrip, Judging, Outlier,
    PhotoTime, TimeSource, TravelSettings, Traveller, WrongClock, iso_time, parse_time, set_clocks,
};
pub use locdiff_answer::{
    Answer, AnswerError, AnsweredBy, BACKGROUND_DRAWS, CALIBRATION_FILE, Calibration, Density, DensityRegion,
    FEWEST_TO_CALIBRATE, Factors, FitReport, GalleryMix, GalleryWord, Globe, Hypothesis, Knowledge, LEVELS,
    MOST_NEIGHBOURS, Match, ModelShape, Neighbour, Observation, Peak, Probe, ReadOptions, Reader,
    ReliabilityCurve, Said, Strangers, Verdict, fit, fit_gallery,
};
pub use locdiff_base::BadSetting;
pub use locdiff_data::{Embedding, Fingerprint};
pub use locdiff_diffusion::Sampler;
#[cfg(feature = "gallery")]
pub use locdiff_gallery::{Centres, Fusion, Gallery, HybridAnswer, HybridOptions, HybridRule, Retriever};
pub use locdiff_model::{
    Model, ModelConfig, ModelError, Pooling, Prediction, Predictor, Query, Reading, SampleOptions, TraceStep,
};
pub use locdiff_nn::{Device, DeviceSpec, NnError};
pub use locdiff_places::Region;
pub use locdiff_shdd::{CodeDensity, Codec, Coefficients, Decoder, ShddError};
pub use locdiff_sphere::{Degree, LatLon, UnitVec, haversine_km};
pub use locdiff_vision::{Encoder, Photo, PhotoLimits, Taken, VisionError};
