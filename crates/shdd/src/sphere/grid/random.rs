//! Uniform random points.

use crate::sphere::UnitVec;
use rand::{Rng, RngExt};

impl UnitVec {
    /// A point drawn uniformly on the sphere (Archimedes: z and the longitude are independent and uniform).
    pub fn random<R: Rng + ?Sized>(rng: &mut R) -> Self {
        let z = rng.random_range(-1.0..=1.0);
        Self::from_z_lon(z, rng.random_range(0.0..std::f64::consts::TAU))
    }
}
