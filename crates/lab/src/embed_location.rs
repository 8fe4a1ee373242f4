//! `locdiff-lab embed-location`: places in, GeoCLIP's vectors out.

use anyhow::{Context, Result};
use clap::Args;
use locdiff_io::data::{Dtype, Format, MatrixWriter};
use locdiff_retrieval::geoclip::GeoClip;
use locdiff_nn::Device;
use locdiff_model::report::terminal::args::{DeviceArg, PointsInput, parse_format};
use locdiff_model::report::terminal::{output, progress};
use locdiff_shdd::sphere::LatLon;
use std::path::{Path, PathBuf};

/// Places that are embedded at a time: memory stays at one block.
const BLOCK: usize = 1024;

#[derive(Debug, Args)]
pub(crate) struct EmbedLocation {
    #[command(flatten)]
    input: PointsInput,
    /// GeoCLIP's folder (see `locdiff import geoclip`)
    #[arg(long, value_name = "FOLDER")]
    model: PathBuf,
    /// Where to write: .csv, .jsonl, .npy or .safetensors (tensor "embeddings"); - for standard output as .jsonl
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Format of the output, where its extension does not say: csv, jsonl, npy or safetensors
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    to: Option<Format>,
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
        output::claim([self.out.as_path()], false)?;
        let model = GeoClip::open(&self.model, &Device::open(self.device.device)?).context("--model")?;
        let to_stdout = self.out == Path::new("-");
        let (places, count) = self.input.places()?;
        let dimension = model.dimension();
        let mut writer = MatrixWriter::create(&self.out, self.to, dimension, Dtype::F32, "embeddings")?;
        let bar = progress::bar("embedding places", count);
        let mut places = places.fuse();
        loop {
            let block: Vec<LatLon> = places.by_ref().take(BLOCK).collect::<Result<_>>()?;
            if block.is_empty() {
                break;
            }
            for vector in model.embed_places(&block)?.chunks_exact(dimension) {
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
