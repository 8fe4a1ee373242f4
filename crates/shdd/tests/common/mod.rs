//! Shared by the integration tests.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod zonal;

use locdiff_shdd::{Codec, Coefficients, sphere::Degree, sphere::LatLon, sphere::UnitVec};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn codec(l: usize) -> Codec {
    Codec::new(Degree::new(l).unwrap())
}

/// Standard normal.
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

pub(crate) fn random_place(rng: &mut ChaCha8Rng) -> LatLon {
    UnitVec::random(rng).to_latlon()
}

/// `scale·Y(place) + sigma·noise`.
pub(crate) fn noisy(codec: &Codec, place: LatLon, scale: f64, sigma: f64, rng: &mut ChaCha8Rng) -> Coefficients {
    let clean = codec.encode(place).into_vec();
    Coefficients::new(clean.into_iter().map(|v| scale * v + sigma * normal(rng)).collect()).unwrap()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
