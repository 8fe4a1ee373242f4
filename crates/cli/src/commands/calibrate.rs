//! `locdiff calibrate`: makes a model's probabilities hold what they say.

use crate::args::DeviceArg;
use crate::progress;
use crate::sampling::{EmbeddingsArgs, check_columns, read_truth};
use anyhow::{Context, Result};
use clap::Args;
use locdiff::{
    BACKGROUND_DRAWS, Calibration, Device, Globe, LEVELS, Model, Observation, Predictor, Reading,
    SampleOptions, fit,
};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// Folder of a model; calibration.json is written into it
    #[arg(long, value_name = "FOLDER")]
    model: PathBuf,
    #[command(flatten)]
    embeddings: EmbeddingsArgs,
    /// Their true locations, row by row, of photos that the model was not trained on: .csv with lat and lon
    #[arg(long, value_name = "FILE")]
    truth: PathBuf,
    /// Use these rows alone, counted from 0, one number per line
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    /// Samples per photo
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
        let file = self.embeddings.open()?;
        let truth = read_truth(&self.truth, file.name(), file.rows())?;
        let rows = self.chosen_rows(file.rows())?;
        let device = Device::open(self.device.device)?;
        let mut model = Model::load(&device, &self.model).context("--model")?;
        check_columns(&file, model.config())?;
        if let Some(folder) = &self.export {
            // What is fitted is what is given away: the weights as they are once rounded.
            model.save_half(folder)?;
            model = Model::load(&device, folder)?;
        }
        let globe = Arc::new(Globe::coarse(model.config().degree)?);
        let options = SampleOptions { samples: self.samples, seed: self.seed, ..SampleOptions::default() };
        let predictor = Predictor::new(&model)?;
        let background = predictor.background(BACKGROUND_DRAWS)?;
        let bar = progress::bar("sampling", Some(rows.len() as u64));
        let mut observations = Vec::with_capacity(rows.len());
        predictor.predict_rows(&file, &rows, &options, Reading::default(), |row, _, found| {
            let evidence = found.evidence.context("this model's loss gives no densities")?;
            observations.push(Observation { evidence, answer: found.place, truth: truth[row] });
            bar.inc(1);
            anyhow::Ok(())
        })?;
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
            "−log density {:.3} nats per photo ({:.3} without the photo), n = {}",
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
