//! `locdiff-lab reproduce drift`: how far a decoded place moves when its code gets noise.

use crate::terminal::{Usage, bar, parse_grid, parse_positive, read_places};
use anyhow::{Context, Result};
use clap::Args;
use locdiff_lab::{PerturbationDrift, ReducedDrift};
use locdiff_shdd::sphere::{Degree, EARTH_RADIUS_KM};
use locdiff_shdd::{Anchors, Codec, Decoder};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct Drift {
    /// Spherical-harmonic degree L: a code has (L+1)² numbers, its peak a spread of 78 km at 23, 20 km at 47
    #[arg(short = 'L', long, value_name = "L", default_value = "47", value_parser = parse_degree)]
    degree: Degree,
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
    /// Keep so many of a code's numbers, the largest over --places, and zero the others, as `train --keep-dimensions` does:
    /// how far the places decoded from what is left lie from the true ones
    #[arg(long, value_name = "N", requires = "places")]
    keep_dimensions: Option<usize>,
    /// Places that reduced codes are made for and measured on: .csv or .jsonl with lat and lon, .npy or .safetensors [N, 2]
    #[arg(long, value_name = "FILE", requires = "keep_dimensions")]
    places: Option<PathBuf>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

fn parse_degree(text: &str) -> Result<Degree, String> {
    let number: usize = text.parse().map_err(|_| format!("'{text}' is not a whole number"))?;
    Degree::new(number).map_err(|error| error.to_string())
}

/// Which decoder.
#[derive(Debug, Args)]
struct DecoderArgs {
    /// exact: the continuous maximum; anchors: the paper's, over anchor points; kl: nearest code in reverse KL
    #[arg(long, value_enum, default_value_t = DecoderKind::Exact)]
    decoder: DecoderKind,
    /// Rank peaks by their mass within this radius [exact: the whole peak; anchors: the single anchor]
    #[arg(long, value_name = "KM", value_parser = parse_positive)]
    window_km: Option<f64>,
    /// Anchors: fibonacci:N, healpix:DEPTH, random:N, or a file of places (a gallery)
    #[arg(long, value_name = "GRID", default_value = "fibonacci:21000")]
    anchors: String,
    /// Seed of random anchors
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    anchor_seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DecoderKind {
    Exact,
    Anchors,
    Kl,
}

impl DecoderArgs {
    fn name(&self) -> String {
        match self.decoder {
            DecoderKind::Exact => "exact".to_owned(),
            DecoderKind::Anchors => format!("anchors {}", self.anchors),
            DecoderKind::Kl => "kl".to_owned(),
        }
    }

    fn decoder(&self) -> Result<Decoder> {
        if self.decoder == DecoderKind::Kl && self.window_km.is_some() {
            return Err(Usage("--window-km has no effect with --decoder kl: leave it out".to_owned()).into());
        }
        let window_rad = self.window_km.map(|km| km / EARTH_RADIUS_KM);
        Ok(match self.decoder {
            DecoderKind::Exact => Decoder::Exact { window_rad },
            DecoderKind::Anchors => {
                let grid = parse_grid(&self.anchors, self.anchor_seed)?;
                Decoder::Anchors(Anchors::new(&grid, window_rad.unwrap_or(0.0))?)
            }
            DecoderKind::Kl => Decoder::Kl,
        })
    }
}

impl Drift {
    pub(super) fn run(self) -> Result<()> {
        let (value, text) = match (self.keep_dimensions, &self.places) {
            (Some(count), Some(places)) => self.reduced(count, places)?,
            _ => self.whole()?,
        };
        if self.json {
            println!("{value}");
        } else {
            print!("{text}");
        }
        Ok(())
    }

    fn whole(&self) -> Result<(serde_json::Value, String)> {
        let codec = Codec::new(self.degree);
        let bar = bar("drift", self.n as usize);
        let drift = PerturbationDrift::measure(
            &codec,
            &self.decoder.decoder()?,
            &self.decoder.name(),
            self.variance,
            self.n as usize,
            self.seed,
            |done| bar.set_position(done as u64),
        )?;
        bar.finish_and_clear();
        Ok((drift.to_json(), drift.to_text()))
    }

    fn reduced(&self, count: usize, places: &Path) -> Result<(serde_json::Value, String)> {
        let places = read_places(places).context("--places")?;
        let (codec, n) = (Codec::new(self.degree), places.len().min(self.n as usize));
        let bar = bar("drift", 2 * n);
        let drift = ReducedDrift::measure(
            &codec,
            &self.decoder.decoder()?,
            &places,
            count,
            self.variance,
            n,
            self.seed,
            |done| bar.set_position(done as u64),
        )
        .context("--keep-dimensions")?;
        bar.finish_and_clear();
        Ok((drift.to_json(), drift.to_text()))
    }
}
