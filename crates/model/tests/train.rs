//! Training on a toy problem: it learns, resumes bit for bit, refuses bad data, and a CUDA device ends where the CPU does.

use locdiff_io::data::{Dtype, Fingerprint, MatrixWriter};
use locdiff_model::train::{Dataset, EmbeddingSource, Event, Outcome, Rows, RunConfig, TrainError, TrainPreset};
use locdiff_model::train::{TrainSettings, TrainingJob, train};
use locdiff_model::{LossKind, Model, ModelConfig, QuadratureRecipe, chance};
use locdiff_nn::{Device, Precision};
use locdiff_shdd::sphere::UnitVec;
use std::{fmt::Write, fs, path::Path, path::PathBuf, sync::atomic::AtomicBool, sync::atomic::Ordering};

const COLUMNS: usize = 12;

fn wave(column: u64, point: UnitVec) -> f64 {
    (3.0 * chance::point([77, 7, column]).dot(point)).sin()
}

/// Photos whose embedding is a noisy function of the place.
fn toy(folder: &Path, name: &str, rows: usize, seed: u64) -> (PathBuf, PathBuf) {
    let (embeddings, locations) = (folder.join(format!("{name}.npy")), folder.join(format!("{name}.csv")));
    let mut writer = MatrixWriter::create(&embeddings, None, COLUMNS, Dtype::F32, "x").unwrap();
    let mut text = "lat,lon,source\n".to_owned();
    for k in 0..rows as u64 {
        let point = chance::point([seed, 1, k]);
        let number = |c: u64| wave(c, point) + 0.05 * chance::normals([seed, 2 + c, k]).0;
        writer.write_row(&(0..COLUMNS as u64).map(number).collect::<Vec<f64>>()).unwrap();
        let place = point.to_latlon();
        writeln!(text, "{},{},a", place.lat_deg(), place.lon_deg()).unwrap();
    }
    writer.finish().unwrap();
    fs::write(&locations, text).unwrap();
    (embeddings, locations)
}

fn open(files: &(PathBuf, PathBuf)) -> Result<Dataset, TrainError> {
    Dataset::open(&[EmbeddingSource { path: files.0.clone(), tensor: None }], &files.1)
}

fn config(loss: LossKind, steps: u32) -> RunConfig {
    let RunConfig { model, train } = TrainPreset::Small.run_config(COLUMNS);
    let base = ModelConfig::new(7, COLUMNS);
    let quadrature = if loss.has_quadrature() { base.quadrature } else { QuadratureRecipe::None };
    let model = ModelConfig { degree: 7, width: 32, time_dim: 32, dropout: 0.1, loss, quadrature, ..model };
    let train = TrainSettings { steps, batch: 32, log_every: 5, checkpoint_every: 1000, ..train };
    RunConfig { model, train }
}

fn tiny(loss: LossKind) -> RunConfig {
    let RunConfig { model, train } = config(loss, 40);
    let train = TrainSettings {
        warmup_steps: 10,
        validate_every: 20,
        validation_rows: 64,
        validation_samples: 2,
        checkpoint_every: 10,
        lr: 2e-3,
        embedding_noise: 0.1,
        ..train
    };
    RunConfig { model, train }
}

fn run(
    config: RunConfig,
    data: &Dataset,
    validation: Option<&Dataset>,
    out: &Path,
    resume: bool,
    on_event: impl FnMut(&Event, &AtomicBool),
) -> Result<Outcome, TrainError> {
    let rows: Vec<u32> = (0..data.len() as u32).collect();
    run_on((&Device::cpu(), false), config, Rows { data, rows: &rows }, validation, (out, resume), on_event)
}

/// On a device, its embeddings streamed or not.
fn run_on(
    (device, stream): (&Device, bool),
    config: RunConfig,
    training: Rows<'_>,
    validation: Option<&Dataset>,
    (out, resume): (&Path, bool),
    mut on_event: impl FnMut(&Event, &AtomicBool),
) -> Result<Outcome, TrainError> {
    let other: Vec<u32> = (0..validation.map_or(0, Dataset::len) as u32).collect();
    let (stop, validation) = (AtomicBool::new(false), validation.map(|data| Rows { data, rows: &other }));
    let job = TrainingJob { device, config, training, validation, out, resume, stream, stop: &stop };
    train(job, |event| on_event(&event, &stop))
}

fn weights(run: &Path) -> Vec<f32> {
    Model::load(&Device::cpu(), run).unwrap().params().to_vec().unwrap()
}

fn stop_at<const STEP: u32>(event: &Event, stop: &AtomicBool) {
    if matches!(event, Event::Progress { step, .. } if *step == STEP) {
        stop.store(true, Ordering::Relaxed);
    }
}

/// The toy photos, and their folder.
fn toy_data(rows: usize) -> (tempfile::TempDir, Dataset) {
    let folder = tempfile::tempdir().unwrap();
    let data = open(&toy(folder.path(), "train", rows, 1)).unwrap();
    (folder, data)
}

#[test]
fn every_loss_falls() {
    let (folder, data) = toy_data(300);
    for loss in [LossKind::Nll, LossKind::Kl, LossKind::KlPaper, LossKind::Cosine, LossKind::L1, LossKind::L2] {
        let out = folder.path().join(format!("{loss:?}"));
        let mut losses = Vec::new();
        run(tiny(loss), &data, None, &out, false, |event, _| losses.extend(loss_of(event))).unwrap();
        let (first, last) = (losses[0], losses[losses.len() - 1]);
        assert!(last < first && losses.len() == 8, "{loss:?}: {losses:?}");
    }
}

#[test]
fn a_stopped_run_resumes_bit_for_bit() {
    let (folder, data) = toy_data(300);
    let validation = open(&toy(folder.path(), "validation", 50, 2)).unwrap();
    let whole = folder.path().join("whole");
    run(tiny(LossKind::Nll), &data, Some(&validation), &whole, false, |_, _| ()).unwrap();

    let parts = folder.path().join("parts");
    let outcome = run(tiny(LossKind::Nll), &data, Some(&validation), &parts, false, stop_at::<25>).unwrap();
    assert!(outcome.interrupted && outcome.step == 25, "{outcome:?}");
    assert!(!parts.join("model.safetensors").exists());
    // Not by accident: another start in the same folder, or with other settings, is refused.
    let again = |config, resume| {
        let error = run(config, &data, Some(&validation), &parts, resume, |_, _| ()).unwrap_err();
        error.to_string()
    };
    assert!(again(tiny(LossKind::Nll), false).contains("already holds a run: resume it"));
    let mut other = tiny(LossKind::Nll);
    other.train.lr = 1e-3;
    assert!(again(other, true).contains("lr = 0.002, now it is 0.001"));

    run(tiny(LossKind::Nll), &data, Some(&validation), &parts, true, |_, _| ()).unwrap();
    assert_eq!(weights(&whole), weights(&parts));
    assert_eq!(weights(&whole.join("best")), weights(&parts.join("best")));
    let metrics = |run: &Path| {
        let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
        let values = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let kept = values.map(|v| (v["step"].clone(), v["loss"].clone(), v["validation"].clone()));
        kept.collect::<Vec<_>>()
    };
    assert_eq!(metrics(&whole), metrics(&parts));
}

#[test]
fn a_crash_with_a_damaged_checkpoint_goes_back_one_and_ends_the_same() {
    let (folder, data) = toy_data(300);
    let whole = folder.path().join("whole");
    run(tiny(LossKind::Nll), &data, None, &whole, false, |_, _| ()).unwrap();
    let crashed = folder.path().join("crashed");
    run(tiny(LossKind::Nll), &data, None, &crashed, false, stop_at::<30>).unwrap();
    let newest = crashed.join("checkpoints/step-00000030.safetensors");
    let bytes = fs::read(&newest).unwrap();
    fs::write(&newest, &bytes[..bytes.len() / 3]).unwrap();
    fs::write(crashed.join("checkpoints/step-00000040.safetensors.partial"), b"cut off").unwrap();
    let mut said = String::new();
    run(tiny(LossKind::Nll), &data, None, &crashed, true, |event, _| {
        if let Event::Message(message) = event {
            said += message;
        }
    })
    .unwrap();
    assert!(said.contains("damaged") && said.contains("continuing at step 20"), "{said}");
    assert_eq!(weights(&whole), weights(&crashed));
}

#[test]
fn passes_end_where_one_does() {
    let (folder, data) = toy_data(300);
    let found = [1, 4].map(|passes| {
        let out = folder.path().join(format!("{passes}"));
        let mut config = tiny(LossKind::Nll);
        config.train.accumulate = passes;
        run(config, &data, None, &out, false, |_, _| ()).unwrap();
        weights(&out)
    });
    let largest = found[0].iter().zip(&found[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(largest <= 1e-5, "{largest}");
    let paper = TrainPreset::Paper.run_config(768);
    assert_eq!((paper.model.degree, paper.train.steps), (47, 750_000));
    let mut config = tiny(LossKind::Nll);
    config.train.accumulate = 3;
    let error = run(config, &data, None, &folder.path().join("run"), false, |_, _| ()).unwrap_err();
    assert!(error.to_string().contains("a multiple of 3"), "{error}");
}

#[test]
fn pooled_answers_beat_chance_by_far() {
    let (folder, data) = toy_data(2000);
    let validation = open(&toy(folder.path(), "validation", 100, 2)).unwrap();
    let RunConfig { model, train } = tiny(LossKind::Nll);
    let train = TrainSettings { steps: 300, batch: 64, validate_every: 0, validation_samples: 4, ..train };
    let out = folder.path().join("run");
    let outcome = run(RunConfig { model, train }, &data, Some(&validation), &out, false, |_, _| ()).unwrap();
    let accuracy = outcome.validation.unwrap();
    // A uniform guess is within 2500 km of the truth in 3.8 % of cases.
    assert!(accuracy.within[4] > 0.6 && accuracy.median_km < 2500.0, "{accuracy:?}");
}

#[test]
fn bad_data_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let good = toy(path, "good", 20, 1);
    let short = toy(path, "short", 19, 1);
    let message = open(&(good.0.clone(), short.1.clone())).unwrap_err().to_string();
    assert!(message.contains("good.npy has 20 rows") && message.contains("short.csv has 19"), "{message}");

    let mut bytes = fs::read(&good.0).unwrap();
    let at = bytes.len() - 4 * (COLUMNS * 3 + 1); // in the fourth row from the end
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let nan = path.join("nan.npy");
    fs::write(&nan, bytes).unwrap();
    let data = open(&(nan, good.1.clone())).unwrap();
    let error = run(tiny(LossKind::Nll), &data, None, &path.join("run"), false, |_, _| ()).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("nan.npy") && message.contains("row 17"), "{message}");

    let empty = path.join("empty.npy");
    fs::write(&empty, b"").unwrap();
    let message = open(&(empty, good.1.clone())).unwrap_err().to_string();
    assert!(message.contains("empty.npy is empty"), "{message}");
}

fn toy_with_copies(folder: &Path, dtype: Dtype) -> Dataset {
    let (embeddings, locations) = (folder.join("photos.safetensors"), folder.join("photos.csv"));
    let tensors = ["embeddings", "augmented_1"];
    let mut writer =
        MatrixWriter::create_embeddings(&embeddings, COLUMNS, dtype, &tensors, &Fingerprint::new("toy", 1)).unwrap();
    let mut text = "lat,lon\n".to_owned();
    for copy in 0..2 {
        for k in 0..300 {
            let point = chance::point([3, 1, k]);
            let number = |c: u64| wave(c, point) + 0.05 * f64::from(copy);
            writer.write_row(&(0..COLUMNS as u64).map(number).collect::<Vec<f64>>()).unwrap();
            if copy == 0 {
                let place = point.to_latlon();
                writeln!(text, "{},{}", place.lat_deg(), place.lon_deg()).unwrap();
            }
        }
    }
    writer.finish().unwrap();
    fs::write(&locations, text).unwrap();
    let source = |name: &str| EmbeddingSource { path: embeddings.clone(), tensor: Some(name.to_owned()) };
    Dataset::open(&tensors.map(source), &locations).unwrap()
}

/// The weights and the losses of a run.
fn outcome_on(device: &Device, config: RunConfig, data: &Dataset, stream: bool) -> (Vec<f32>, Vec<f64>) {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<u32> = (0..data.len() as u32).filter(|row| row % 7 != 0).collect();
    let mut losses = Vec::new();
    let on_event = |event: &Event, _: &AtomicBool| losses.extend(loss_of(event));
    run_on((device, stream), config, Rows { data, rows: &rows }, None, (folder.path(), false), on_event).unwrap();
    (weights(folder.path()), losses)
}

fn loss_of(event: &Event) -> Option<f64> {
    if let Event::Progress { loss, .. } = event { Some(*loss) } else { None }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn largest(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn a_gpu_ends_where_the_cpu_does_whatever_feeds_it() {
    let Ok(device) = Device::cuda(0).inspect_err(locdiff_testing::skipped_cuda) else { return };
    device.set_precision(Precision::F32);
    let folder = tempfile::tempdir().unwrap();
    for dtype in [Dtype::F16, Dtype::F32] {
        let data = toy_with_copies(folder.path(), dtype);
        assert_eq!(data.is_half(), dtype == Dtype::F16);
        for loss in [LossKind::Nll, LossKind::KlPaper] {
            let config = config(loss, 60);
            let (there, losses) = outcome_on(&device, config.clone(), &data, false);
            // Embeddings kept in the device's memory or read as they are needed: the same bits.
            let (streamed, _) = outcome_on(&device, config.clone(), &data, true);
            assert_eq!(bits(&there), bits(&streamed));
            // The CPU draws the same rows, noise and anchors.
            let (here, expected) = outcome_on(&Device::cpu(), config.clone(), &data, false);
            let apart = losses.iter().zip(&expected).map(|(a, b)| (a - b).abs() / b.abs()).fold(0.0, f64::max);
            println!("{dtype} {loss:?}: weights {:.1e}, losses {apart:.1e}", largest(&there, &here));
            assert!(apart < 1e-3, "{losses:?} {expected:?}");
            // In several passes.
            let mut passes = config;
            passes.train.accumulate = 4;
            let (passed, _) = outcome_on(&device, passes, &data, false);
            println!("  four passes: {:.1e}", largest(&there, &passed));
            assert!(largest(&there, &passed) < 1e-3);
        }
    }
}

/// A checkpoint is copied on the device and written while the run goes on: resumed from it, a run ends with the same bits.
#[test]
fn a_checkpoint_taken_in_passing_resumes_to_the_same_bits() {
    let Ok(device) = Device::cuda(0).inspect_err(locdiff_testing::skipped_cuda) else { return };
    let (folder, data_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data = toy_with_copies(data_folder.path(), Dtype::F16);
    let mut config = config(LossKind::KlPaper, 90);
    (config.train.checkpoint_every, config.train.keep_checkpoints) = (10, 100);
    let rows: Vec<u32> = (0..data.len() as u32).collect();
    let go = |resume: bool| {
        let training = Rows { data: &data, rows: &rows };
        run_on((&device, false), config.clone(), training, None, (folder.path(), resume), |_, _| ()).unwrap();
        fs::read(folder.path().join("model.safetensors")).unwrap()
    };
    let whole = go(false);
    for step in [80, 40, 10] {
        let later = |name: &str| name.trim_start_matches("step-")[..8].parse::<u32>().unwrap() > step;
        for entry in fs::read_dir(folder.path().join("checkpoints")).unwrap() {
            let path = entry.unwrap().path();
            if later(path.file_name().unwrap().to_str().unwrap()) {
                fs::remove_file(path).unwrap();
            }
        }
        assert!(go(true) == whole, "resumed at step {step}");
    }
}
