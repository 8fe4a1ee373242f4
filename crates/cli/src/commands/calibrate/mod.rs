//! `locdiff calibrate`: makes a model's probabilities hold what they say.

mod report;

use crate::args::DeviceArg;
use crate::gallery::{self, GalleryArgs};
use crate::sampling::{EmbeddingsArgs, check_columns, read_truth};
use crate::{output, progress};
use anyhow::{Context, Result};
use clap::Args;
use locdiff::{
    BACKGROUND_DRAWS, Device, Globe, Model, Observation, Predictor, SampleOptions, fit, fit_gallery,
};
use locdiff_data::{RowFile, TableReader};
use locdiff_sphere::LatLon;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What to fit, and with which photos.
#[derive(Debug, Args)]
pub struct Calibrate {
    /// Folder of a model; calibration.json is written into it
    #[arg(long, value_name = "FOLDER")]
    model: PathBuf,
    #[command(flatten)]
    embeddings: EmbeddingsArgs,
    /// Their true locations, row by row, of photos that the model was not trained on: .csv with lat and lon
    #[arg(long, value_name = "FILE")]
    truth: PathBuf,
    /// A column of the truths that names each photo's collection: every collection counts the same, and regions are to hold in each
    #[arg(long, value_name = "COLUMN")]
    groups: Option<String>,
    /// Use these rows alone, counted from 0, one number per line
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    #[command(flatten)]
    strangers: StrangersArgs,
    #[command(flatten)]
    gallery: GalleryArgs,
    /// Draws of noise that the evidence is the mean of
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

/// Photos of another kind than the model was trained for.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Photos of another kind")]
struct StrangersArgs {
    /// Embeddings of photos of another kind than the model was trained for (holiday pictures to a model of street views): they are
    /// learned to be told, and get a calibration of their own
    #[arg(long, value_name = "FILE", requires = "strangers_truth")]
    strangers: Option<PathBuf>,
    /// Tensor of a safetensors file that holds several
    #[arg(long, value_name = "NAME", requires = "strangers")]
    strangers_tensor: Option<String>,
    /// Their true locations, row by row
    #[arg(long, value_name = "FILE", requires = "strangers")]
    strangers_truth: Option<PathBuf>,
    /// Use so many of their first rows alone
    #[arg(long, value_name = "N", requires = "strangers")]
    strangers_first: Option<usize>,
}

impl StrangersArgs {
    fn open(&self, like: &RowFile) -> Result<Option<(RowFile, Vec<LatLon>)>> {
        let (Some(path), Some(truth)) = (&self.strangers, &self.strangers_truth) else { return Ok(None) };
        let file = RowFile::open(path, self.strangers_tensor.as_deref())?;
        anyhow::ensure!(
            file.columns() == like.columns(),
            "{} has embeddings of {} numbers, {} of {}: use one encoder",
            file.name(),
            file.columns(),
            like.name(),
            like.columns()
        );
        if let (Some(met), Some(first)) = (file.encoder(), like.encoder()) {
            anyhow::ensure!(
                met.is_same_encoder(first),
                "{} was made by the encoder {met}, {} by {first}: use one encoder for both",
                file.name(),
                like.name()
            );
        }
        let truth = read_truth(truth, file.name(), file.rows())?;
        Ok(Some((file, truth)))
    }
}

impl Calibrate {
    /// With some rows of a file alone, else as without flags: what `locdiff-lab recipe` does.
    pub fn of_rows(
        model: &Path,
        embeddings: &Path,
        truth: &Path,
        rows: &Path,
        seed: u64,
        device: DeviceArg,
    ) -> Self {
        Self {
            model: model.to_owned(),
            embeddings: EmbeddingsArgs { embeddings: embeddings.to_owned(), tensor: None },
            truth: truth.to_owned(),
            groups: None,
            rows: Some(rows.to_owned()),
            strangers: StrangersArgs::default(),
            gallery: GalleryArgs::default(),
            samples: 16,
            seed,
            device,
            export: None,
            json: false,
        }
    }

    /// Fits and writes the calibration.
    pub fn run(self) -> Result<()> {
        if let Some(folder) = &self.export {
            output::claim_file(&folder.join(locdiff_model::CONFIG_FILE))?;
        }
        let file = self.embeddings.open()?;
        let truth = read_truth(&self.truth, file.name(), file.rows())?;
        let groups = self.groups(file.rows())?;
        let rows = self.chosen_rows(file.rows())?;
        let device = Device::open(self.device.device)?;
        let mut model = Model::load(&device, &self.model).context("--model")?;
        check_columns(&file, model.config())?;
        if let Some(folder) = &self.export {
            // What is fitted is what is given away: the weights as they are once rounded.
            model.save_half(folder)?;
            model = Model::load(&device, folder)?;
        }
        let globe = Arc::new(Globe::new(model.config().degree)?);
        let options = SampleOptions { samples: self.samples, seed: self.seed, ..SampleOptions::default() };
        let predictor = Predictor::new(&model)?;
        let background = predictor.background(BACKGROUND_DRAWS)?;
        let bar = progress::bar("reading", Some(rows.len() as u64));
        let observe = |file: &RowFile, rows: &[usize], truth: &[LatLon], groups: &[usize]| {
            let mut seen = Vec::with_capacity(rows.len());
            predictor.evidence_rows(file, rows, &options, |row, embedding, evidence| {
                let embedding = embedding.values().to_vec();
                let (truth, group) = (truth[row], groups[row]);
                seen.push(Observation { evidence, truth, embedding, group, neighbours: Vec::new() });
                bar.inc(1);
                anyhow::Ok(())
            })?;
            anyhow::Ok(seen)
        };
        let mut observations = observe(&file, &rows, &truth, &groups)?;
        let mut strangers = match self.strangers.open(&file)? {
            Some((file, truth)) => {
                let first = self.strangers.strangers_first.unwrap_or(usize::MAX);
                let rows: Vec<usize> = (0..file.rows().min(first)).collect();
                observe(&file, &rows, &truth, &vec![0; file.rows()])?
            }
            None => Vec::new(),
        };
        bar.set_prefix("fitting");
        let mut calibration = fit(&globe, &background, &observations, &strangers, self.samples, self.seed)?;
        if let Some(retriever) =
            self.gallery.open(file.columns(), model.config().encoder.as_ref(), &device)?
        {
            bar.set_prefix("mixing");
            gallery::observe(retriever.as_ref(), &mut observations)?;
            gallery::observe(retriever.as_ref(), &mut strangers)?;
            let (key, temperature) = (retriever.identity(), retriever.temperature());
            calibration = fit_gallery(&globe, &calibration, &observations, &strangers, &key, temperature)?;
        }
        calibration.encoder = model.config().encoder.clone().or_else(|| file.encoder().cloned());
        bar.finish_and_clear();
        let folder = self.export.as_ref().unwrap_or(&self.model);
        calibration.save(folder)?;
        report::tell(&calibration, folder, self.json)
    }

    /// Each row's collection by number.
    fn groups(&self, count: usize) -> Result<Vec<usize>> {
        let Some(column) = &self.groups else { return Ok(vec![0; count]) };
        let mut table = TableReader::open(&self.truth)?;
        let at = table.column(&[column]).context("--groups")?;
        let (mut names, mut groups): (Vec<String>, Vec<usize>) = (Vec::new(), Vec::new());
        while let Some((_, mut fields)) = table.next_row()? {
            let name = fields.swap_remove(at);
            groups.push(names.iter().position(|other| *other == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            }));
        }
        Ok(groups)
    }

    fn chosen_rows(&self, count: usize) -> Result<Vec<usize>> {
        let Some(path) = &self.rows else { return Ok((0..count).collect()) };
        let text =
            locdiff_base::read_text_bounded(path, 1 << 30).with_context(|| path.display().to_string())?;
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
}
