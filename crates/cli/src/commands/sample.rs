//! `locdiff sample`: embeddings in, places out.

use crate::embeddings::{EmbeddingsArgs, read_truth, same_rows};
use crate::request::{GalleryRuleArgs, SamplingArgs, hybrid};
use crate::{args::DeviceArg, args::named, args::parse_positive, output, output::status, progress};
use anyhow::{Context, Result};
use clap::Args;
use locdiff::{LatLon, LocatorOptions, Pooling};
use locdiff_base::Named;
use locdiff_io::data::{Dtype, MatrixWriter, PointWriter, RowFile};
use locdiff_model::{Prediction, Predictor, Reading, eval::Accuracy};
use locdiff_nn::Device;
use serde_json::json;
use std::{io::Write, path::PathBuf};

#[derive(Debug, Args)]
pub(crate) struct Sample {
    /// Use the model in this folder: a run's folder, or its best/
    #[arg(long, value_name = "FOLDER")]
    model: PathBuf,
    #[command(flatten)]
    embeddings: EmbeddingsArgs,
    /// Pool samples into one location this way
    #[arg(long, value_parser = named::<Pooling>(), default_value = Pooling::Pool.name())]
    pool: Pooling,
    /// Choose the location whose window of this radius holds most of the code's field
    #[arg(long, value_name = "KM", default_value_t = Reading::default().window_km, value_parser = parse_positive)]
    window_km: f64,
    /// Spread the samples over K views of each photo, which `embed --augment` makes (Algorithm 2 of the paper)
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1001))]
    views: u32,
    /// Set the seed of the noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    device: DeviceArg,
    /// Write row, lat and lon to .csv, .jsonl, .npy or .safetensors
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the pooled codes, one row per photo
    #[arg(long, value_name = "FILE")]
    codes: Option<PathBuf>,
    /// Write every sample: row, sample, lat and lon
    #[arg(long = "per-sample", value_name = "FILE")]
    every: Option<PathBuf>,
    /// Score the answers against these true locations, row by row
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Print a JSON summary
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    sampling: SamplingArgs,
    #[command(flatten)]
    gallery: GalleryRuleArgs,
}

/// Where answers go.
struct Sinks {
    places: Option<PointWriter>,
    codes: Option<MatrixWriter>,
    samples: Option<PointWriter>,
}

impl Sample {
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
        let outputs = [&self.out, &self.codes, &self.every];
        output::claim(outputs.into_iter().filter_map(|path| path.as_deref()), self.json)?;
        let file = self.embeddings.open()?;
        let truth = self.truth.as_ref().map(|path| read_truth(path, file.name(), file.rows())).transpose()?;
        let device = Device::open(self.device.device)?;
        let mut opened = LocatorOptions::default();
        opened.model = Some(self.model.clone());
        let (model, _) = opened.open_model(&device)?;
        model.config().check_rows(&file)?;
        let more = self.more_views(&file)?;
        let views: Vec<&RowFile> = std::iter::once(&file).chain(&more).collect();
        let hybrid = hybrid(&self.gallery, &file, &device)?;
        let mut sinks = self.sinks(model.config().whole_dim())?;
        let predictor = Predictor::new(&model)?;
        let bar = progress::bar("locating", Some(file.rows() as u64));
        let (mut found, mut from_gallery): (Vec<LatLon>, usize) = (Vec::new(), 0);
        let (options, rows) = (self.sampling.options(self.seed)?, (0..file.rows()).collect::<Vec<_>>());
        let reading = Reading {
            pooling: self.pool,
            window_km: self.window_km,
            every_sample: self.every.is_some() || hybrid.is_some(),
        };
        predictor.predict_rows(&views, &rows, &options, reading, |row, embedding, mut prediction| {
            if let Some(hybrid) = &hybrid {
                let own = hybrid.own.as_ref().map(|own| own.embedding(row)).transpose()?;
                let embedding = own.as_ref().unwrap_or(embedding).values();
                let chosen = hybrid.hybrid.settle(predictor.codec(), embedding, &prediction)?;
                prediction.place = chosen.place;
                from_gallery += usize::from(chosen.row.is_some());
            }
            found.push(prediction.place);
            self.write(&mut sinks, found.len(), &prediction)?;
            bar.inc(1);
            anyhow::Ok(())
        })?;
        bar.finish_and_clear();
        sinks.places.map(PointWriter::finish).transpose()?;
        sinks.codes.map(MatrixWriter::finish).transpose()?;
        sinks.samples.map(PointWriter::finish).transpose()?;
        let from_gallery = hybrid.is_some().then_some(from_gallery);
        self.tell(found.len(), from_gallery, truth.map(|truth| Accuracy::new(found.into_iter().zip(truth))))
    }

    /// The other views of the photos.
    fn more_views(&self, first: &RowFile) -> Result<Vec<RowFile>> {
        let view = |k: u32| {
            let file =
                RowFile::open(&self.embeddings.embeddings, Some(&format!("augmented_{k}"))).context("--views")?;
            same_rows((file.name(), file.rows()), (first.name(), first.rows()))?;
            Ok(file)
        };
        (1..self.views).map(view).collect()
    }

    /// Writes a photo's prediction wherever it is wanted; `number` counts from 1.
    fn write(&self, sinks: &mut Sinks, number: usize, prediction: &Prediction) -> Result<()> {
        let (place, row) = (prediction.place, number as f64);
        if let Some(places) = &mut sinks.places {
            places.write(place, &[row])?;
        }
        if let Some(codes) = &mut sinks.codes {
            codes.write_row(prediction.code.as_slice())?;
        }
        if let Some(samples) = &mut sinks.samples {
            for (k, place) in prediction.samples.iter().enumerate() {
                samples.write(*place, &[row, (k + 1) as f64])?;
            }
        }
        if self.out.is_none() && !self.json && self.truth.is_none() {
            status!("{row:>8} {:>11.6} {:>12.6}", place.lat_deg(), place.lon_deg());
        }
        Ok(())
    }

    fn tell(&self, rows: usize, from_gallery: Option<usize>, accuracy: Option<Accuracy>) -> Result<()> {
        if self.json {
            let summary = json!({"rows": rows, "out": self.out, "model": self.model, "accuracy": accuracy,
                "seed": self.seed, "from_gallery": from_gallery});
            return Ok(writeln!(output::Out, "{summary}")?);
        }
        if let Some(out) = self.out.as_ref().filter(|out| !output::is_stdout(out)) {
            status!("{rows} locations in {}", out.display());
        }
        if let Some(from_gallery) = from_gallery {
            status!("{from_gallery} of them from the gallery, the others the model's own");
        }
        if let Some(accuracy) = accuracy {
            status!("{accuracy}");
        }
        Ok(())
    }
}
