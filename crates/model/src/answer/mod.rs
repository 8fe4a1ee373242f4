//! From what a model says about a photo to a calibrated answer.
//!
//! | you want | item |
//! |---|---|
//! | the calibrated density of a network's output | [`Calibration::density`], [`Density`] |
//! | the answer that is read off it | [`Reader`], [`Answer`] |
//! | to add what is also known | [`Knowledge`] |
//! | probabilities that hold, for a model of your own | [`fit`], [`Calibration`] |
//! | the same mixed with a gallery's density | [`fit_gallery`], [`GalleryMix`], [`Kernels`] |
//! | the same for a model that gives places scores | [`CandidatePlaces`], [`PlaceField`], [`PlaceFit`], [`fit_places`] |
//! | to see whether they hold | [`Reader::judge`], [`Verdict`], [`ReliabilityCurve`] |
//!
//! ```
//! use locdiff_model::answer::{Calibration, Globe, ReadOptions, Reader, ModelOutput};
//! use locdiff_shdd::Coefficients;
//! use locdiff_shdd::sphere::LatLon;
//! use std::sync::Arc;
//! let globe = Arc::new(Globe::new(7)?);
//! let flat = Coefficients::new(vec![0.0; 64])?;
//! let reader = Reader::new(globe.clone(), Calibration::none(flat))?;
//! // A network that is sure of Paris.
//! let paris = LatLon::new(48.86, 2.35)?;
//! let code = globe.codec().encode(paris);
//! let answer = reader.answer(ModelOutput::new(&code), None, &ReadOptions::default())?;
//! assert_eq!(answer.best, answer.hypotheses[0].at);
//! assert!(answer.radius_50_km < answer.radius_90_km);
//! # Ok::<(), locdiff_model::answer::AnswerError>(())
//! ```

mod answer;
mod calibration;
mod calibration_file;
mod calibration_text;
mod cover;
mod density;
mod error;
mod fit;
mod gallery_mix;
mod globe;
mod kernels;
mod knowledge;
mod model_output;
mod pixel_sums;
mod place_field;
mod place_table;
mod probe;
mod reader;
mod support;
mod sure_levels;
mod tempered;
mod window;

pub use answer::{Answer, AnsweredBy, FromDensity, GalleryContribution, Hypothesis, Match};
pub use calibration::{Calibration, Factors, FitReport, ModelShape, OutOfDomain, interpolated_level};
pub use calibration_file::CALIBRATION_FILE;
pub use density::{Density, DensityRegion, Peak};
pub use error::AnswerError;
pub(crate) use error::Result;
pub use fit::{
    BACKGROUND_DRAWS, FEWEST_TO_CALIBRATE, MOST_NEIGHBOURS, Observation, PlaceFit, choose_mix, fit, fit_gallery,
    fit_places,
};
pub use gallery_mix::GalleryMix;
pub use globe::Globe;
pub use kernels::{KernelSettings, Kernels, Neighbour};
pub use knowledge::Knowledge;
pub use model_output::ModelOutput;
pub use pixel_sums::log_integral;
pub use place_field::PlaceField;
pub use place_table::{CandidatePlaces, PlaceSettings};
pub use probe::Probe;
pub use reader::{ReadOptions, Reader, Verdict};
pub use sure_levels::{SureLevels, Sureness};
pub use tempered::Tempered;

pub use crate::eval::{LEVELS, ReliabilityCurve};
