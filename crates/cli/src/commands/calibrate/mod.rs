//! `locdiff calibrate`: makes a model's probabilities hold.

use crate::interrupt::Interrupted;
use crate::{args::DeviceArg, output, output::status, progress, request::GalleryArgs, say};
use crate::{embeddings::EmbeddingsArgs, embeddings::warn_of_trained, interrupt::InterruptGuard};
use anyhow::Result;
use clap::Args;
use locdiff::{CalibrateRequest, Control, EmbeddingRows, ErrorKind, LocateOptions, Progress};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// Calibrate the model in this folder; calibration.json is written into it
    #[arg(long, value_name = "FOLDER")]
    model: PathBuf,
    #[command(flatten)]
    embeddings: EmbeddingsArgs,
    /// Read true locations of photos that the model was not trained on: .csv with lat and lon, matched by name or order
    #[arg(long, value_name = "FILE")]
    truth: PathBuf,
    /// Read each photo's collection from this column of --truth; all collections count the same
    #[arg(long, value_name = "COLUMN")]
    groups: Option<String>,
    /// Fit exponents and window on this collection, and radii on all [default: all collections]
    #[arg(long, value_name = "NAME", requires = "groups")]
    chosen_by: Option<String>,
    /// Use only these rows: one number per line, from 0
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    #[command(flatten)]
    ood: OodArgs,
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    gallery: GalleryArgs,
    /// Average over N draws of noise
    #[arg(long, value_name = "N", default_value_t = LocateOptions::default().samples)]
    samples: usize,
    /// Set the seed of the noise
    #[arg(long, default_value_t = LocateOptions::default().seed)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArg,
    /// Write model and calibration into this folder instead, with weights as f16 (half the size)
    #[arg(long, value_name = "FOLDER")]
    export: Option<PathBuf>,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
}

/// Photos of another kind than the model was trained for.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Out of domain")]
struct OodArgs {
    /// Read embeddings of another kind of photos than the training photos; these get their own calibration
    #[arg(long, value_name = "FILE", requires = "ood_truth", alias = "strangers")]
    ood: Option<PathBuf>,
    /// Read this tensor, if a safetensors file holds several
    #[arg(long, value_name = "NAME", requires = "ood", alias = "strangers-tensor")]
    ood_tensor: Option<String>,
    /// Read true locations of --ood, row by row
    #[arg(long, value_name = "FILE", requires = "ood", alias = "strangers-truth")]
    ood_truth: Option<PathBuf>,
    /// Use only the first N rows of --ood
    #[arg(long, value_name = "N", requires = "ood", alias = "strangers-first")]
    ood_first: Option<usize>,
}

/// The map factors of the density.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Map factors")]
struct MapArgs {
    /// Learn map factors from these embeddings of training photos [default: the ones that `train` kept in the model's folder]
    #[arg(long, value_name = "FILE", requires = "surroundings_truth")]
    surroundings: Option<PathBuf>,
    /// Read this tensor, if a safetensors file holds several
    #[arg(long, value_name = "NAME", requires = "surroundings")]
    surroundings_tensor: Option<String>,
    /// Read true locations of --surroundings
    #[arg(long, value_name = "FILE", requires = "surroundings")]
    surroundings_truth: Option<PathBuf>,
    /// Do not fit map factors
    #[arg(long, conflicts_with = "surroundings")]
    no_factors: bool,
}

impl Calibrate {
    /// Fits and writes the calibration.
    pub(crate) fn run(self) -> Result<()> {
        if let Some(folder) = &self.export {
            output::claim_file(&folder.join(locdiff_model::CONFIG_FILE))?;
        }
        let request = self.request();
        let guard = InterruptGuard::begin();
        let bar = progress::bar("reading", None);
        let advance = |_: Progress| bar.inc(1);
        let fitted = request.run(Control::new().with_stop(guard.stop()).with_progress(&advance));
        bar.finish_and_clear();
        if fitted.as_ref().is_err_and(|error| error.kind() == ErrorKind::Stopped) {
            say::error("interrupted: the calibration is as it was");
            return Err(Interrupted.into());
        }
        let calibration = fitted?;
        warn_of_trained(&self.model, &self.embeddings.open()?)?;
        if self.json {
            let mut summary = calibration.to_json();
            summary["out"] = serde_json::json!(request.file());
            status!("{summary}");
        } else {
            status!("{}wrote {}", calibration.to_text(), request.file().display());
        }
        Ok(())
    }

    fn request(&self) -> CalibrateRequest {
        let EmbeddingsArgs { embeddings, tensor } = self.embeddings.clone();
        let rows = EmbeddingRows::new(embeddings, tensor, &self.truth);
        let mut request = CalibrateRequest::new(&self.model, rows);
        let OodArgs { ood, ood_tensor, ood_truth, ood_first } = &self.ood;
        if let (Some(embeddings), Some(truth)) = (ood.clone(), ood_truth.clone()) {
            request.out_of_domain = Some(EmbeddingRows::new(embeddings, ood_tensor.clone(), truth));
        }
        request.out_of_domain_first = *ood_first;
        let map = &self.map;
        if let (Some(embeddings), Some(truth)) = (map.surroundings.clone(), map.surroundings_truth.clone()) {
            request.surroundings = Some(EmbeddingRows::new(embeddings, map.surroundings_tensor.clone(), truth));
        }
        request.without_factors = map.no_factors;
        request.groups.clone_from(&self.groups);
        request.chosen_by.clone_from(&self.chosen_by);
        request.rows.clone_from(&self.rows);
        request.gallery.clone_from(&self.gallery.gallery);
        request.geoclip.clone_from(&self.gallery.geoclip);
        request.samples = self.samples;
        request.seed = self.seed;
        request.device = self.device.device;
        request.export.clone_from(&self.export);
        request
    }
}
