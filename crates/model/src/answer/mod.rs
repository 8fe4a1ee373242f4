//! From what a model says about a photo to a calibrated answer: a [`Calibration`] makes a [`Density`] of the network's
//! output, times what is also known ([`Knowledge`]), and a [`Reader`] reads the [`Answer`] off it. [`fit`] makes
//! probabilities hold, [`fit_gallery`] with a gallery's density, [`fit_places`] for a model that gives places scores.

mod answer;
mod calibration;
mod calibration_file;
mod cell_density;
mod cell_grid;
mod circles;
mod cover;
mod density;
mod density_bins;
mod error;
mod fine_pixels;
mod fit;
mod globe;
mod headline;
mod kernels;
mod knowledge;
mod ledger;
mod lumps;
mod map_factors;
mod mixture;
mod place_field;
mod probe;
mod radii;
mod read_text;
mod reader;
mod region_shares;
mod smallest_region;
mod support;
mod sure_levels;
mod surroundings;
mod tag_place;
mod tempered;
mod text;
mod window;

pub use answer::{Answer, AnsweredBy, FromDensity, GalleryContribution, Hypothesis, Match};
pub use calibration::{Calibration, Factors, FitReport, ModelOutput, ModelShape, NarrowWindow, OutOfDomain};
pub use calibration_file::CALIBRATION_FILE;
pub use cell_density::CellDensity;
pub use density::{Density, Peak};
pub use density_bins::DensityRegion;
pub use error::AnswerError;
pub(crate) use error::Result;
pub use fit::{
    BACKGROUND_DRAWS, FEWEST_FOR_HEADS, FEWEST_TO_CALIBRATE, FitOptions, MOST_NEIGHBOURS, Observation, PlaceFit,
    choose_mix, fit, fit_gallery, fit_places, fit_surroundings,
};
pub use globe::Globe;
pub use kernels::{GalleryMix, KernelSettings, Kernels, Neighbour};
pub use knowledge::Knowledge;
pub use ledger::{AnswerWithout, LedgerRow};
pub use map_factors::FactorEffect;
pub use place_field::{CandidatePlaces, PlaceField, PlaceSettings};
pub use probe::Probe;
pub use read_text::{ReadText, TextEffect};
pub use reader::{ReadOptions, Reader, Verdict};
pub use region_shares::{RegionMasses, RegionShare};
pub use sure_levels::{SureLevels, Sureness};
pub use surroundings::{ClassProbabilities, Surroundings};
pub(crate) use tempered::Tempered;

pub use crate::eval::{LEVELS, ReliabilityCurve};
