//! `locdiff calibrate`: makes a model's probabilities hold what they say.

use crate::commands::train::DeviceArg;
use crate::progress;
use anyhow::{Context, Result};
use clap::Args;
use locdiff::{BACKGROUND_DRAWS, Calibration, Globe, LEVELS, Observation, fit};
use locdiff_data::{PointColumns, RowFile, read_points};
use locdiff_model::{CodeSampler, Model, Pooling, SampleOptions, answers};
use locdiff_nn::Device;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// Folder of a model; calibration.json is written into it
    #[arg(long, value_name = "FOLDER")]
    model: PathBuf,
    /// Embeddings of photos that the model was not trained on, one a row: .safetensors or .npy
    #[arg(long, value_name = "FILE")]
    embeddings: PathBuf,
    /// Tensor of a safetensors file that holds several
    #[arg(long, value_name = "NAME")]
    tensor: Option<String>,
    /// Their true locations, row by row: .csv with lat and lon
    #[arg(long, value_name = "FILE")]
    truth: PathBuf,
    /// Use these rows alone, counted from 0, one number a line
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    /// Samples a photo
    #[arg(long, value_name = "N", default_value_t = 16)]
    samples: usize,
    /// Seed of the noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArg,
    /// Write model and calibration into this folder instead, the weights as f16: half the size, to give away
    #[arg(long, value_name = "FOLDER")]
    export: Option<PathBuf>,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
}

impl Calibrate {
    pub(crate) fn run(self) -> Result<()> {
        let file = RowFile::open(&self.embeddings, self.tensor.as_deref())?;
        let truth = read_points(&self.truth, None, &PointColumns::default())?;
        anyhow::ensure!(
            truth.len() == file.rows(),
            "{} has {} rows, --truth has {}: row k of both must be the same photo",
            file.name(),
            file.rows(),
            truth.len()
        );
        let rows = self.chosen_rows(file.rows())?;
        let device = Device::open(self.device.device)?;
        let mut model = Model::load(&device, &self.model).context("--model")?;
        let config = model.config();
        anyhow::ensure!(
            config.embedding_dim == file.columns(),
            "{} has embeddings of {} numbers, the model takes {}: use the encoder it was trained with",
            file.name(),
            file.columns(),
            config.embedding_dim
        );
        if let Some(folder) = &self.export {
            // What is fitted is what is given away: the weights as they are once rounded.
            model.save_half(folder)?;
            model = Model::load(&device, folder)?;
        }
        let globe = Globe::coarse(model.config().degree)?;
        let options = SampleOptions { samples: self.samples, seed: self.seed, ..SampleOptions::default() };
        let mut sampler = CodeSampler::new(&model, options)?;
        let background = sampler.background(BACKGROUND_DRAWS)?;
        let bar = progress::bar("sampling", Some(rows.len() as u64));
        let mut observations = Vec::with_capacity(rows.len());
        for (block, rows) in rows.chunks(sampler.images_per_block()).enumerate() {
            let mut embeddings = vec![0.0; rows.len() * file.columns()];
            for (out, row) in embeddings.chunks_exact_mut(file.columns()).zip(rows) {
                file.read_row(*row, out)?;
            }
            let codes = sampler.sample_block(block as u64, &embeddings)?;
            let pooled = answers(globe.codec(), &codes, self.samples, Pooling::Pool, false)?;
            let evidence = sampler.evidence()?;
            for ((pooled, evidence), row) in pooled.into_iter().zip(evidence).zip(rows) {
                observations.push(Observation { evidence, answer: pooled.place, truth: truth[*row] });
            }
            bar.set_position(observations.len() as u64);
        }
        bar.set_prefix("fitting");
        let calibration = fit(&globe, &background, &observations, self.samples, self.seed)?;
        bar.finish_and_clear();
        let folder = self.export.as_ref().unwrap_or(&self.model);
        calibration.save(folder)?;
        self.tell(&calibration, folder)
    }

    fn chosen_rows(&self, count: usize) -> Result<Vec<usize>> {
        let Some(path) = &self.rows else { return Ok((0..count).collect()) };
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(number, line)| match line.trim().parse::<usize>() {
                Ok(row) if row < count => Ok(row),
                _ => anyhow::bail!(
                    "{}, line {}: '{}' is no row; rows are 0 to {}",
                    path.display(),
                    number + 1,
                    line.trim(),
                    count - 1
                ),
            })
            .collect()
    }

    fn tell(&self, calibration: &Calibration, folder: &std::path::Path) -> Result<()> {
        let mut out = std::io::stdout();
        let path = folder.join(locdiff::CALIBRATION_FILE);
        let Some(report) = &calibration.fit else { return Ok(()) };
        if self.json {
            let summary = json!({
                "out": path, "evidence": calibration.evidence, "background_weight": calibration.background_weight,
                "floor": calibration.floor, "can_tell_from": calibration.can_tell_from, "fit": report,
                "worst_deviation": report.worst_deviation(),
            });
            writeln!(out, "{summary}")?;
            return Ok(());
        }
        let percent = |shares: &[f64]| {
            let each: Vec<String> = shares.iter().map(|share| format!("{:>3.0}", 100.0 * share)).collect();
            each.join(" ")
        };
        writeln!(
            out,
            "evidence × {:.2}, background × {:.2}, floor {:.0} %; \"I can't tell\" below a locatability of {:.2}",
            calibration.evidence,
            calibration.background_weight,
            100.0 * calibration.floor,
            calibration.can_tell_from
        )?;
        writeln!(
            out,
            "−log density {:.3} nats a photo ({:.3} without the photo), n = {}",
            report.nll_nats, report.background_nll_nats, report.n
        )?;
        writeln!(out, "said          {} %", percent(&LEVELS))?;
        writeln!(out, "in regions    {} %", percent(&report.regions))?;
        writeln!(
            out,
            "within radii  {} % before, as said after the radii are stretched",
            percent(&report.radii)
        )?;
        writeln!(out, "wrote {}", path.display())?;
        Ok(())
    }
}
