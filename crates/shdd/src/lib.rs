//! SHDD: Spherical Harmonics Dirac Delta codes (the LocDiff paper's representation of a location).
//!
//! A place becomes the coefficients `e = Y(x0)` of a Dirac delta on the sphere; any coefficient vector means a field
//! `F = e·Y` and a density `q = exp F / Z`. This crate encodes, reads places and densities off vectors with no grid
//! left in the answer.
//!
//! | you want | item |
//! |---|---|
//! | the code of a place, or of millions | [`Codec::encode`], [`Codec::encode_batch`] |
//! | the place a vector means | [`Codec::decode`], [`Codec::decode_batch`], [`Decoder`] |
//! | log density, log Z, entropy, modes, samples | [`CodeDensity`] |
//! | a credible region, the mass of a cap or raster | [`CodeDensity::credible_region`], [`CodeDensity::cap_mass`], [`CodeDensity::raster_mass`] |

mod cell;
mod codec;
mod coefficients;
mod cubature;
mod decode;
mod density;
mod error;
mod mode;
mod refine;
mod search;
pub mod sphere;

pub use codec::Codec;
pub use coefficients::Coefficients;
pub use decode::{Anchors, Decoder};
pub use density::{CodeDensity, CredibleRegion, RasterMass, RegionCell, WeightedMode};
pub use error::ShddError;
pub use mode::Mode;
