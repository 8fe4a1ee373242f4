//! From what a model says about a photo to a calibrated answer: a [`Calibration`] makes a [`Density`] of the network's
//! output, times what is also known ([`Knowledge`]), and a [`Reader`] reads the [`Answer`] off it. [`fit`] makes
//! probabilities hold, [`fit_gallery`] with a gallery's density, [`fit_places`] for a model that gives places scores.

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
