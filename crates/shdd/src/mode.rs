//! A local maximum of a field.

use crate::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec};
use std::f64::consts::TAU;

/// A local maximum of F, with the curvature there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Where.
    pub point: UnitVec,
    /// F there: the log density up to log Z.
    pub value: f64,
    /// Hessian (uu, uv, vv) per radian² in the frame of [`UnitVec::tangents`].
    pub hessian: [f64; 3],
}

impl Mode {
    /// The place.
    pub fn place(&self) -> LatLon {
        self.point.to_latlon()
    }

    /// √det(−H), the inverse of the peak's Gaussian area over 2π; 0 where the maximum is degenerate.
    pub fn sharpness(&self) -> f64 {
        let [uu, uv, vv] = self.hessian;
        (uu * vv - uv * uv).max(0.0).sqrt()
    }

    /// Geometric mean of the two standard deviations of the peak's Gaussian, in km.
    pub fn spread_km(&self) -> f64 {
        EARTH_RADIUS_KM / self.sharpness().sqrt()
    }

    /// Log of the Laplace mass `∫ exp F` of the peak inside `window_rad` (`None`: all of it):
    /// `exp(F)·2π/√detH·(1 − exp(−√detH·ρ²/2))`.
    pub fn log_mass(&self, window_rad: Option<f64>) -> f64 {
        let sharpness = self.sharpness();
        if sharpness == 0.0 {
            // A flat top: the window's area, or the whole sphere's.
            let area = window_rad.map_or(2.0 * TAU, |rho| TAU * (1.0 - rho.cos()));
            return self.value + area.ln();
        }
        let inside = window_rad.map_or(1.0, |rho| -(-0.5 * sharpness * rho * rho).exp_m1());
        self.value + (TAU / sharpness * inside).ln()
    }
}
