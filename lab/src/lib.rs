//! LocDiff's rivals, trained and run on the same embeddings, splits and engine.
//!
//! | you want | item |
//! |---|---|
//! | a method by its name: retrieval, cells, von Mises–Fisher densities, coordinate flows, contrast, location encoders, LocDiff | [`Method`] |
//! | what every method can do | [`Baseline`] |
//! | data for it | [`Examples`], [`FitData`] |
//! | how much work it may do | [`Effort`] |
//! | methods fitted, tested and set side by side | [`Splits`], [`Trial`], [`Comparison`] |
//! | map factors of LocDiff and its rivals | [`FactorStudy`] |
//! | tables of the paper, made again | [`ModelTable`], [`AnchorTable`], [`NoisyCodes`], [`TimingTable`] |
//!
//! Every choice (neighbours, kernel widths, the best step of a training) is made on the validation data; networks, optimiser
//! and budget are the same for all neural methods.
//!
//! # Example
//! ```
//! use locdiff_lab::{Effort, Examples, FitData, Method};
//! use locdiff_nn::Device;
//! use locdiff_shdd::sphere::{LatLon, UnitVec};
//! let cairo = LatLon::new(30.0, 31.2)?.to_unit();
//! let examples = Examples::new(2, &[vec![1.0, 0.0, 0.0, 1.0]], vec![UnitVec::NORTH, cairo])?;
//! let fit = "knn".parse::<Method>()?.build(&Device::cpu(), Effort::quick(), 0);
//! let method = fit(FitData { training: &examples, validation: &examples }, &mut |_| ())?;
//! let found = method.predict(&[0.1, 0.9])?;
//! assert!((found[0].lat_deg() - 30.0).abs() < 1e-9);
//! # Ok::<(), anyhow::Error>(())
//! ```

mod baseline;
mod blend;
mod bundled;
mod cells;
mod comparison;
mod contrastive;
mod coordinates;
mod effort;
mod encoders;
mod examples;
mod factors;
mod knn;
mod learner;
mod locdiff;
mod method;
mod paper;
mod reading;
mod sampled;
mod search;
mod splits;
mod table;
#[cfg(test)]
mod toy;
mod trial;
mod vmf;

pub(crate) use anyhow::Result;
pub use baseline::{Baseline, Fit, FitData, PhotoDensity, Points};
pub use cells::CellScheme;
pub use comparison::Comparison;
pub use contrastive::RetrievalGallery;
pub use coordinates::CoordinatePath;
pub use effort::{Effort, EffortPreset, Stopwatch};
pub use encoders::EncoderKind;
pub use examples::Examples;
pub use factors::{FactorStudy, FactorTable};
pub use method::Method;
pub use paper::{
    AnchorTable, DiffusionTable, Experiment, ModelTable, ModelTableKind, NoisyCodes, TimedOperation, TimingTable,
    with_noise,
};
pub use splits::Splits;
pub use table::Table;
pub use trial::Trial;
