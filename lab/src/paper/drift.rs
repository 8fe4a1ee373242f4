//! How far a decoded place moves when its code gets noise.

use super::noise::{anywhere, drifts_km};
use anyhow::Result;
use locdiff_shdd::{Codec, Decoder, sphere::EARTH_RADIUS_KM};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::{f64::consts::FRAC_PI_2, fmt::Write};

/// The paper's SHDD row: L = 47, variance 0.01.
const PAPER_KM: f64 = 5.3;

/// The row of SHDD in the paper's table of perturbation drift.
#[derive(Debug, Clone)]
pub struct PerturbationDrift {
    degree: usize,
    decoder: String,
    variance: f64,
    seed: u64,
    drifts_km: Vec<f64>,
    mean_km: f64,
    /// Half of the mean's 95 % interval.
    half_width_km: f64,
    /// The least that any unbiased decoder can have.
    limit_km: f64,
}

impl PerturbationDrift {
    /// Measures on `n` random places, with normal noise of that variance on every coefficient. `name` is what the decoder
    /// is called; `progress` hears how many places are done.
    pub fn measure(
        codec: &Codec,
        decoder: &Decoder,
        name: &str,
        variance: f64,
        n: usize,
        seed: u64,
        progress: impl Fn(usize),
    ) -> Result<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut drifts_km = drifts_km((codec, decoder), (n, anywhere), None, variance, &mut rng, progress)?;
        let count = drifts_km.len() as f64;
        let mean_km = super::mean(&drifts_km);
        let spread = drifts_km.iter().map(|d| (d - mean_km).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        drifts_km.sort_by(f64::total_cmp);
        Ok(Self {
            degree: codec.degree().get(),
            decoder: name.to_owned(),
            variance,
            seed,
            mean_km,
            half_width_km: 1.96 * (spread / count).sqrt(),
            limit_km: variance.sqrt() * FRAC_PI_2.sqrt() * EARTH_RADIUS_KM / codec.degree().curvature().sqrt(),
            drifts_km,
        })
    }

    pub fn mean_km(&self) -> f64 {
        self.mean_km
    }

    fn is_papers(&self) -> bool {
        self.degree == 47 && (self.variance - 0.01).abs() < 1e-12
    }

    fn median_and_worst_km(&self) -> (f64, f64) {
        let n = self.drifts_km.len();
        (self.drifts_km[n / 2], self.drifts_km[n - 1])
    }

    pub fn to_json(&self) -> Value {
        let (mean, half_width) = (self.mean_km, self.half_width_km);
        let (median, worst) = self.median_and_worst_km();
        json!({
            "table": "perturbation drift", "encoder": "SHDD", "decoder": self.decoder, "degree": self.degree,
            "variance": self.variance, "n": self.drifts_km.len(), "seed": self.seed, "mean_km": mean,
            "mean_95_percent_km": [mean - half_width, mean + half_width], "median_km": median,
            "worst_km": worst, "cramer_rao_km": self.limit_km, "paper_km": self.is_papers().then_some(PAPER_KM),
        })
    }

    pub fn to_text(&self) -> String {
        let (median, worst) = self.median_and_worst_km();
        let mut out = format!(
            "Perturbation drift: Gaussian noise of variance {} on every coefficient\nn = {}, seed = {}\n\n",
            self.variance,
            self.drifts_km.len(),
            self.seed
        );
        let mut row = |encoder: &str, decoder: &str, drift: &str| {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{encoder:<16} {decoder:<24} {drift:>14}");
        };
        row("encoder", "decoder", "drift (km)");
        if self.is_papers() {
            row("SHDD (L=47)", "the paper's", &PAPER_KM.to_string());
        }
        let measured = format!("{:.2} ± {:.2}", self.mean_km, self.half_width_km);
        row(&format!("SHDD (L={})", self.degree), &self.decoder, &measured);
        row("", "Cramér–Rao limit", &format!("{:.2}", self.limit_km));
        out + &format!("\nmedian {median:.2} km, worst {worst:.2} km\n")
    }
}
