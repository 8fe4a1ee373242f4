//! Places decoded from codes with noise on every number.

use locdiff_shdd::{Codec, Coefficients, Decoder, ShddError, sphere::LatLon, sphere::UnitVec, sphere::haversine_km};
use rand::{Rng, RngExt};
use std::{f64::consts::TAU, ops::Range};

/// How far in km the decoded places of `n` are from them, which `places` gives some at a time, after normal noise of that
/// variance on every coefficient. Of those `kept` alone stay. `progress` receives how many are done. Fails if the decoder fails.
pub(super) fn drifts_km<R: Rng>(
    (codec, decoder): (&Codec, &Decoder),
    (n, places): (usize, impl Fn(Range<usize>, &mut R) -> Vec<LatLon>),
    kept: Option<&[u32]>,
    variance: f64,
    rng: &mut R,
    progress: impl Fn(usize),
) -> Result<Vec<f64>, ShddError> {
    let mut drifts_km = Vec::with_capacity(n);
    while drifts_km.len() < n {
        let places = places(drifts_km.len()..n.min(drifts_km.len() + 256), rng);
        let noisy = places.iter().map(|place| {
            let all = with_noise(codec.encode(*place), variance, rng)?;
            let Some(kept) = kept else { return Ok(all) };
            let mut some = vec![0.0; all.as_slice().len()];
            kept.iter().for_each(|index| some[*index as usize] = all.as_slice()[*index as usize]);
            Coefficients::new(some)
        });
        let noisy = noisy.collect::<Result<Vec<_>, _>>()?;
        let decoded = codec.decode_batch(&noisy, decoder)?;
        drifts_km.extend(places.iter().zip(decoded).map(|(place, mode)| haversine_km(*place, mode.place())));
        progress(drifts_km.len());
    }
    Ok(drifts_km)
}

/// Random places, as many as there are numbers.
pub(super) fn anywhere<R: Rng>(numbers: Range<usize>, rng: &mut R) -> Vec<LatLon> {
    numbers.map(|_| UnitVec::random(rng).to_latlon()).collect()
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
