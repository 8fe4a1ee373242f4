//! Everything that depends on the degree alone, made once: the codec.

use crate::sphere::{Degree, Field, FieldPlan, JetPlan, LatLon, Scalar, SphericalHarmonics, UnitVec};
use crate::{Coefficients, ShddError, search::Search};

/// Encodes points as SHDD codes and reads points and densities off coefficient vectors, at one degree L.
///
/// ```
/// use locdiff_shdd::{Codec, Decoder};
/// use locdiff_shdd::sphere::{Degree, LatLon, haversine_km};
/// let codec = Codec::new(Degree::new(47)?);
/// let place = LatLon::new(39.999, 116.275)?;
/// let code = codec.encode(place);
/// let back = codec.decode(&code, &Decoder::default())?;
/// assert!(haversine_km(place, back.place()) < 0.001);
/// # Ok::<(), locdiff_shdd::ShddError>(())
/// ```
#[derive(Debug)]
pub struct Codec {
    degree: Degree,
    harmonics: SphericalHarmonics,
    plan: FieldPlan,
    pub(crate) jets: JetPlan,
    pub(crate) search: Search,
}

impl Codec {
    /// Prepares tables for `degree`.
    pub fn new(degree: Degree) -> Self {
        let (harmonics, plan, jets) = (SphericalHarmonics::new(degree), FieldPlan::new(degree), JetPlan::new(degree));
        Self { degree, harmonics, plan, jets, search: Search::new(degree) }
    }

    /// Returns the degree L.
    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// Returns the harmonics that codes consist of.
    pub fn harmonics(&self) -> &SphericalHarmonics {
        &self.harmonics
    }

    /// The field `F = e·Y` of a coefficient vector, ready to be evaluated. Fails if the vector has another degree.
    pub fn field(&self, e: &Coefficients) -> Result<Field, ShddError> {
        self.check(e)?;
        Ok(self.plan.field(e.as_slice())?)
    }

    /// Encodes a location: `e = Y(x)` (the paper's PE_SHDD).
    pub fn encode(&self, place: LatLon) -> Coefficients {
        Coefficients::new(self.harmonics.at(place.to_unit())).expect("harmonics are finite and (L+1)² many")
    }

    /// The codes of many points, one row a point, on all threads, as f32 or f64.
    /// Fails if `out` has not `points.len() × (L+1)²` values.
    pub fn encode_batch<T: Scalar>(&self, points: &[UnitVec], out: &mut [T]) -> Result<(), ShddError> {
        Ok(self.harmonics.write(points, out)?)
    }

    /// Checks that a vector belongs to this codec.
    pub(crate) fn check(&self, e: &Coefficients) -> Result<(), ShddError> {
        let (expected, got) = (self.degree.get(), e.degree().get());
        if expected == got { Ok(()) } else { Err(ShddError::DegreeMismatch { expected, got }) }
    }
}
