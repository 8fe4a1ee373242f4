//! Training on a CUDA device ends where it ends on the CPU, whatever feeds it; runs where a device is found.

use locdiff_io::data::{Dtype, MatrixWriter};
use locdiff_model::train::{
    Dataset, EmbeddingSource, Event, Rows, RunConfig, TrainPreset, TrainSettings, TrainingJob, train,
};
use locdiff_model::{LossKind, Model, ModelConfig, QuadratureRecipe, chance};
use locdiff_nn::{Device, Precision};
use std::{fmt::Write, fs, path::Path, sync::atomic::AtomicBool};

const COLUMNS: usize = 12;

fn toy(folder: &Path, dtype: Dtype) -> Dataset {
    let (embeddings, locations) = (folder.join("photos.safetensors"), folder.join("photos.csv"));
    let tensors = ["embeddings", "augmented_1"];
    let mut writer = MatrixWriter::create_tensors(&embeddings, None, COLUMNS, dtype, &tensors).unwrap();
    let mut text = "lat,lon\n".to_owned();
    for copy in 0..2 {
        for k in 0..300 {
            let point = chance::point([3, 1, k]);
            let number = |c: u64| (3.0 * chance::point([77, 7, c]).dot(point)).sin() + 0.05 * f64::from(copy);
            let row: Vec<f64> = (0..COLUMNS as u64).map(number).collect();
            writer.write_row(&row).unwrap();
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

fn config(loss: LossKind, steps: u32) -> RunConfig {
    let RunConfig { model, train } = TrainPreset::Small.run_config(COLUMNS);
    let quadrature =
        if loss.has_quadrature() { ModelConfig::new(7, COLUMNS).quadrature } else { QuadratureRecipe::None };
    let model = ModelConfig { degree: 7, width: 32, time_dim: 32, dropout: 0.1, loss, quadrature, ..model };
    let train = TrainSettings { steps, batch: 32, log_every: 5, checkpoint_every: 1000, ..train };
    RunConfig { model, train }
}

/// The weights and the losses of a run.
fn run(device: &Device, config: RunConfig, data: &Dataset, stream: bool) -> (Vec<f32>, Vec<f64>) {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<u32> = (0..data.len() as u32).filter(|row| row % 7 != 0).collect();
    let job = TrainingJob {
        device,
        config,
        training: Rows { data, rows: &rows },
        validation: None,
        out: folder.path(),
        resume: false,
        stream,
        stop: &AtomicBool::new(false),
    };
    let mut losses = Vec::new();
    train(job, |event| {
        if let Event::Progress { loss, .. } = event {
            losses.push(loss);
        }
    })
    .unwrap();
    let model = Model::load(&Device::cpu(), folder.path()).unwrap();
    (model.params().to_vec().unwrap(), losses)
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
        let data = toy(folder.path(), dtype);
        assert_eq!(data.is_half(), dtype == Dtype::F16);
        for loss in [LossKind::Nll, LossKind::KlPaper] {
            let config = config(loss, 60);
            let (there, losses) = run(&device, config.clone(), &data, false);
            // Embeddings kept in the device's memory or read as they are needed: the same bits.
            let (streamed, _) = run(&device, config.clone(), &data, true);
            assert_eq!(bits(&there), bits(&streamed));
            // The CPU draws the same rows, noise and anchors.
            let (here, expected) = run(&Device::cpu(), config.clone(), &data, false);
            let apart = losses.iter().zip(&expected).map(|(a, b)| (a - b).abs() / b.abs()).fold(0.0, f64::max);
            println!("{dtype} {loss:?}: weights {:.1e}, losses {apart:.1e}", largest(&there, &here));
            assert!(apart < 1e-3, "{losses:?} {expected:?}");
            // In several passes.
            let mut passes = config;
            passes.train.accumulate = 4;
            let (passed, _) = run(&device, passes, &data, false);
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
    let data = toy(data_folder.path(), Dtype::F16);
    let mut config = config(LossKind::KlPaper, 90);
    config.train.checkpoint_every = 10;
    config.train.keep_checkpoints = 100;
    let rows: Vec<u32> = (0..data.len() as u32).collect();
    let go = |resume: bool| {
        let job = TrainingJob {
            device: &device,
            config: config.clone(),
            training: Rows { data: &data, rows: &rows },
            validation: None,
            out: folder.path(),
            resume,
            stream: false,
            stop: &AtomicBool::new(false),
        };
        train(job, |_| ()).unwrap();
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
