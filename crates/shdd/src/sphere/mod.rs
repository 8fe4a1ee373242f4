//! Points on the sphere and functions on it: distances, grids with quadrature weights, spherical harmonics that are
//! exact at every degree, and fast transforms. No machine learning, no input or output.
//!
//! | you want | item |
//! |---|---|
//! | a place, checked | [`LatLon`], [`UnitVec`] |
//! | a distance | [`haversine_km`], [`geodesic_km`], [`UnitVec::angle_rad`] |
//! | what lies near a place | [`LatitudeIndex`] |
//! | outlines, and whether they hold a place | [`Polygon`], [`PolygonIndex`], [`Unpacker`] |
//! | a centre or a path | [`spherical_mean`], [`interpolate`] |
//! | points that cover the sphere | [`Grid`], [`Pixels`], [`Pixel`], [`Rings`] |
//! | all Y_lm at points | [`SphericalHarmonics`] |
//! | Σ e·Y at points, never storing Y | [`FieldPlan`] |
//! | its gradient and Hessian | [`JetPlan`] |
//! | Σ w·Y over points (the adjoint) | [`SphericalHarmonics::weighted_sum`] |
//! | coefficients ↔ values on rings | [`Rings::synthesize`], [`Rings::analyze`] |

mod aligned;
mod by_degree;
mod centre;
mod degree;
mod distance;
mod error;
mod exp;
mod field;
mod gauss;
mod grid;
mod harmonics;
mod jet;
mod latitude;
mod point;
mod polygon;
mod recurrence;
mod rings;
mod scalar;
mod simd;
mod unpack;

pub use centre::{interpolate, spherical_mean};
pub use degree::Degree;
pub use distance::{EARTH_RADIUS_KM, geodesic_km, haversine_km};
pub use error::SphereError;
pub use exp::{Exponents, exp_all, ln_all};
pub use field::{Field, FieldPlan};
pub use gauss::gauss_legendre;
pub use grid::{Grid, Pixel, Pixels};
pub use harmonics::{Scalar, SphericalHarmonics};
pub use jet::{Jet, JetField, JetPlan};
pub use latitude::LatitudeIndex;
pub use point::{LatLon, UnitVec};
pub use polygon::{Polygon, PolygonIndex, Ring, ring_area_sr, ring_contains};
pub use rings::Rings;
pub use scalar::Number;
pub use unpack::Unpacker;
