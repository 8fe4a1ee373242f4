//! `locdiff reproduce`: tables of the paper, regenerated.

use crate::args::{DecoderArgs, DecoderKind, DegreeArg, parse_positive};
use crate::commands::{
    reproduce_anchors::AnchorTable,
    reproduce_models::{Kind, ModelTable},
    reproduce_timing::Timing,
};
use crate::progress;
use anyhow::Result;
use clap::{Args, Subcommand};
use locdiff_shdd::{Codec, Coefficients, Decoder};
use locdiff_sphere::{EARTH_RADIUS_KM, LatLon, UnitVec, haversine_km};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::{FRAC_PI_2, TAU};

#[derive(Debug, Subcommand)]
pub(crate) enum Reproduce {
    /// The perturbation-drift table: how far a decoded place moves when its code gets Gaussian noise
    Drift(Drift),
    /// The gallery-bias table: how many places of GeoCLIP's gallery lie near the photos of Im2GPS3k
    GalleryBias(crate::commands::gallery_bias::GalleryBias),
    /// The table of training losses
    Losses(Box<ModelTable>),
    /// The table of location encoders and decoders, with their drift
    Encoders(Box<ModelTable>),
    /// The table of bottleneck widths
    Widths(Box<ModelTable>),
    /// Accuracy by degree L
    Degrees(Box<ModelTable>),
    /// The generalizability table: a gallery against even grids
    Anchors(Box<AnchorTable>),
    /// Times of unit operations and of training
    Timing(Timing),
}

impl Reproduce {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Drift(drift) => drift.run(),
            Self::GalleryBias(table) => table.run(),
            Self::Losses(table) => table.run(Kind::Losses),
            Self::Encoders(table) => table.run(Kind::Encoders),
            Self::Widths(table) => table.run(Kind::Widths),
            Self::Degrees(table) => table.run(Kind::Degrees),
            Self::Anchors(table) => table.run(),
            Self::Timing(timing) => timing.run(),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Drift {
    #[command(flatten)]
    degree: DegreeArg,
    #[command(flatten)]
    decoder: DecoderArgs,
    /// Variance of the noise on each coefficient (the paper: 0.01)
    #[arg(long, default_value = "0.01", value_parser = parse_positive)]
    variance: f64,
    /// Random places
    #[arg(short, long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    n: u32,
    /// Seed of places and noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// The paper's SHDD row: L = 47, variance 0.01.
const PAPER_KM: f64 = 5.3;

impl Drift {
    fn run(self) -> Result<()> {
        let codec = Codec::new(self.degree.degree);
        let decoder = self.decoder.decoder()?;
        let bar = progress::bar("drift", Some(u64::from(self.n)));
        let tell = |done: usize| bar.set_position(done as u64);
        let drifts_km = drifts_km(&codec, &decoder, self.variance, self.n as usize, self.seed, tell)?;
        bar.finish_and_clear();
        self.report(&codec, drifts_km);
        Ok(())
    }

    fn report(&self, codec: &Codec, mut drifts_km: Vec<f64>) {
        let n = drifts_km.len() as f64;
        let mean = drifts_km.iter().sum::<f64>() / n;
        let variance = drifts_km.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let half_width = 1.96 * (variance / n).sqrt();
        drifts_km.sort_by(f64::total_cmp);
        let (median, worst) = (drifts_km[drifts_km.len() / 2], drifts_km[drifts_km.len() - 1]);
        let limit =
            self.variance.sqrt() * FRAC_PI_2.sqrt() * EARTH_RADIUS_KM / codec.degree().curvature().sqrt();
        let is_papers = codec.degree().get() == 47 && (self.variance - 0.01).abs() < 1e-12;
        let name = match self.decoder.decoder {
            DecoderKind::Exact => "exact".to_owned(),
            DecoderKind::Anchors => format!("anchors {}", self.decoder.anchors),
            DecoderKind::Kl => "kl".to_owned(),
        };
        if self.json {
            let object = serde_json::json!({
                "table": "perturbation drift", "encoder": "SHDD", "decoder": name, "degree": codec.degree().get(),
                "variance": self.variance, "n": drifts_km.len(), "seed": self.seed, "mean_km": mean,
                "mean_95_percent_km": [mean - half_width, mean + half_width], "median_km": median,
                "worst_km": worst, "cramer_rao_km": limit, "paper_km": is_papers.then_some(PAPER_KM),
            });
            println!("{object}");
            return;
        }
        let degree = codec.degree();
        println!("Perturbation drift: Gaussian noise of variance {} on every coefficient", self.variance);
        println!("n = {}, seed = {}\n", drifts_km.len(), self.seed);
        println!("{:<16} {:<24} {:>14}", "encoder", "decoder", "drift (km)");
        if is_papers {
            println!("{:<16} {:<24} {:>14}", "SHDD (L=47)", "the paper's", PAPER_KM);
        }
        println!(
            "{:<16} {name:<24} {:>14}",
            format!("SHDD (L={degree})"),
            format!("{mean:.2} ± {half_width:.2}")
        );
        println!("{:<16} {:<24} {:>14}", "", "Cramér–Rao limit", format!("{limit:.2}"));
        println!("\nmedian {median:.2} km, worst {worst:.2} km");
    }
}

/// How far in km the decoded places of `n` random ones are from them, after normal noise of that variance on every coefficient.
pub(crate) fn drifts_km(
    codec: &Codec,
    decoder: &Decoder,
    variance: f64,
    n: usize,
    seed: u64,
    progress: impl Fn(usize),
) -> Result<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sigma = variance.sqrt();
    let mut drifts_km = Vec::with_capacity(n);
    while drifts_km.len() < n {
        let count = 256.min(n - drifts_km.len());
        let places: Vec<LatLon> = (0..count).map(|_| UnitVec::random(&mut rng).to_latlon()).collect();
        let noisy = places
            .iter()
            .map(|place| {
                let code = codec.encode(*place).into_vec();
                Coefficients::new(code.into_iter().map(|v| v + sigma * normal(&mut rng)).collect())
            })
            .collect::<Result<Vec<_>, _>>()?;
        let decoded = codec.decode_batch(&noisy, decoder)?;
        drifts_km.extend(places.iter().zip(decoded).map(|(place, mode)| haversine_km(*place, mode.place())));
        progress(drifts_km.len());
    }
    Ok(drifts_km)
}

/// Standard normal, by Box–Muller.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random_range(0.0..1.0f64)).ln()).sqrt();
    radius * (TAU * rng.random_range(0.0..1.0f64)).cos()
}
