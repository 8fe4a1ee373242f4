//! `locdiff-lab reproduce drift`: how far a decoded place moves when its code gets noise.

use crate::terminal::{DecoderArgs, DegreeArg, bar, parse_positive, read_places};
use anyhow::{Context, Result};
use clap::Args;
use locdiff_lab::NoisyCodes;
use locdiff_shdd::Codec;
use std::path::PathBuf;

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
        let codec = Codec::new(self.degree.degree);
        let (decoder, variance, n, seed) = (self.decoder.decoder()?, self.variance, self.n as usize, self.seed);
        let codes = NoisyCodes { codec: &codec, decoder: &decoder, variance, n, seed };
        let (value, text) = if let (Some(count), Some(places)) = (self.keep_dimensions, &self.places) {
            let places = read_places(places).context("--places")?;
            let bar = bar("drift", Some(2 * places.len().min(n) as u64));
            let told = codes.reduced(&places, count, |done| bar.set_position(done as u64));
            bar.finish_and_clear();
            told.context("--keep-dimensions")?
        } else {
            let DecoderArgs { decoder, anchors, .. } = &self.decoder;
            let name = format!("{decoder:?}").to_lowercase();
            let name = if name == "anchors" { format!("anchors {anchors}") } else { name };
            let bar = bar("drift", Some(self.n.into()));
            let told = codes.drift(&name, |done| bar.set_position(done as u64));
            bar.finish_and_clear();
            told?
        };
        if self.json {
            println!("{value}");
        } else {
            print!("{text}");
        }
        Ok(())
    }
}
