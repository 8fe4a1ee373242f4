//! `locdiff encode`: places in, coefficient vectors out.

use crate::{args::DegreeArg, args::PointsInput, output, progress};
use anyhow::Result;
use clap::Args;
use locdiff_io::data::{Dtype, Format, MatrixWriter};
use locdiff_shdd::{Codec, sphere::LatLon};
use std::path::{Path, PathBuf};

/// Rows that are encoded at a time: memory stays at one block.
const BLOCK: usize = 1024;

#[derive(Debug, Args)]
pub(crate) struct Encode {
    #[command(flatten)]
    input: PointsInput,
    #[command(flatten)]
    degree: DegreeArg,
    /// Write to .csv, .jsonl, .npy or .safetensors (tensor "coefficients"); - is standard output as .jsonl
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Write in this format, if the extension does not name it: csv, jsonl, npy or safetensors
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
    /// Write numbers as f32 or f64
    #[arg(long, value_name = "TYPE", default_value = "f64")]
    dtype: Dtype,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
}

impl Encode {
    pub(crate) fn run(self) -> Result<()> {
        output::claim([self.out.as_path()], false)?;
        let codec = Codec::new(self.degree.degree);
        let dimension = codec.degree().dimension();
        let to_stdout = self.out == Path::new("-");
        let (places, count) = self.input.places()?;
        let mut writer = MatrixWriter::create(&self.out, self.to, dimension, self.dtype, "coefficients")?;
        let bar = progress::bar("encoding", count);
        let mut places = places.fuse();
        loop {
            let block: Vec<LatLon> = places.by_ref().take(BLOCK).collect::<Result<_>>()?;
            if block.is_empty() {
                break;
            }
            let points: Vec<_> = block.iter().map(|place| place.to_unit()).collect();
            let mut codes = vec![0.0; points.len() * dimension];
            codec.encode_batch(&points, &mut codes)?;
            for code in codes.chunks_exact(dimension) {
                writer.write_row(code)?;
            }
            bar.inc(block.len() as u64);
        }
        bar.finish_and_clear();
        let rows = writer.finish()?;
        if to_stdout {
            return Ok(());
        }
        let (degree, out) = (codec.degree(), self.out.display());
        let summary = serde_json::json!({
            "rows": rows, "degree": degree.get(), "dimension": dimension, "dtype": self.dtype.name(), "out": self.out,
        });
        output::tell(
            self.json,
            &summary,
            &format!("{rows} codes of degree {degree} ({dimension} numbers each) in {out}"),
        )
    }
}
