//! `locdiff-lab plot accuracy|noise`: tables as curves, and what noise does to a code.

use crate::curves::{AccuracyRow, accuracy_curves};
use crate::figures::world_map;
use crate::terminal::{parse_place, parse_positive, write_file};
use anyhow::{Context, Result, ensure};
use clap::Args;
use locdiff_lab::with_noise;
use locdiff_map::{Colour, Marker, MarkerShape, sheet_png};
use locdiff_shdd::sphere::{Degree, LatLon, haversine_km};
use locdiff_shdd::{Codec, Decoder};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct NoisePlot {
    /// The place
    #[arg(long, value_name = "LAT,LON", value_parser = parse_place, allow_hyphen_values = true, default_value = "39.999,116.275")]
    at: LatLon,
    /// Spherical-harmonic degree L
    #[arg(short = 'L', long, value_name = "L", default_value_t = 11)]
    degree: usize,
    /// Variances of the noise on every number of the code
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.01,0.1,0.5,1", value_parser = parse_positive)]
    variances: Vec<f64>,
    /// Seed of the noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The picture
    #[arg(short, long, value_name = "FILE.png")]
    out: PathBuf,
}

impl NoisePlot {
    pub(crate) fn run(self) -> Result<PathBuf> {
        let codec = Codec::new(Degree::new(self.degree)?);
        let clean = codec.encode(self.at);
        let green = Colour::from_hex(0x0a7d32);
        let mut images = Vec::new();
        for variance in &self.variances {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            let code = with_noise(clean.clone(), *variance, &mut random)?;
            let decoder = Decoder::Exact { window_rad: None };
            let decoded = codec.decode_batch(std::slice::from_ref(&code), &decoder)?;
            let drift = decoded.first().map_or(f64::NAN, |mode| haversine_km(self.at, mode.place()));
            let image = world_map(&codec, &code, &format!("noise {variance}: drift {drift:.1} km"))?;
            images.push(image.marker(Marker::new(self.at).shape(MarkerShape::Circle).colour(green)));
        }
        write_file(&self.out, &sheet_png(&images, 2)?)?;
        Ok(self.out)
    }
}
