//! SHDD: Spherical Harmonics Dirac Delta codes (the LocDiff paper's representation of a location).
//!
//! The code of a location is `e = Y(x0)`: the coefficients of a Dirac delta on the sphere. Any coefficient vector means a
//! field `F = e·Y` and a density `q = exp F / Z`. This crate encodes locations, and finds locations and densities without
//! rounding to a grid.
//!
//! | you want | item |
//! |---|---|
//! | the code of a location, or of millions | [`Codec::encode`], [`Codec::encode_batch`] |
//! | the location of a vector | [`Codec::decode`], [`Codec::decode_batch`], [`Decoder`] |
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
