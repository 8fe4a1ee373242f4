//! `locdiff sample`: embeddings in, places out.

use crate::commands::train::{DeviceArg, describe};
use crate::hybrid::HybridArgs;
use crate::progress;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use locdiff_data::{Dtype, MatrixWriter, PointColumns, PointWriter, RowFile, read_points};
use locdiff_diffusion::Sampler;
use locdiff_eval::Accuracy;
use locdiff_model::{CodeSampler, Model, Pooling, SampleOptions, answers};
use locdiff_nn::Device;
use locdiff_shdd::Codec;
use locdiff_sphere::LatLon;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SamplerArg {
    Ddpm,
    Ddim,
    Dpmpp,
}

impl SamplerArg {
    pub(crate) fn sampler(self) -> Sampler {
        match self {
            Self::Ddpm => Sampler::Ddpm,
            Self::Ddim => Sampler::Ddim { eta: 0.0 },
            Self::Dpmpp => Sampler::DpmSolverPlusPlus2M,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PoolArg {
    Pool,
    Mean,
    Single,
}

#[derive(Debug, Args)]
pub(crate) struct Sample {
    /// Folder of a model: a run's folder, or its best/
    #[arg(long, value_name = "FOLDER")]
    model: PathBuf,
    /// Embeddings of the photos, one a row: .safetensors or .npy, f16 or f32
    #[arg(long, value_name = "FILE")]
    embeddings: PathBuf,
    /// Tensor of a safetensors file that holds several
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    /// Samples a photo
    #[arg(long, value_name = "N", default_value_t = 16)]
    samples: usize,
    /// The sampler
    #[arg(long, value_enum, default_value_t = SamplerArg::Dpmpp)]
    sampler: SamplerArg,
    /// Its steps
    #[arg(long, value_name = "N", default_value_t = 20)]
    steps: usize,
    /// Classifier-free guidance; 0 for none
    #[arg(long, value_name = "W", default_value_t = 0.0, allow_hyphen_values = true)]
    guidance: f32,
    /// pool: the mean of the samples' codes, decoded once; mean: the paper's mean of places; single: one sample
    #[arg(long, value_enum, default_value_t = PoolArg::Pool)]
    pool: PoolArg,
    /// Seed of the noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArg,
    /// Where to write the places: .csv, .jsonl, .npy or .safetensors, with columns row, lat, lon
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Where to write the pooled codes: coefficients of the mean, one row a photo
    #[arg(long, value_name = "FILE")]
    codes: Option<PathBuf>,
    /// Where to write every sample's place: columns row, sample, lat, lon
    #[arg(long = "per-sample", value_name = "FILE")]
    every: Option<PathBuf>,
    /// True locations, row by row: prints how good the answers are
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hybrid: HybridArgs,
}

/// Where answers go.
struct Sinks {
    places: Option<PointWriter>,
    codes: Option<MatrixWriter>,
    samples: Option<PointWriter>,
}

impl Sample {
    fn options(&self) -> SampleOptions {
        SampleOptions {
            samples: self.samples,
            sampler: self.sampler.sampler(),
            steps: self.steps,
            guidance: self.guidance,
            seed: self.seed,
        }
    }

    fn sinks(&self, dimension: usize) -> Result<Sinks> {
        let points = |path: &Option<PathBuf>, columns: &[&str]| {
            path.as_ref().map(|path| PointWriter::create(path, None, columns)).transpose()
        };
        let codes = self.codes.as_ref();
        Ok(Sinks {
            places: points(&self.out, &["row", "lat", "lon"])?,
            codes: codes
                .map(|path| MatrixWriter::create(path, None, dimension, Dtype::F32, "coefficients"))
                .transpose()?,
            samples: points(&self.every, &["row", "sample", "lat", "lon"])?,
        })
    }

    pub(crate) fn run(self) -> Result<()> {
        let file = RowFile::open(&self.embeddings, self.tensor.as_deref())?;
        let truth = self.truth.as_ref();
        let truth = truth.map(|path| read_points(path, None, &PointColumns::default())).transpose()?;
        if let Some(truth) = &truth {
            anyhow::ensure!(
                truth.len() == file.rows(),
                "{} has {} rows, --truth has {}: row k of both must be the same photo",
                file.name(),
                file.rows(),
                truth.len()
            );
        }
        let device = Device::open(self.device.device)?;
        let model = Model::load(&device, &self.model).context("--model")?;
        let config = model.config();
        anyhow::ensure!(
            config.embedding_dim == file.columns(),
            "{} has embeddings of {} numbers, the model takes {}: use the encoder it was trained with",
            file.name(),
            file.columns(),
            config.embedding_dim
        );
        let codec = Codec::new(config.degree()?);
        let hybrid = self.hybrid.open((file.name(), file.rows(), file.columns()), &device)?;
        let mut sampler = CodeSampler::new(&model, self.options())?;
        let pooling = match self.pool {
            PoolArg::Pool => Pooling::Pool,
            PoolArg::Mean => Pooling::Mean,
            PoolArg::Single => Pooling::Single,
        };
        let mut sinks = self.sinks(config.code_dim())?;
        let bar = progress::bar("locating", Some(file.rows() as u64));
        let mut found: Vec<LatLon> = Vec::new();
        let mut from_gallery = 0;
        let per_block = sampler.images_per_block();
        for (block, start) in (0..file.rows()).step_by(per_block).enumerate() {
            let rows = start..(start + per_block).min(file.rows());
            let mut embeddings = vec![0.0; rows.len() * file.columns()];
            for (out, row) in embeddings.chunks_exact_mut(file.columns()).zip(rows) {
                file.read_row(row, out)?;
            }
            let codes = sampler.sample_block(block as u64, &embeddings)?;
            let every_sample = self.every.is_some() || hybrid.is_some();
            for mut answer in answers(&codec, &codes, self.samples, pooling, every_sample)? {
                if let Some(hybrid) = &hybrid {
                    let embedding = &embeddings[(found.len() - start) * file.columns()..][..file.columns()];
                    let settled = hybrid.settle(&codec, found.len(), embedding, &mut answer)?;
                    from_gallery += usize::from(settled);
                }
                found.push(answer.place);
                let row = found.len() as f64;
                if let Some(places) = &mut sinks.places {
                    places.write(answer.place, &[row])?;
                }
                if let Some(codes) = &mut sinks.codes {
                    codes.write_row(&answer.code)?;
                }
                for (k, place) in answer.samples.iter().enumerate() {
                    if let Some(samples) = &mut sinks.samples {
                        samples.write(*place, &[row, (k + 1) as f64])?;
                    }
                }
                if self.out.is_none() && !self.json && truth.is_none() {
                    println!("{row:>8} {:>11.6} {:>12.6}", answer.place.lat_deg(), answer.place.lon_deg());
                }
            }
            bar.set_position(found.len() as u64);
        }
        bar.finish_and_clear();
        sinks.places.map(PointWriter::finish).transpose()?;
        sinks.codes.map(MatrixWriter::finish).transpose()?;
        sinks.samples.map(PointWriter::finish).transpose()?;
        let accuracy = truth.map(|truth| Accuracy::new(found.iter().copied().zip(truth)));
        if self.json {
            println!(
                "{}",
                json!({"rows": found.len(), "out": self.out, "model": self.model, "accuracy": accuracy, "seed": self.seed,
                    "from_gallery": hybrid.is_some().then_some(from_gallery)})
            );
        } else {
            if let Some(out) = &self.out {
                println!("{} places in {}", found.len(), out.display());
            }
            if hybrid.is_some() {
                println!("{from_gallery} of them places of the gallery, the others the model's own");
            }
            if let Some(accuracy) = &accuracy {
                println!("{}", describe(accuracy));
            }
        }
        Ok(())
    }
}
