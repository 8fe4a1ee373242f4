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

mod answer;
mod calibration;
mod calibration_file;
mod cover;
mod density;
mod error;
mod fit;
mod globe;
mod kernels;
mod knowledge;
mod place_field;
mod probe;
mod reader;
mod support;
mod sure_levels;
mod tempered;
mod window;

pub use answer::{Answer, AnsweredBy, FromDensity, GalleryContribution, Hypothesis, Match};
pub use calibration::{Calibration, Factors, FitReport, ModelOutput, ModelShape, OutOfDomain};
pub use calibration_file::CALIBRATION_FILE;
pub use density::{Density, DensityRegion, Peak};
pub use error::AnswerError;
pub(crate) use error::Result;
pub use fit::{
    BACKGROUND_DRAWS, FEWEST_TO_CALIBRATE, MOST_NEIGHBOURS, Observation, PlaceFit, choose_mix, fit, fit_gallery,
    fit_places,
};
pub use globe::Globe;
pub use kernels::{GalleryMix, KernelSettings, Kernels, Neighbour};
pub use knowledge::Knowledge;
pub use place_field::{CandidatePlaces, PlaceField, PlaceSettings};
pub use probe::Probe;
pub use reader::{ReadOptions, Reader, Verdict};
pub use sure_levels::{SureLevels, Sureness};
pub(crate) use tempered::Tempered;

pub use crate::eval::{LEVELS, ReliabilityCurve};
