//! Answers of a trained model or densities in a file, judged by the truths.

use crate::request::open;
use crate::{args::DeviceArg, args::read_vectors, embeddings::warn_of_trained, progress, request::SamplingArgs};
use anyhow::{Context, Result, ensure};
use clap::Args;
use locdiff::{Control, LatLon, LocateOptions, Locator, LocatorOptions, Progress};
use locdiff_io::data::{MatrixReader, RowFile};
use locdiff_model::eval::{LEVELS, TruthInDensity, truths_in_densities};
use locdiff_model::{answer::Verdict, report::System, report::in_row_order};
use locdiff_shdd::{Codec, Coefficients, sphere::Degree};
use std::path::{Path, PathBuf};

/// Which model, on which photos, and how it samples.
#[derive(Debug, Args)]
#[command(next_help_heading = "A model instead of predictions")]
pub(super) struct ModelArgs {
    /// Use the model in this folder: a run's folder, or its best/
    #[arg(long, value_name = "FOLDER", requires = "embeddings")]
    pub(super) model: Option<PathBuf>,
    /// Read embeddings of the photos, one row per photo in the order of --truth: .safetensors or .npy
    #[arg(long, value_name = "FILE")]
    pub(super) embeddings: Option<PathBuf>,
    /// Match --truth by the column path of this table, which `embed` or `batch merge` wrote; missing photos are unanswered
    #[arg(long, value_name = "FILE.csv", requires = "embeddings")]
    pub(super) embedded: Option<PathBuf>,
    /// Read this tensor, if a safetensors file holds several
    #[arg(long, value_name = "NAME")]
    pub(super) tensor: Option<String>,
    #[command(flatten)]
    sampling: SamplingArgs,
    #[command(flatten)]
    device: DeviceArg,
}

impl ModelArgs {
    /// The model that locates embeddings: the folder's, or the bundled one.
    pub(super) fn locator(&self) -> Result<Locator> {
        let mut options = LocatorOptions::default();
        (options.model, options.device, options.without_encoder) = (self.model.clone(), self.device.device, true);
        open(&options, &LocateOptions::default())
    }

    /// The answers of the model in a folder, and where it is calibrated what it says about the truths.
    pub(super) fn system(
        &self,
        folder: &Path,
        seed: u64,
        truths: &[Option<LatLon>],
        rows: Option<Vec<Option<usize>>>,
    ) -> Result<System> {
        let embeddings = self.embeddings.as_deref().context("--model needs --embeddings")?;
        let options = self.sampling.options(seed)?;
        let file = RowFile::open(embeddings, self.tensor.as_deref())?;
        warn_of_trained(folder, &file)?;
        let judge = |truths: &[Option<LatLon>]| {
            let bar = progress::bar("locating", Some(file.rows() as u64));
            let advance = |_: Progress| bar.inc(1);
            let mut opened = LocatorOptions::default();
            (opened.model, opened.device) = (Some(folder.to_owned()), self.device.device);
            let found = opened.judge_rows(&file, truths, &options, Control::new().with_progress(&advance));
            bar.finish_and_clear();
            found
        };
        // Where the embeddings have an order of their own, the truths are put into it and the answers back.
        let judged: Vec<Option<(LatLon, Option<Verdict>)>> = if let Some(rows) = rows {
            let found = judge(&in_row_order(truths, &rows, file.rows()))?;
            rows.iter().map(|row| row.map(|row| found[row].clone())).collect()
        } else {
            judge(truths)?.into_iter().map(Some).collect()
        };
        let places = judged.iter().map(|one| one.as_ref().map(|(place, _)| *place));
        let mut system = System::of_places(short_name(folder), places.collect());
        let judged: Vec<Option<Verdict>> = judged.into_iter().map(|one| one.and_then(|(_, verdict)| verdict)).collect();
        let of = |pick: &dyn Fn(&Verdict) -> f64| -> Vec<f64> {
            judged.iter().map(|verdict| verdict.as_ref().map_or(f64::NAN, pick)).collect()
        };
        if judged.iter().any(Option::is_some) {
            system.log_density = Some(of(&|verdict| verdict.log_density));
            system.region_level = Some(of(&|verdict| verdict.region_level));
            system.region_area_km2 = Some(of(&|verdict| verdict.region_area_km2));
            let said = |verdict: &Option<Verdict>| verdict.iter().flat_map(|one| one.countries.clone()).collect();
            system.countries = judged.iter().map(said).collect();
            let radii = LEVELS.iter().enumerate();
            system.radii = radii.map(|(k, share)| (*share, of(&|verdict| verdict.radii_km[k]))).collect();
        }
        Ok(system)
    }
}

/// A file or folder without the way to it.
pub(super) fn short_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// What the densities of a file say about truths, row by row.
pub(super) fn judge_codes(path: &Path, truths: &[Option<LatLon>]) -> Result<Vec<Option<TruthInDensity>>> {
    const BLOCK_ROWS: usize = 256;
    let mut reader = MatrixReader::open(path, None, None)?;
    let degree = Degree::from_dimension(reader.columns())
        .with_context(|| format!("{}: a row is not a coefficient vector", path.display()))?;
    let codec = Codec::new(degree);
    let bar = progress::bar("densities", Some(truths.len() as u64));
    let mut found = Vec::with_capacity(truths.len());
    loop {
        let block: Vec<Coefficients> = read_vectors(&mut reader, BLOCK_ROWS, path, found.len() as u64)?;
        if block.is_empty() {
            break;
        }
        let rest = &truths[found.len().min(truths.len())..];
        let pairs: Vec<(Coefficients, LatLon)> =
            block.iter().zip(rest).filter_map(|(code, truth)| Some((code.clone(), (*truth)?))).collect();
        let (codes, places): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let mut judged = truths_in_densities(&codec, &codes, &places)?.into_iter();
        let told = |k: usize| rest.get(k).copied().flatten().and_then(|_| judged.next());
        found.extend((0..block.len()).map(told));
        bar.set_position(found.len() as u64);
    }
    bar.finish_and_clear();
    ensure!(
        found.len() == truths.len(),
        "{} has {} rows for {} photos: give one density per row, in the same order",
        path.display(),
        found.len(),
        truths.len()
    );
    Ok(found)
}
