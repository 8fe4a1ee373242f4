//! A local maximum of a field.

use crate::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use std::f64::consts::TAU;

/// A local maximum of F, with the curvature there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Position of the maximum.
    pub point: UnitVec,
    /// F there: the log density plus log Z.
    pub value: f64,
    /// Hessian (uu, uv, vv) per radian² in the frame of [`UnitVec::tangents`].
    pub hessian: [f64; 3],
}

impl Mode {
    /// Returns the location.
    pub fn place(&self) -> LatLon {
        self.point.to_latlon()
    }

    /// Returns √det(−H), the inverse of the peak's Gaussian area over 2π; 0 if the maximum is degenerate.
    pub fn sharpness(&self) -> f64 {
        let [uu, uv, vv] = self.hessian;
        (uu * vv - uv * uv).max(0.0).sqrt()
    }

    /// Returns the geometric mean of the two standard deviations of the peak's Gaussian, in km.
    pub fn spread_km(&self) -> f64 {
        EARTH_RADIUS_KM / self.sharpness().sqrt()
    }

    /// Log of the Laplace mass `∫ exp F` of the peak, `exp(F)·2π/√detH`; over the whole sphere if the peak is flat.
    pub(crate) fn whole_mass(&self) -> f64 {
        let sharpness = self.sharpness();
        if sharpness == 0.0 { self.value + (2.0 * TAU).ln() } else { self.value + (TAU / sharpness).ln() }
    }
}
