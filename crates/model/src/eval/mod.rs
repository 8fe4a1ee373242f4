//! How good answers are, by the rules of published tables, with an interval on every number.
//!
//! | you want | item |
//! |---|---|
//! | published rules: distance, radius, GeoScore | [`Preset`], [`Rules`] |
//! | published test photos, and which rules are theirs | [`Benchmark`] |
//! | a few numbers; what always answering one place gets | [`Accuracy`], [`best_constant`] |
//! | an interval for a statistic of your own | [`Bootstrap`], [`Blocks`] |
//! | how probable the truth was held to be | [`truths_in_densities`] |
//! | how much of the Earth a density needs to hold the truth | [`RecallArea`] |
//! | whether regions and radii hold what they promise | [`ReliabilityCurve`] |
//! | the distance to the nearest training photo | [`Nearby`] |

mod accuracy;
mod autocorrelation;
mod bootstrap;
mod error;
mod groups;
mod likelihood;
mod paired;
mod prdc;
mod preset;
mod reliability;
mod scores;
#[cfg(test)]
mod tests;

pub use accuracy::{Accuracy, best_constant};
pub(crate) use autocorrelation::{Correlogram, Lag};
pub use bootstrap::{Blocks, Bootstrap, Estimate};
pub use error::EvalError;
pub(crate) use error::Result;
pub use groups::Nearby;
pub(crate) use groups::{Group, by_label, by_novelty};
pub(crate) use likelihood::Likelihood;
pub use likelihood::{RecallArea, TruthInDensity, truths_in_densities};
pub(crate) use paired::Paired;
pub(crate) use prdc::{PRDC_CHUNKS, PRDC_NEIGHBOURS, Prdc};
pub use preset::{Benchmark, Preset, RADII_KM, Rules};
pub(crate) use preset::{DistanceRule, RADIUS_NAMES};
pub use reliability::{LEVELS, ReliabilityCurve, ReliabilityPoint};
pub(crate) use scores::{DistanceScores, RadiusShare};
