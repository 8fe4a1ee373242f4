//! Answers of a trained model, and where it is calibrated its densities at the truths, to be judged.

use crate::args::DeviceArg;
use crate::progress;
use anyhow::{Context, Result};
use clap::Args;
use locdiff::{Calibration, Globe, LEVELS, open_model};
use locdiff_data::RowFile;
use locdiff_model::{CodeSampler, Pooling, SampleOptions, answers};
use locdiff_nn::Device;
use locdiff_report::System;
use locdiff_shdd::Codec;
use locdiff_sphere::LatLon;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Which model, on which photos, and how it samples.
#[derive(Debug, Args)]
#[command(next_help_heading = "A model instead of predictions")]
pub(super) struct ModelArgs {
    /// Folder of a model: a run's folder, or its best/
    #[arg(long, value_name = "FOLDER", requires = "embeddings")]
    pub(super) model: Option<PathBuf>,
    /// Embeddings of the photos, one per row in the order of the truths: .safetensors or .npy
    #[arg(long, value_name = "FILE", requires = "model")]
    embeddings: Option<PathBuf>,
    /// Tensor of a safetensors file that holds several
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    /// Samples per photo, pooled
    #[arg(long, value_name = "N", default_value_t = 16)]
    samples: usize,
    /// Steps of the sampler (DPM-Solver++)
    #[arg(long, value_name = "N", default_value_t = 20)]
    steps: usize,
    /// Classifier-free guidance; 0 for none
    #[arg(long, value_name = "W", default_value_t = 0.0, allow_hyphen_values = true)]
    guidance: f32,
    #[command(flatten)]
    device: DeviceArg,
}

/// What a calibrated density says about a photo's truth.
struct TruthReading {
    log_density: f64,
    /// Probability of the smallest region that holds the truth.
    region_level: f64,
    /// The radii around the answer that are said to hold 10, 20 … 90 %.
    radii_km: Vec<f64>,
}

/// A photo's place; what is said about its truth where there is one and the model is calibrated.
type Judged = (LatLon, Option<TruthReading>);

impl ModelArgs {
    /// The model's answers, and where it is calibrated what it says about the truths.
    pub(super) fn system(
        &self,
        folder: &Path,
        name: String,
        seed: u64,
        truths: &[Option<LatLon>],
    ) -> Result<System> {
        let judged = self.judge(folder, seed, truths)?;
        let mut system = System::of_places(name, judged.iter().map(|(place, _)| Some(*place)).collect());
        if judged.iter().any(|(_, reading)| reading.is_some()) {
            let of = |pick: &dyn Fn(&TruthReading) -> f64| -> Vec<f64> {
                judged.iter().map(|(_, reading)| reading.as_ref().map_or(f64::NAN, pick)).collect()
            };
            system.log_density = Some(of(&|reading| reading.log_density));
            system.region_level = Some(of(&|reading| reading.region_level));
            let radii =
                LEVELS.iter().enumerate().map(|(k, share)| (*share, of(&|reading| reading.radii_km[k])));
            system.radii = radii.collect();
        }
        Ok(system)
    }

    /// One place per photo, and what the model says about its truth.
    fn judge(&self, folder: &Path, seed: u64, truths: &[Option<LatLon>]) -> Result<Vec<Judged>> {
        let path = self.embeddings.as_ref().context("--model needs --embeddings")?;
        let file = RowFile::open(path, self.tensor.as_deref())?;
        let device = Device::open(self.device.device)?;
        let (model, calibration) = open_model(folder, &device).context("--model")?;
        anyhow::ensure!(
            file.rows() == truths.len(),
            "there are {} embeddings and {} truths: row k of both must be the same photo",
            file.rows(),
            truths.len()
        );
        let reading = match calibration {
            Some(calibration) => Some((calibration, Globe::new(model.config().degree)?)),
            None => None,
        };
        let columns = model.config().embedding_dim;
        anyhow::ensure!(
            columns == file.columns(),
            "{} has embeddings of {} numbers, the model takes {columns}: use the encoder it was trained with",
            file.name(),
            file.columns()
        );
        let options = SampleOptions {
            samples: self.samples,
            steps: self.steps,
            guidance: self.guidance,
            seed,
            ..SampleOptions::default()
        };
        let codec = Codec::new(model.config().degree()?);
        let mut locator = CodeSampler::new(&model, options)?;
        let bar = progress::bar("locating", Some(file.rows() as u64));
        let mut found = Vec::with_capacity(file.rows());
        let per_block = locator.images_per_block();
        for (block, start) in (0..file.rows()).step_by(per_block).enumerate() {
            let rows = start..(start + per_block).min(file.rows());
            let mut embeddings = vec![0.0; rows.len() * columns];
            for (out, row) in embeddings.chunks_exact_mut(columns).zip(rows) {
                file.read_row(row, out)?;
            }
            let codes = locator.sample_block(block as u64, &embeddings)?;
            let block = answers(&codec, &codes, self.samples, Pooling::Pool, false)?;
            match &reading {
                Some((calibration, globe)) => {
                    let photos = block.par_iter().zip(locator.evidence()?).zip(&truths[start..]);
                    found.par_extend(photos.map(|((answer, evidence), truth)| {
                        (
                            answer.place,
                            truth.map(|truth| read_truth(calibration, globe, &evidence, answer.place, truth)),
                        )
                    }));
                }
                None => found.extend(block.iter().map(|answer| (answer.place, None))),
            }
            bar.set_position(found.len() as u64);
        }
        bar.finish_and_clear();
        Ok(found)
    }
}

fn read_truth(
    calibration: &Calibration,
    globe: &Globe,
    evidence: &[f64],
    answer: LatLon,
    truth: LatLon,
) -> TruthReading {
    let density = calibration.density(globe, evidence, None);
    let truth = truth.to_unit();
    TruthReading {
        log_density: density.log_density(&[truth])[0],
        region_level: density.mass_denser_than(truth),
        radii_km: density.radii_km(answer, &LEVELS.map(|share| calibration.radius_level(share))),
    }
}
