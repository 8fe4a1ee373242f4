//! `locdiff decode`: coefficient vectors in, places out.

use crate::{args::DecoderArgs, args::DeviceArg, args::VectorsInput, args::read_vectors, output, progress};
use anyhow::{Context, Result};
use clap::Args;
use locdiff_io::data::{Format, PointWriter};
use locdiff_model::CodeDecoder;
use locdiff_shdd::{Mode, sphere::EARTH_RADIUS_KM};
use std::{io::Write, path::Path, path::PathBuf};

/// Vectors that are decoded at a time.
const BLOCK: usize = 512;

#[derive(Debug, Args)]
pub(crate) struct Decode {
    #[command(flatten)]
    input: VectorsInput,
    #[command(flatten)]
    decoder: DecoderArgs,
    #[command(flatten)]
    device: DeviceArg,
    /// Write locations to .csv, .jsonl, .npy or .safetensors [default: a table on standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write in this format, if the extension does not name it: csv, jsonl, npy or safetensors
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
    /// Print one JSON object per vector instead of the table
    #[arg(long, conflicts_with = "out")]
    json: bool,
}

const COLUMNS: [&str; 5] = ["row", "lat", "lon", "peak", "spread_km"];

/// Half a great circle.
const FARTHEST_KM: f64 = std::f64::consts::PI * EARTH_RADIUS_KM;

/// Where decoded places go.
enum Sink {
    File(Box<PointWriter>),
    Json,
    Table,
}

impl Sink {
    fn write(&mut self, row: u64, mode: &Mode) -> Result<()> {
        let place = mode.place();
        // A flat field has no spread: half the Earth's girth stands for it everywhere, the farthest that places are apart.
        let spread = mode.spread_km().min(FARTHEST_KM);
        let (lat, lon, peak) = (place.lat_deg(), place.lon_deg(), mode.value);
        match self {
            Self::File(writer) => writer.write(place, &[row as f64, peak, spread])?,
            Self::Json => {
                let object = serde_json::json!({"row": row, "lat": lat, "lon": lon, "peak": peak, "spread_km": spread});
                writeln!(output::Out, "{object}")?;
            }
            Self::Table => writeln!(output::Out, "{row:>8} {lat:>11.6} {lon:>12.6} {peak:>10.3} {spread:>10.2}")?,
        }
        Ok(())
    }
}

impl Decode {
    pub(crate) fn run(self) -> Result<()> {
        let path = self.input.vectors.clone().context("give a file of coefficient vectors, or - for standard input")?;
        output::claim(self.out.as_deref(), false)?;
        let (mut reader, degree) = self.input.open(&path)?;
        let decoder = self.decoder.decoder()?;
        let mut decoding = CodeDecoder::open(degree, decoder, self.device.device, reader.rows(), BLOCK)?;
        let mut sink = match &self.out {
            Some(out) => Sink::File(Box::new(PointWriter::create(out, self.to, &COLUMNS)?)),
            None if self.json => Sink::Json,
            None => {
                let header = format!("{:>8} {:>11} {:>12} {:>10} {:>10}", "row", "lat", "lon", "peak", "spread_km");
                writeln!(output::Out, "{header}")?;
                Sink::Table
            }
        };
        let bar = progress::bar("decoding", reader.rows());
        let mut row = 0;
        loop {
            let vectors = read_vectors(&mut reader, BLOCK, &path, row)?;
            if vectors.is_empty() {
                break;
            }
            for mode in decoding.decode(&vectors)? {
                row += 1;
                sink.write(row, &mode)?;
            }
            bar.set_position(row);
        }
        bar.finish_and_clear();
        if let Sink::File(writer) = sink {
            let rows = writer.finish()?;
            let out = self.out.unwrap_or_default();
            if out != Path::new("-") {
                output::print_line!("{rows} locations in {}", out.display());
            }
        }
        Ok(())
    }
}
