//! Places decoded from codes with noise on every number.

use locdiff_shdd::sphere::{LatLon, UnitVec, haversine_km};
use locdiff_shdd::{Codec, Coefficients, Decoder, ShddError};
use rand::{Rng, RngExt};
use std::f64::consts::TAU;

/// How far in km the decoded places of `n` random ones are from them, after normal noise of that variance on every
/// coefficient; `progress` receives how many are done. Fails if the decoder fails.
pub(super) fn drifts_km(
    codec: &Codec,
    decoder: &Decoder,
    variance: f64,
    n: usize,
    rng: &mut impl Rng,
    progress: impl Fn(usize),
) -> Result<Vec<f64>, ShddError> {
    let mut drifts_km = Vec::with_capacity(n);
    while drifts_km.len() < n {
        let count = 256.min(n - drifts_km.len());
        let places: Vec<LatLon> = (0..count).map(|_| UnitVec::random(rng).to_latlon()).collect();
        let noisy = places.iter().map(|place| with_noise(codec.encode(*place), variance, rng));
        let noisy = noisy.collect::<Result<Vec<_>, _>>()?;
        let decoded = codec.decode_batch(&noisy, decoder)?;
        drifts_km.extend(places.iter().zip(decoded).map(|(place, mode)| haversine_km(*place, mode.place())));
        progress(drifts_km.len());
    }
    Ok(drifts_km)
}

/// A code with Gaussian noise of this variance on every number. Fails on a variance that is not finite.
pub fn with_noise(code: Coefficients, variance: f64, rng: &mut impl Rng) -> Result<Coefficients, ShddError> {
    let sigma = variance.sqrt();
    Coefficients::new(code.into_vec().into_iter().map(|value| value + sigma * normal(rng)).collect())
}

/// Standard normal, by Box–Muller.
fn normal(rng: &mut impl Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random_range(0.0..1.0f64)).ln()).sqrt();
    radius * (TAU * rng.random_range(0.0..1.0f64)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn noise_moves_places_by_less_than_100_km() {
        let codec = Codec::new(locdiff_shdd::sphere::Degree::new(23).unwrap());
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(0);
        let drifts = drifts_km(&codec, &Decoder::Exact { window_rad: None }, 0.01, 20, &mut rng, |_| ()).unwrap();
        assert!(drifts.iter().all(|km| *km < 100.0));
    }
}
