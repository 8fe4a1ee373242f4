//! How densities hold the truths.

use crate::eval::{Result, error::expect_len};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon};
use locdiff_shdd::{Codec, Coefficients};
use rayon::prelude::*;

/// How one photo's density holds its truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruthInDensity {
    /// log q at the truth, in nats per steradian.
    pub log_density: f64,
    /// Probability of the smallest credible region that holds the truth; for [`crate::eval::ReliabilityCurve::of_levels`].
    pub region_level: f64,
    /// Area of that region.
    pub region_area_km2: f64,
    /// Probability within the truth's distance of the highest mode: the level of the radii reported with answers.
    pub radius_level: f64,
    /// The highest mode; `None` for a constant density.
    pub mode: Option<LatLon>,
}

/// Judges densities, given as natural parameters (q = exp(e·Y)/Z by quadrature), by the truths.
///
/// ```
/// use locdiff_model::eval::truths_in_densities;
/// use locdiff_shdd::Codec;
/// use locdiff_shdd::sphere::{Degree, LatLon};
/// let codec = Codec::new(Degree::new(11)?);
/// let place = LatLon::new(50.0, 10.0)?;
/// let found = truths_in_densities(&codec, &[codec.encode(place)], &[place])?;
/// assert!(found[0].region_level < 0.01 && found[0].log_density > 2.0 && found[0].region_area_km2 < 10_000.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Fails if there is not one code of the codec's degree per photo.
pub fn truths_in_densities(codec: &Codec, codes: &[Coefficients], truths: &[LatLon]) -> Result<Vec<TruthInDensity>> {
    expect_len("codes", codes.len(), truths.len())?;
    let judge = |(code, truth): (&Coefficients, &LatLon)| -> Result<TruthInDensity> {
        let density = codec.density(code)?;
        let point = truth.to_unit();
        let log_density = density.log_density(&[point])[0];
        let mode = density.top_mode().map(|mode| mode.point);
        // The mode itself is 0 away: no cap has no radius.
        let least = 1e-6 / EARTH_RADIUS_KM;
        let radius_level = match mode {
            Some(mode) => density.cap_mass(mode, mode.angle_rad(point).max(least))?,
            None => f64::NAN,
        };
        Ok(TruthInDensity {
            log_density,
            region_level: density.region_level(log_density),
            region_area_km2: density.region_area_km2(log_density),
            radius_level,
            mode: mode.map(locdiff_shdd::sphere::UnitVec::to_latlon),
        })
    };
    codes.par_iter().zip(truths).map(judge).collect()
}
