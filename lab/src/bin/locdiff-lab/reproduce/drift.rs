//! `locdiff-lab reproduce drift`: how far a decoded place moves when its code gets noise.

use crate::terminal::{DecoderArgs, DegreeArg, bar, parse_positive, read_places};
use anyhow::{Context, Result};
use clap::Args;
use locdiff_lab::{PerturbationDrift, ReducedDrift};
use locdiff_shdd::Codec;
use std::path::{Path, PathBuf};

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
        let codec = Codec::new(self.degree.degree);
        let DecoderArgs { decoder, anchors, .. } = &self.decoder;
        let name = format!("{decoder:?}").to_lowercase();
        let name = if name == "anchors" { format!("anchors {anchors}") } else { name };
        let bar = bar("drift", self.n as usize);
        let drift = PerturbationDrift::measure(
            &codec,
            &self.decoder.decoder()?,
            &name,
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
        let (codec, n) = (Codec::new(self.degree.degree), places.len().min(self.n as usize));
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
