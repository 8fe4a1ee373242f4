//! What the appendix's dimension reduction costs: places decoded from some of their codes' numbers.

use super::noise::drifts_km;
use anyhow::Result;
use locdiff_base::setting;
use locdiff_model::ModelConfig;
use locdiff_shdd::{Codec, Decoder, sphere::LatLon};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::{fmt::Write, ops::Range};

/// How far decoded places lie from the true ones where codes keep the numbers that are largest over given places, as
/// `locdiff train --keep-dimensions` keeps them, and the others are zero.
#[derive(Debug, Clone)]
pub struct ReducedDrift {
    degree: usize,
    kept: usize,
    dimension: usize,
    places: usize,
    variance: f64,
    seed: u64,
    /// Distances, ascending: of reduced codes, and of reduced codes with noise.
    plain_km: Vec<f64>,
    noisy_km: Vec<f64>,
}

impl ReducedDrift {
    /// Measures on `n` of `places`, or all where there are fewer, without noise and with normal noise of that variance on every
    /// number kept. `progress` hears how many codes are done.
    #[allow(clippy::too_many_arguments)] // reason: a table's settings one by one
    pub fn measure(
        codec: &Codec,
        decoder: &Decoder,
        places: &[LatLon],
        count: usize,
        variance: f64,
        n: usize,
        seed: u64,
        progress: impl Fn(usize),
    ) -> Result<Self> {
        let degree = codec.degree();
        let low_pass_km = Some(ModelConfig::usual_low_pass_km(degree.get()));
        let config = ModelConfig { low_pass_km, ..ModelConfig::new(degree.get(), 1) };
        let units: Vec<_> = places.iter().map(|place| place.to_unit()).collect();
        let config = config.keep_dimensions(count, &units)?;
        let kept = config.kept.unwrap_or_else(|| (0..degree.dimension() as u32).collect());
        if n == 0 {
            return Err(setting("places", n, "1 or more"));
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut some = places.to_vec();
        for k in 0..n.min(some.len()) {
            let other = rng.random_range(k..places.len());
            some.swap(k, other);
        }
        some.truncate(n);
        let mut measure = |variance: f64, before: usize| -> Result<Vec<f64>> {
            let tell = |done: usize| progress(before + done);
            let own = |rows: Range<usize>, _: &mut ChaCha8Rng| some[rows].to_vec();
            let mut km = drifts_km((codec, decoder), (some.len(), own), Some(&kept), variance, &mut rng, tell)?;
            km.sort_by(f64::total_cmp);
            Ok(km)
        };
        Ok(Self {
            degree: degree.get(),
            kept: kept.len(),
            dimension: degree.dimension(),
            places: places.len(),
            variance,
            seed,
            plain_km: measure(0.0, 0)?,
            noisy_km: measure(variance, some.len())?,
        })
    }

    pub fn mean_km(&self) -> f64 {
        super::mean(&self.plain_km)
    }

    pub fn to_json(&self) -> Value {
        let row = |km: &[f64]| {
            let [mean, median, most, worst] = figures(km);
            json!({"mean_km": mean, "median_km": median, "p90_km": most, "worst_km": worst})
        };
        json!({
            "table": "reduced codes", "degree": self.degree, "kept": self.kept, "dimension": self.dimension,
            "places": self.places, "n": self.plain_km.len(), "seed": self.seed, "variance": self.variance,
            "without_noise": row(&self.plain_km), "with_noise": row(&self.noisy_km),
        })
    }

    pub fn to_text(&self) -> String {
        let mut out = format!(
            "Reduced codes: {} of {} numbers (L={}), the largest over {} places, the others zero\nn = {} of these places, seed = {}\n\n",
            self.kept,
            self.dimension,
            self.degree,
            self.places,
            self.plain_km.len(),
            self.seed
        );
        let _ = writeln!(out, "{:<24} {:>9} {:>9} {:>9} {:>9}", "drift (km)", "mean", "median", "90 %", "worst");
        let noise = format!("noise of variance {}", self.variance);
        for (name, km) in [("no noise", &self.plain_km), (&noise, &self.noisy_km)] {
            let [mean, median, most, worst] = figures(km);
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{name:<24} {mean:>9.2} {median:>9.2} {most:>9.2} {worst:>9.2}");
        }
        out
    }
}

/// Mean, median, what nine of ten do not exceed, and the worst of ascending numbers.
fn figures(km: &[f64]) -> [f64; 4] {
    let at = |share: f64| km[((km.len() as f64 * share) as usize).min(km.len() - 1)];
    [super::mean(km), at(0.5), at(0.9), at(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use locdiff_shdd::sphere::Degree;

    #[test]
    fn fewer_numbers_drift_further_and_all_of_them_not_at_all() {
        let places: Vec<LatLon> =
            (0..60).map(|k| LatLon::new(f64::from(k) - 30.0, f64::from(k * 7 % 360) - 180.0).unwrap()).collect();
        let codec = Codec::new(Degree::new(15).unwrap());
        let exact = Decoder::Exact { window_rad: None };
        let mean = |count| {
            let drift = ReducedDrift::measure(&codec, &exact, &places, count, 0.01, 40, 1, |_| ()).unwrap();
            assert_eq!(drift.to_json()["n"], 40);
            drift.mean_km()
        };
        let (all, half, few) = (mean(256), mean(128), mean(48));
        assert!(all < 0.01 && half > 1.0 && few > 2.0 * half, "{all} {half} {few}");
        assert!(ReducedDrift::measure(&codec, &exact, &places, 257, 0.01, 40, 1, |_| ()).is_err());
        assert!(ReducedDrift::measure(&codec, &exact, &[], 12, 0.01, 40, 1, |_| ()).is_err());
    }
}
