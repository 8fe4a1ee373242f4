//! Where on Earth was this photo taken? A photo in, places with honest probabilities out.
//!
//! | you want | item |
//! |---|---|
//! | the answer for a photo | [`Locator::locate`], [`Answer`] |
//! | other settings | [`Locator::locate_with`], [`LocateOptions`] |
//! | many photos, a result for each | [`Locator::locate_many`] |
//! | a photo in memory, or an embedding | [`Locator::locate_photo`], [`Locator::locate_embedding`] |
//! | to add what is also known | [`Knowledge`], [`Region`], [`with_prior`] |
//! | a whole album at once | [`Locator::album`], [`Locator::album_photos`], [`Album`], [`AlbumAnswer`] |
//! | maps of an answer | [`Atlas`], [`AnswerMap`] |
//! | several photos of one place, one answer | [`EmbeddedPhoto::together`] |
//! | the whole density | [`Answer::density`], [`Density`], [`DensityGrid`] |
//! | the backward process | [`Locator::trace`], [`Locator::sampled_steps`] |
//! | answers as rows of a table | [`AnswerRow`], [`ANSWER_COLUMNS`] |
//! | a gallery's density mixed in (LocDiff+kNN) | [`Locator::with_gallery`], [`open_retriever`] |
//! | retrieval near the samples (LocDiff-H) | [`Hybrid`], [`open_retriever`] |
//! | a model and an encoder of your own | [`Locator::open`], [`Model`], [`Encoder`] |
//! | probabilities that hold, for such a model | [`fit`], [`Calibration`] |
//! | SHDD codes by themselves | [`Codec`] |
//!
//! ```
//! # #[cfg(feature = "bundled")] {
//! use locdiff::{Knowledge, LocateOptions, Locator, Region};
//! let photo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/china.jpg");
//! let locator = Locator::bundled()?;
//! // It was taken somewhere in Japan: that much we know.
//! let known = Knowledge::new().within(Region::parse("Japan")?);
//! let answer = locator.locate_with(photo, &LocateOptions::default().with_knowledge(known))?;
//! assert_eq!(answer.country_code.as_deref(), Some("JP"));
//! assert!(answer.density.region(0.5).area_km2 < answer.density.region(0.9).area_km2);
//! # }
//! # Ok::<(), locdiff::LocateError>(())
//! ```

mod album;
mod album_files;
mod album_table;
#[cfg(feature = "bundled")]
mod bundled;
mod embedded;
mod error;
mod grid;
mod hybrid;
mod locator;
mod maps;
mod options;
mod prior;
mod retrieval;
mod shape;
mod steps;
mod table;

pub use album::album_times;
pub use album_files::AlbumFiles;
pub use album_table::{AlbumRow, by_album};
#[cfg(feature = "bundled")]
pub use bundled::{BUNDLED_MODEL_NAME, bundled_encoder, bundled_model};
pub use embedded::EmbeddedPhoto;
pub use error::LocateError;
pub use grid::DensityGrid;
pub use hybrid::{Hybrid, check_embeddings, open_retriever};
pub use locator::{Locator, open_model};
pub use maps::{
    AnswerMap, Atlas, add_places, answers_page, crowd_page, crowd_photo, kilometres, places_folder,
};
pub use options::LocateOptions;
pub use prior::with_prior;
pub use retrieval::neighbours;
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
pub use locdiff_gallery::{Centres, Fusion, Gallery, HybridAnswer, HybridOptions, HybridRule, Retriever};
pub use locdiff_model::{
    Model, ModelConfig, ModelError, Pooling, Prediction, Predictor, Query, Reading, SampleOptions, TraceStep,
};
pub use locdiff_nn::{Device, DeviceSpec, NnError};
pub use locdiff_places::Region;
pub use locdiff_shdd::{CodeDensity, Codec, Coefficients, Decoder, ShddError};
pub use locdiff_sphere::{Degree, LatLon, UnitVec, haversine_km};
pub use locdiff_vision::{Encoder, Photo, PhotoLimits, Taken, VisionError};
