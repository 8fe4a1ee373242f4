//! How good answers are, by the rules of published tables, with an interval on every number.
//!
//! | you want | item |
//! |---|---|
//! | published rules: distance, radius, GeoScore | [`Preset`], [`Rules`] |
//! | published test photos, and which rules are theirs | [`Benchmark`] |
//! | a few numbers | [`Accuracy`] |
//! | all numbers that distances give, with intervals | [`Scores`] |
//! | an interval for a statistic of your own | [`Bootstrap`] |
//! | whether one system is better than another | [`Paired`], [`sign_test`] |
//! | whether answers are spread as truths are | [`Prdc`] |
//! | how probable the truth was held to be | [`Likelihood`], [`truths_in_densities`] |
//! | whether regions and radii hold what they promise | [`ReliabilityCurve`] |
//! | scores by country, or by distance to training photos | [`by_label`], [`by_novelty`], [`Nearby`] |
//! | whether neighbours err alike | [`Correlogram`] |

mod accuracy;
mod autocorrelation;
mod benchmark;
mod bootstrap;
mod codes;
mod error;
mod groups;
mod likelihood;
mod nearby;
mod paired;
mod prdc;
mod preset;
mod reliability;
mod scores;

pub use accuracy::Accuracy;
pub use autocorrelation::{Correlogram, Lag};
pub use benchmark::Benchmark;
pub use bootstrap::{Bootstrap, Estimate};
pub use codes::{TruthInDensity, truths_in_densities};
pub use error::EvalError;
pub use groups::{Group, NOVELTY_EDGES_KM, by_label, by_novelty};
pub use likelihood::Likelihood;
pub use nearby::Nearby;
pub use paired::{Paired, PairedRadius, sign_test};
pub use prdc::{PRDC_CHUNKS, PRDC_NEIGHBOURS, Prdc};
pub use preset::{DistanceRule, Preset, RADII_KM, RADIUS_NAMES, Rules};
pub use reliability::{LEVELS, ReliabilityCurve, ReliabilityPoint};
pub use scores::{ErrorQuantile, RadiusShare, Scores};
