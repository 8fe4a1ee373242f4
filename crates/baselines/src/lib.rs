//! LocDiff's rivals, trained and run on the same embeddings, splits and engine.
//!
//! | you want | item |
//! |---|---|
//! | a method by its name | [`Method`] |
//! | what every method can do | [`Baseline`] |
//! | data for it | [`Examples`], [`FitData`] |
//! | how much work it may do | [`Effort`] |
//! | retrieval | [`NearestNeighbours`] |
//! | classification into cells | [`CellClassifier`], [`CellScheme`], [`Partition`] |
//! | densities of von Mises and Fisher | [`VonMisesFisher`], [`VmfMixture`] |
//! | diffusion and flows of coordinates | [`CoordinateGenerator`], [`CoordinatePath`] |
//! | image–location contrast | [`Contrastive`], [`RetrievalGallery`] |
//! | location encoders with a learned decoder | [`EncoderAblation`], [`LocationEncoder`], [`EncoderKind`], [`NnDecoder`] |
//! | LocDiff itself | [`LocDiff`] |
//! | methods fitted, tested and set side by side | [`Splits`], [`Trial`], [`Comparison`] |
//! | tables of the paper, made again | [`ModelTable`], [`AnchorTable`], [`PerturbationDrift`], [`ReducedDrift`], [`TimingTable`] |
//!
//! Every choice (neighbours, kernel widths, the best step of a training) is made on the validation data; networks, optimiser
//! and budget are the same for all neural methods.
//!
//! # Example
//! ```
//! use locdiff_baselines::{Effort, Examples, FitData, Method};
//! use locdiff_nn::Device;
//! use locdiff_sphere::{LatLon, UnitVec};
//! let cairo = LatLon::new(30.0, 31.2)?.to_unit();
//! let examples = Examples::new(2, &[vec![1.0, 0.0, 0.0, 1.0]], vec![UnitVec::NORTH, cairo])?;
//! let mut method = "knn".parse::<Method>()?.build(&Device::cpu(), Effort::quick(), 0);
//! method.fit(FitData { training: &examples, validation: &examples }, &mut |_| ())?;
//! let found = method.predict(&[0.1, 0.9])?;
//! assert!((found[0].lat_deg() - 30.0).abs() < 1e-9);
//! # Ok::<(), locdiff_baselines::BaselineError>(())
//! ```

mod baseline;
mod blend;
mod cells;
mod comparison;
mod contrastive;
mod coordinates;
mod effort;
mod encoders;
mod error;
mod examples;
mod knn;
mod learner;
mod locdiff;
mod method;
mod paper;
mod reading;
mod sampled;
mod splits;
mod stopwatch;
#[cfg(test)]
mod toy;
mod trial;
mod vmf;

pub use baseline::{Baseline, FitData, PhotoDensity};
pub use blend::Blend;
pub use cells::{CellClassifier, CellScheme, Partition};
pub use comparison::Comparison;
pub use contrastive::{Contrastive, RetrievalGallery};
pub use coordinates::{CoordinateGenerator, CoordinatePath};
pub use effort::{Effort, EffortPreset};
pub use encoders::{EncoderAblation, EncoderKind, LocationEncoder, NnDecoder};
pub use error::BaselineError;
pub use examples::Examples;
pub use knn::NearestNeighbours;
pub use locdiff::LocDiff;
pub use method::Method;
pub use paper::{
    AnchorTable, DiffusionTable, Experiment, ModelTable, ModelTableKind, PerturbationDrift, ReducedDrift,
    TimedOperation, TimingTable,
};
pub use reading::CommonReading;
pub use splits::Splits;
pub use stopwatch::Stopwatch;
pub use trial::Trial;
pub use vmf::{VmfMixture, VonMisesFisher};
