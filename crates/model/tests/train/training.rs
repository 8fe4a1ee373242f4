//! Training on a toy problem: it learns, resumes bit for bit, and refuses bad data.

use locdiff_io::data::{Dtype, MatrixWriter};
use locdiff_model::train::{
    Dataset, EmbeddingSource, Event, Outcome, Rows, RunConfig, TrainError, TrainPreset, TrainingJob, train,
};
use locdiff_model::{LossKind, Model, ModelConfig, QuadratureRecipe, chance};
use locdiff_nn::Device;
use locdiff_shdd::sphere::UnitVec;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fmt::Write, fs};

const COLUMNS: usize = 12;

/// Photos whose embedding is a noisy function of the place.
fn toy(folder: &Path, name: &str, rows: usize, seed: u64) -> (PathBuf, PathBuf) {
    let (embeddings, locations) = (folder.join(format!("{name}.npy")), folder.join(format!("{name}.csv")));
    let mut writer = MatrixWriter::create(&embeddings, None, COLUMNS, Dtype::F32, "x").unwrap();
    let mut text = "lat,lon,source\n".to_owned();
    for k in 0..rows as u64 {
        let point = chance::point([seed, 1, k]);
        let row: Vec<f64> = (0..COLUMNS as u64)
            .map(|c| {
                let axis: UnitVec = chance::point([77, 7, c]);
                (3.0 * axis.dot(point)).sin() + 0.05 * chance::normals([seed, 2 + c, k]).0
            })
            .collect();
        writer.write_row(&row).unwrap();
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

fn tiny(loss: LossKind) -> RunConfig {
    let RunConfig { model, train } = TrainPreset::Small.run_config(COLUMNS);
    let base = ModelConfig::new(7, COLUMNS);
    let quadrature = if loss.has_quadrature() { base.quadrature } else { QuadratureRecipe::None };
    let model = ModelConfig { degree: 7, width: 32, time_dim: 32, dropout: 0.1, loss, quadrature, ..model };
    let train = locdiff_model::train::TrainSettings {
        steps: 40,
        batch: 32,
        warmup_steps: 10,
        validate_every: 20,
        validation_rows: 64,
        validation_samples: 2,
        checkpoint_every: 10,
        log_every: 5,
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
    mut on_event: impl FnMut(&Event, &AtomicBool),
) -> Result<Outcome, TrainError> {
    let rows: Vec<u32> = (0..data.len() as u32).collect();
    let other: Vec<u32> = (0..validation.map_or(0, Dataset::len) as u32).collect();
    let stop = AtomicBool::new(false);
    let job = TrainingJob {
        device: &Device::cpu(),
        config,
        training: Rows { data, rows: &rows },
        validation: validation.map(|data| Rows { data, rows: &other }),
        out,
        resume,
        stream: false,
        stop: &stop,
    };
    train(job, |event| on_event(&event, &stop))
}

fn weights(run: &Path) -> Vec<f32> {
    Model::load(&Device::cpu(), run).unwrap().params().to_vec().unwrap()
}

#[test]
fn every_loss_falls() {
    let folder = tempfile::tempdir().unwrap();
    let data = open(&toy(folder.path(), "train", 300, 1)).unwrap();
    for loss in [LossKind::Nll, LossKind::Kl, LossKind::KlPaper, LossKind::Cosine, LossKind::L1, LossKind::L2] {
        let out = folder.path().join(format!("{loss:?}"));
        let mut losses = Vec::new();
        run(tiny(loss), &data, None, &out, false, |event, _| {
            if let Event::Progress { loss, .. } = event {
                losses.push(*loss);
            }
        })
        .unwrap();
        let (first, last) = (losses[0], losses[losses.len() - 1]);
        assert!(last < first && losses.len() == 8, "{loss:?}: {losses:?}");
    }
}

#[test]
fn a_stopped_run_resumes_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let data = open(&toy(folder.path(), "train", 300, 1)).unwrap();
    let validation = open(&toy(folder.path(), "validation", 50, 2)).unwrap();
    let whole = folder.path().join("whole");
    run(tiny(LossKind::Nll), &data, Some(&validation), &whole, false, |_, _| ()).unwrap();

    let parts = folder.path().join("parts");
    let outcome = run(tiny(LossKind::Nll), &data, Some(&validation), &parts, false, |event, stop| {
        if matches!(event, Event::Progress { step: 25, .. }) {
            stop.store(true, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert!(outcome.interrupted && outcome.step == 25, "{outcome:?}");
    assert!(!parts.join("model.safetensors").exists());
    // Not by accident: another start in the same folder, or with other settings, is refused.
    let again = |config, resume| {
        let error = run(config, &data, Some(&validation), &parts, resume, |_, _| ()).unwrap_err();
        error.to_string()
    };
    assert!(again(tiny(LossKind::Nll), false).contains("holds a run already: resume it"));
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
    let folder = tempfile::tempdir().unwrap();
    let data = open(&toy(folder.path(), "train", 300, 1)).unwrap();
    let whole = folder.path().join("whole");
    run(tiny(LossKind::Nll), &data, None, &whole, false, |_, _| ()).unwrap();
    let crashed = folder.path().join("crashed");
    run(tiny(LossKind::Nll), &data, None, &crashed, false, |event, stop| {
        if matches!(event, Event::Progress { step: 30, .. }) {
            stop.store(true, Ordering::Relaxed);
        }
    })
    .unwrap();
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
    let folder = tempfile::tempdir().unwrap();
    let data = open(&toy(folder.path(), "train", 300, 1)).unwrap();
    let found = [1, 4].map(|passes| {
        let out = folder.path().join(format!("{passes}"));
        let mut config = tiny(LossKind::Nll);
        config.train.accumulate = passes;
        run(config, &data, None, &out, false, |_, _| ()).unwrap();
        weights(&out)
    });
    let largest = found[0].iter().zip(&found[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(largest <= 1e-5, "{largest}");
    let mut config = tiny(LossKind::Nll);
    config.train.accumulate = 3;
    let error = run(config, &data, None, &folder.path().join("run"), false, |_, _| ()).unwrap_err();
    assert!(error.to_string().contains("a multiple of 3"), "{error}");
}

#[test]
fn pooled_answers_beat_chance_by_far() {
    let folder = tempfile::tempdir().unwrap();
    let data = open(&toy(folder.path(), "train", 2000, 1)).unwrap();
    let validation = open(&toy(folder.path(), "validation", 100, 2)).unwrap();
    let mut config = tiny(LossKind::Nll);
    config.train.steps = 300;
    config.train.batch = 64;
    config.train.validate_every = 0;
    config.train.validation_samples = 4;
    let out = folder.path().join("run");
    let outcome = run(config, &data, Some(&validation), &out, false, |_, _| ()).unwrap();
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
