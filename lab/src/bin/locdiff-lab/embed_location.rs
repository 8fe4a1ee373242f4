//! `locdiff-lab embed-location`: places in, GeoCLIP's vectors out.

use crate::terminal::{DeviceArg, bar, claim, parse_place, read_places};
use anyhow::{Context, Result};
use clap::Args;
use locdiff_io::data::{Dtype, MatrixWriter};
use locdiff_nn::Device;
use locdiff_retrieval::geoclip::GeoClip;
use locdiff_shdd::sphere::LatLon;
use std::path::{Path, PathBuf};

/// Places that are embedded at a time.
const BLOCK: usize = 1024;

#[derive(Debug, Args)]
pub(crate) struct EmbedLocation {
    /// File of places: .csv or .jsonl with lat and lon, .npy or .safetensors [N, 2]; - for standard input
    #[arg(value_name = "POINTS", required_unless_present = "at")]
    points: Option<PathBuf>,
    /// A place, instead of a file; may be repeated
    #[arg(long, value_name = "LAT,LON", value_parser = parse_place, allow_hyphen_values = true, conflicts_with = "points")]
    at: Vec<LatLon>,
    /// GeoCLIP's folder (see `locdiff import geoclip`)
    #[arg(long, value_name = "FOLDER")]
    model: PathBuf,
    /// Where to write: .csv, .jsonl, .npy or .safetensors (tensor "embeddings"); - for standard output as .jsonl
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Bring every vector to length 1, as GeoCLIP does before it compares
    #[arg(long)]
    normalise: bool,
    #[command(flatten)]
    device: DeviceArg,
    /// Print a JSON summary when done
    #[arg(long)]
    json: bool,
}

impl EmbedLocation {
    pub(crate) fn run(self) -> Result<()> {
        claim(&self.out)?;
        let model = GeoClip::open(&self.model, &Device::open(self.device.device)?).context("--model")?;
        let to_stdout = self.out == Path::new("-");
        let places = self.points.as_deref().map_or_else(|| Ok(self.at.clone()), read_places)?;
        let dimension = model.dimension();
        let mut writer = MatrixWriter::create(&self.out, None, dimension, Dtype::F32, "embeddings")?;
        let bar = bar("embedding places", Some(places.len() as u64));
        for block in places.chunks(BLOCK) {
            for vector in model.embed_places(block)?.chunks_exact(dimension) {
                let mut row: Vec<f64> = vector.iter().copied().map(f64::from).collect();
                if self.normalise {
                    let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
                    for value in &mut row {
                        *value /= length;
                    }
                }
                writer.write_row(&row)?;
            }
            bar.inc(block.len() as u64);
        }
        bar.finish_and_clear();
        let rows = writer.finish()?;
        if self.json && !to_stdout {
            println!("{}", serde_json::json!({"rows": rows, "dimension": dimension, "out": self.out}));
        } else if !to_stdout {
            println!("{rows} vectors of {dimension} numbers in {}", self.out.display());
        }
        Ok(())
    }
}
