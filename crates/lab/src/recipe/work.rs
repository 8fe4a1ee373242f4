//! What a recipe has the other libraries do, done with the code of `locdiff`'s own commands.

use crate::{recipe::dataset::Photos, recipe::task::Task};
use anyhow::{Context, Result};
use clap::Parser;
use locdiff::{CalibrateRequest, Control, EmbeddingRows, FlatOptions, GalleryRule, LocatorOptions, calibrate};
use locdiff::batch::{Job, merge_as, plan};
use locdiff_cli::commands::evaluate::{ModelOnRows, check_count, embedded_rows};
use locdiff_cli::commands::train::{ModelArgs, Train, TrainingArgs};
use locdiff_cli::{commands::batch::RunArgs, photos::PhotoArgs};
use locdiff_io::data::{Dtype, PlaceTable, PointColumns, RowFile};
use locdiff_model::eval::{Benchmark, Bootstrap};
use locdiff_retrieval::geoclip::GALLERY_FILE;
use locdiff_model::{Model, Predictor, Reading, SampleOptions};
use locdiff_nn::Device;
use locdiff_model::report::terminal::output::{Usage, write_file};
use locdiff_model::report::terminal::{args::DeviceArg, progress, verbosity};
use locdiff_model::report::{Division, Evaluation, System};
use locdiff_shdd::sphere::LatLon;
use locdiff_model::train::TrainPreset;
use std::path::{Path, PathBuf};

/// The settings of `--set`, by the flags of `locdiff train`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Overrides {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    training: TrainingArgs,
}

/// Reads settings that are given by name.
fn overrides(settings: &[(String, String)]) -> Result<Overrides> {
    let words = settings.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()]);
    Overrides::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        Usage(format!("--set: {}", line.trim_start_matches("error: "))).into()
    })
}

/// Fails where settings are not those of `locdiff train`: before days of other work.
pub(crate) fn check(settings: &[(String, String)]) -> Result<()> {
    overrides(settings).map(drop)
}

/// Does a task.
pub(crate) fn perform(task: &Task, device: &DeviceArg) -> Result<()> {
    match task {
        Task::Plan { photos, encoder, shard_photos, job } => {
            let mut found = match photos {
                Photos::Listed { list, pictures } => {
                    PhotoArgs::with_images(vec![pictures.clone()]).gather(std::slice::from_ref(list))?
                }
                Photos::Shards(shards) => PhotoArgs::with_images(Vec::new()).gather(shards)?,
            };
            let left_out = found.keep_located();
            if left_out > 0 {
                verbosity::note(&format!("{left_out} photos have no place: left out"));
            }
            let mut settings = FlatOptions::default();
            settings.locator.encoder.clone_from(encoder);
            plan(&found, job, locdiff::batch::Task::Embed, settings, *shard_photos)?;
            Ok(())
        }
        Task::Embed { job } => RunArgs::whole(job, device.clone()).run(),
        Task::Merge { job, out } => {
            merge_as(&Job::open(job)?, out, Dtype::F16)?;
            Ok(())
        }
        Task::Train { embeddings, locations, held_out, seed, settings, out } => {
            let Overrides { model, training } = overrides(settings)?;
            let mut train = Train::of(embeddings, locations, out);
            (train.preset, train.resume) = (TrainPreset::Paper, true);
            (train.validation_share, train.seed) = (Some(*held_out), *seed);
            (train.model, train.training, train.device) = (model, training, device.clone());
            train.run()
        }
        Task::Calibrate { model, embeddings, locations, rows, seed } => {
            let known = EmbeddingRows { embeddings: embeddings.clone(), tensor: None, truth: locations.clone() };
            let mut request = CalibrateRequest::new(model, known);
            (request.rows, request.seed, request.device) = (Some(rows.clone()), *seed, device.device);
            calibrate(&request, Control::new())?;
            Ok(())
        }
        Task::Evaluate { benchmark, truth, model, embeddings, embedded, csv, html, seed } => {
            let options = SampleOptions { seed: *seed, ..SampleOptions::default() };
            let device = device.device;
            let model = ModelOnRows { folder: model, embeddings, tensor: None, options, device };
            let system = |truths: &[Option<LatLon>], rows: Vec<Option<usize>>| model.system(truths, Some(rows));
            evaluate(*benchmark, (truth, embedded), system, *seed, [csv, html])
        }
        Task::Hybrid { benchmark, truth, model, geoclip, embeddings, embedded, csv, html, seed } => {
            let places = hybrid_places(model, geoclip, embeddings, *seed, device)?;
            let system = |_: &[Option<LatLon>], rows: Vec<Option<usize>>| {
                let places = rows.into_iter().map(|row| row.map(|row| places[row]));
                Ok(System::of_places("LocDiff-H".to_owned(), places.collect()))
            };
            evaluate(*benchmark, (truth, embedded), system, *seed, [csv, html])
        }
    }
}

/// LocDiff-H's places by the paper's rule, one for each row.
fn hybrid_places(
    model: &Path,
    geoclip: &Path,
    embeddings: &Path,
    seed: u64,
    device: &DeviceArg,
) -> Result<Vec<LatLon>> {
    let (file, device) = (RowFile::open(embeddings, None)?, Device::open(device.device)?);
    let model = Model::load(&device, model)?;
    model.config().check_rows(&file)?;
    let bar = progress::bar("embedding places", None);
    let mut options = LocatorOptions::default();
    (options.gallery, options.geoclip) = (Some(geoclip.join(GALLERY_FILE)), Some(geoclip.to_owned()));
    options.gallery_rule = GalleryRule::Paper;
    let hybrid = options.open_hybrid(&device, |done| bar.set_position(done as u64))?.context("no gallery")?;
    bar.finish_and_clear();
    hybrid.check_embeddings(file.name(), file.columns(), file.encoder())?;
    let predictor = Predictor::new(&model)?;
    let options = SampleOptions { seed, ..SampleOptions::default() };
    let (rows, reading) = ((0..file.rows()).collect::<Vec<_>>(), Reading { every_sample: true, ..Reading::default() });
    let bar = progress::bar("locating", Some(file.rows() as u64));
    let mut places = Vec::with_capacity(rows.len());
    predictor.predict_rows(&[&file], &rows, &options, reading, |_, embedding, prediction| {
        places.push(hybrid.settle(predictor.codec(), embedding.values(), &prediction)?.place);
        bar.inc(1);
        anyhow::Ok(())
    })?;
    bar.finish_and_clear();
    Ok(places)
}

/// Judges a system by a benchmark's truths, and writes the report as rows and as a page.
fn evaluate(
    benchmark: Benchmark,
    (truth_file, embedded): (&Path, &Path),
    system: impl FnOnce(&[Option<LatLon>], Vec<Option<usize>>) -> Result<System>,
    seed: u64,
    [csv, html]: [&PathBuf; 2],
) -> Result<()> {
    let columns = PointColumns::default();
    let truth = PlaceTable::read(truth_file, None, &columns, None, System::judges_column)?;
    check_count(benchmark, truth.places.len());
    let rows = embedded_rows(embedded, truth_file, &truth)?;
    let system = system(&truth.places, rows)?;
    let evaluation = Evaluation {
        preset: benchmark.preset(),
        bootstrap: Bootstrap { seed, ..Bootstrap::default() },
        divisions: vec![Division::Continent],
        ..Evaluation::default()
    };
    let bar = progress::bar("evaluating", Some(4 + evaluation.divisions.len() as u64));
    let report = evaluation.judge("truth.csv", &truth.places, system, None, || bar.inc(1))?;
    bar.finish_and_clear();
    write_file(html, report.to_html().as_bytes())?;
    write_file(csv, report.to_csv().as_bytes())
}
