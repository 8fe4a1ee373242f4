//! How good answers are, by the rules of published tables ([`Preset`], [`Benchmark`]), with an interval on every number
//! ([`Bootstrap`]): [`Accuracy`], [`truths_in_densities`], [`RecallArea`], [`ReliabilityCurve`].

mod accuracy;
mod bootstrap;
mod countries;
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
pub use bootstrap::{Blocks, Bootstrap, Estimate};
pub(crate) use countries::CountryScores;
pub use countries::country_at;
pub use error::EvalError;
pub(crate) use error::Result;
pub use groups::Nearby;
pub(crate) use groups::{Group, by_label, by_novelty};
pub(crate) use likelihood::Likelihood;
pub use likelihood::{RecallArea, TruthInDensity, truths_in_densities};
pub(crate) use paired::Paired;
pub use prdc::Prdc;
pub(crate) use prdc::{PRDC_CHUNKS, PRDC_NEIGHBOURS};
pub use preset::{Benchmark, Preset, RADII_KM, Rules};
pub(crate) use preset::{DistanceRule, RADIUS_NAMES};
pub use reliability::{LEVELS, ReliabilityCurve, ReliabilityPoint};
pub(crate) use scores::DistanceScores;
