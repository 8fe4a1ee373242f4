//! How good answers are, by the rules of published tables, with an interval on every number.
//!
//! | you want | item |
//! |---|---|
//! | published rules: distance, radius, GeoScore | [`Preset`], [`Rules`] |
//! | published test photos, and which rules are theirs | [`Benchmark`] |
//! | a few numbers | [`Accuracy`] |
//! | all numbers that distances give, with intervals | [`DistanceScores`] |
//! | an interval for a statistic of your own | [`Bootstrap`], [`Blocks`] |
//! | whether one system is better than another | [`Paired`], [`sign_test`] |
//! | what always answering one place gets | [`best_constant`] |
//! | whether answers are spread as truths are | [`Prdc`] |
//! | how probable the truth was held to be | [`Likelihood`], [`truths_in_densities`] |
//! | how much of the Earth a density needs to hold the truth | [`RecallArea`] |
//! | whether regions and radii hold what they promise | [`ReliabilityCurve`] |
//! | scores by country, or by distance to training photos | [`by_label`], [`by_novelty`], [`Nearby`] |
//! | whether neighbours err alike | [`Correlogram`] |

mod accuracy;
mod autocorrelation;
mod benchmark;
mod blocks;
mod bootstrap;
mod codes;
mod constant;
mod error;
mod groups;
mod likelihood;
mod nearby;
mod paired;
mod prdc;
mod preset;
mod recall_area;
mod reliability;
mod scores;

pub use accuracy::Accuracy;
pub use autocorrelation::{Correlogram, Lag};
pub use benchmark::Benchmark;
pub use blocks::Blocks;
pub use bootstrap::{Bootstrap, Estimate};
pub use codes::{TruthInDensity, truths_in_densities};
pub use constant::best_constant;
pub use error::EvalError;
pub(crate) use error::Result;
pub use groups::{Group, NOVELTY_EDGES_KM, by_label, by_novelty};
pub use likelihood::Likelihood;
pub use nearby::Nearby;
pub use paired::{Paired, PairedRadius, sign_test};
pub use prdc::{PRDC_CHUNKS, PRDC_NEIGHBOURS, Prdc};
pub use preset::{DistanceRule, Preset, RADII_KM, RADIUS_NAMES, Rules};
pub use recall_area::{AreaAtRecall, RecallArea, RecallPoint};
pub use reliability::{LEVELS, ReliabilityCurve, ReliabilityPoint};
pub use scores::{DistanceScores, ErrorQuantile, RadiusShare};
