//! How far decoded places move when codes get noise, and when they keep a part of their numbers. As JSON and as text.

use crate::paper::mean;
use anyhow::{Result, ensure};
use locdiff_model::ModelConfig;
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, LatLon, UnitVec, haversine_km};
use locdiff_shdd::{Codec, Coefficients, Decoder, ShddError};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::{f64::consts::FRAC_PI_2, f64::consts::TAU, fmt::Write, ops::Range};

/// The paper's SHDD row: L = 47, variance 0.01.
const PAPER_KM: f64 = 5.3;

/// Codes of `n` places with normal noise of a variance on every number.
#[derive(Debug, Clone, Copy)]
pub struct NoisyCodes<'a> {
    pub codec: &'a Codec,
    pub decoder: &'a Decoder,
    pub variance: f64,
    pub n: usize,
    pub seed: u64,
}

impl NoisyCodes<'_> {
    /// The row of SHDD in the paper's table of perturbation drift, of random places. `name` is what the decoder is called;
    /// `progress` hears how many places are done.
    pub fn drift(&self, name: &str, progress: impl Fn(usize)) -> Result<(Value, String)> {
        let Self { codec, decoder, variance, n, seed } = *self;
        let (degree, mut rng) = (codec.degree(), ChaCha8Rng::seed_from_u64(seed));
        let mut km = drifts_km((codec, decoder), (n, anywhere), None, variance, &mut rng, progress)?;
        let mean = mean(&km);
        let spread = km.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n as f64 - 1.0).max(1.0);
        km.sort_by(f64::total_cmp);
        // Half of the mean's 95 % interval, and the least that any unbiased decoder can have.
        let half_width = 1.96 * (spread / n as f64).sqrt();
        let limit = variance.sqrt() * FRAC_PI_2.sqrt() * EARTH_RADIUS_KM / degree.curvature().sqrt();
        let (median, worst) = (km[n / 2], km[n - 1]);
        let is_papers = degree.get() == 47 && (variance - 0.01).abs() < 1e-12;
        let value = json!({
            "table": "perturbation drift", "encoder": "SHDD", "decoder": name, "degree": degree.get(),
            "variance": variance, "n": n, "seed": seed, "mean_km": mean,
            "mean_95_percent_km": [mean - half_width, mean + half_width], "median_km": median,
            "worst_km": worst, "cramer_rao_km": limit, "paper_km": is_papers.then_some(PAPER_KM),
        });
        let mut out = format!(
            "Perturbation drift: Gaussian noise of variance {variance} on every coefficient\nn = {n}, seed = {seed}\n\n"
        );
        let mut row = |encoder: &str, decoder: &str, drift: &str| {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{encoder:<16} {decoder:<24} {drift:>14}");
        };
        row("encoder", "decoder", "drift (km)");
        if is_papers {
            row("SHDD (L=47)", "the paper's", &PAPER_KM.to_string());
        }
        row(&format!("SHDD (L={degree})"), name, &format!("{mean:.2} ± {half_width:.2}"));
        row("", "Cramér–Rao limit", &format!("{limit:.2}"));
        Ok((value, out + &format!("\nmedian {median:.2} km, worst {worst:.2} km\n")))
    }

    /// What the appendix's dimension reduction costs: how far decoded places lie from the true ones where codes keep the `count`
    /// numbers that are largest over `places`, as `locdiff train --keep-dimensions` keeps them, and the others are zero. Measured on
    /// `n` of the places, or all where there are fewer, without noise and with noise on every number kept.
    pub fn reduced(&self, places: &[LatLon], count: usize, progress: impl Fn(usize)) -> Result<(Value, String)> {
        let Self { codec, decoder, variance, n, seed } = *self;
        let degree = codec.degree();
        let low_pass_km = Some(ModelConfig::usual_low_pass_km(degree.get()));
        let config = ModelConfig { low_pass_km, ..ModelConfig::new(degree.get(), 1) };
        let units: Vec<_> = places.iter().map(|place| place.to_unit()).collect();
        let config = config.keep_dimensions(count, &units)?;
        let kept = config.kept.unwrap_or_else(|| (0..degree.dimension() as u32).collect());
        ensure!(n > 0, "places = 0 cannot be used: 1 or more");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut some = places.to_vec();
        for k in 0..n.min(some.len()) {
            let other = rng.random_range(k..places.len());
            some.swap(k, other);
        }
        some.truncate(n);
        let mut measure = |variance: f64, before: usize| -> Result<[f64; 4]> {
            let tell = |done: usize| progress(before + done);
            let own = |rows: Range<usize>, _: &mut ChaCha8Rng| some[rows].to_vec();
            let mut km = drifts_km((codec, decoder), (some.len(), own), Some(&kept), variance, &mut rng, tell)?;
            km.sort_by(f64::total_cmp);
            // Mean, median, what nine of ten do not exceed, and the worst.
            let at = |share: f64| km[((km.len() as f64 * share) as usize).min(km.len() - 1)];
            Ok([mean(&km), at(0.5), at(0.9), at(1.0)])
        };
        let (plain, noisy) = (measure(0.0, 0)?, measure(variance, n.min(places.len()))?);
        let (n, kept, dimension) = (n.min(places.len()), kept.len(), degree.dimension());
        let row = |[mean, median, most, worst]: [f64; 4]| json!({"mean_km": mean, "median_km": median, "p90_km": most, "worst_km": worst});
        let value = json!({
            "table": "reduced codes", "degree": degree.get(), "kept": kept, "dimension": dimension,
            "places": places.len(), "n": n, "seed": seed, "variance": variance,
            "without_noise": row(plain), "with_noise": row(noisy),
        });
        let mut out = format!(
            "Reduced codes: {kept} of {dimension} numbers (L={degree}), the largest over {} places, the others zero\n\
             n = {n} of these places, seed = {seed}\n\n",
            places.len()
        );
        let _ = writeln!(out, "{:<24} {:>9} {:>9} {:>9} {:>9}", "drift (km)", "mean", "median", "90 %", "worst");
        let noise = format!("noise of variance {variance}");
        for (name, [mean, median, most, worst]) in [("no noise", plain), (&noise, noisy)] {
            let _ = writeln!(out, "{name:<24} {mean:>9.2} {median:>9.2} {most:>9.2} {worst:>9.2}");
        }
        Ok((value, out))
    }
}

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
