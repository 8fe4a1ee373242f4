//! A small Gaussian on the sphere: what is known to a few kilometres.

use locdiff_shdd::sphere::{UnitVec, interpolate};
use std::f64::consts::PI;

/// A heat kernel so narrow that the sphere is flat under it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Blob {
    pub(crate) centre: UnitVec,
    /// Variance along each axis, rad².
    pub(crate) variance: f64,
    /// What it integrates to.
    pub(crate) mass: f64,
}

/// Kilometres of deviation as a variance in rad².
pub(crate) fn variance_of_km(km: f64) -> f64 {
    (km / locdiff_shdd::sphere::EARTH_RADIUS_KM).powi(2)
}

impl Blob {
    pub(crate) fn at_km(centre: UnitVec, deviation_km: f64, mass: f64) -> Self {
        Self { centre, variance: variance_of_km(deviation_km), mass }
    }

    /// Density per steradian.
    pub(crate) fn density(&self, point: UnitVec) -> f64 {
        // Beyond some eight deviations there is nothing; most points are there, and a chord is sooner had than an angle.
        if 2.0 * (1.0 - self.centre.dot(point)) > 60.0 * self.variance {
            return 0.0;
        }
        let angle = self.centre.angle_rad(point);
        self.mass * (-0.5 * angle * angle / self.variance).exp() / (2.0 * PI * self.variance)
    }

    /// The product of two, a blob again.
    pub(crate) fn times(&self, other: &Self) -> Self {
        let both = self.variance + other.variance;
        let angle = self.centre.angle_rad(other.centre);
        let overlap = (-0.5 * angle * angle / both).exp() / (2.0 * PI * both);
        Self {
            centre: interpolate(self.centre, other.centre, self.variance / both),
            variance: self.variance * other.variance / both,
            mass: self.mass * other.mass * overlap,
        }
    }

    /// Both as one with their mass, mean and variance.
    fn merged(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        let (a, b) = (self.mass / mass, other.mass / mass);
        let angle = self.centre.angle_rad(other.centre);
        Self {
            centre: interpolate(self.centre, other.centre, b),
            variance: a * self.variance + b * other.variance + 0.5 * a * b * angle * angle,
            mass,
        }
    }

    /// Whether their variances differ by at most a factor, and their centres by at most a part of the narrower width.
    fn is_like(&self, other: &Self, factor: f64, part: f64) -> bool {
        let ratio = self.variance / other.variance;
        let angle = self.centre.angle_rad(other.centre);
        ratio < factor && ratio * factor > 1.0 && angle * angle < part * self.variance.min(other.variance)
    }
}

/// How alike two are that become one: always, and where there is no room for more.
const ALIKE: (f64, f64) = (2.5, 0.25);
const RATHER_ALIKE: (f64, f64) = (5.0, 1.0);

/// The heaviest blobs, nearly equal ones merged, at most `most`; what is left over is returned apart.
pub(crate) fn thinned(mut blobs: Vec<Blob>, most: usize, lightest: f64) -> (Vec<Blob>, Vec<Blob>) {
    blobs.retain(|blob| blob.mass > lightest);
    blobs.sort_by(|a, b| b.mass.total_cmp(&a.mass));
    let (mut kept, mut over): (Vec<Blob>, Vec<Blob>) = (Vec::new(), Vec::new());
    for blob in blobs {
        let (factor, part) = if kept.len() < most { ALIKE } else { RATHER_ALIKE };
        if let Some(like) = kept.iter_mut().find(|other| other.is_like(&blob, factor, part)) {
            *like = like.merged(&blob);
        } else if kept.len() < most {
            kept.push(blob);
        } else {
            over.push(blob);
        }
    }
    (kept, over)
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon};

    #[test]
    fn a_product_lies_between_and_is_narrower() {
        let a = Blob::at_km(LatLon::new(48.0, 2.0).unwrap().to_unit(), 30.0, 1.0);
        let b = Blob::at_km(LatLon::new(48.0, 3.0).unwrap().to_unit(), 30.0, 1.0);
        let both = a.times(&b);
        let place = both.centre.to_latlon();
        assert!((place.lon_deg() - 2.5).abs() < 1e-6);
        assert!((both.variance.sqrt() * EARTH_RADIUS_KM - 30.0 / 2f64.sqrt()).abs() < 1e-6);
        // The density of the product is the product of the densities.
        let point = LatLon::new(48.1, 2.6).unwrap().to_unit();
        let (left, right) = (both.density(point), a.density(point) * b.density(point));
        assert!((left / right - 1.0).abs() < 1e-3, "{left} {right}");
    }

    #[test]
    fn thinning_keeps_the_mass() {
        let centre = LatLon::new(10.0, 20.0).unwrap().to_unit();
        let many: Vec<Blob> = (0..40).map(|k| Blob::at_km(centre, 1.5f64.powi(k % 10), 1.0)).collect();
        let (kept, over) = thinned(many, 4, 0.0);
        assert!(kept.len() <= 4);
        let sum: f64 = kept.iter().chain(&over).map(|blob| blob.mass).sum();
        assert!((sum - 40.0).abs() < 1e-9);
    }
}
