//! The model folder: round trips, and what a damaged one gets.

use locdiff_io::data::Embedding;
use locdiff_model::{CONFIG_FILE, LossKind, Model, ModelConfig, Predictor, QuadraturePoints, QuadratureRecipe, Query};
use locdiff_model::{Reading, SampleOptions, Standardisation, WEIGHTS_FILE};
use locdiff_nn::Device;
use locdiff_shdd::sphere::UnitVec;
use std::fs;

fn model(loss: LossKind, quadrature: QuadratureRecipe) -> Model {
    let config = ModelConfig { width: 8, loss, quadrature, seed: 3, ..ModelConfig::new(5, 7) };
    let mut model = Model::new(&Device::cpu(), config).unwrap();
    let mean = (0..7).map(|k| k as f32 * 0.1).collect();
    model.set_standardisation(Standardisation { mean, deviation: vec![2.0; 7] }).unwrap();
    if let QuadratureRecipe::Pool { points } = quadrature {
        model.set_quadrature(Some(QuadraturePoints::pool(5, &[UnitVec::NORTH], points, 1).unwrap()));
    }
    model
}

#[test]
fn a_folder_gives_back_the_same_model_and_samples() {
    let mut rows = [3.0, 10.0];
    Standardisation { mean: vec![1.0, 10.0], deviation: vec![2.0, 5.0] }.apply(&mut rows);
    assert_eq!(rows, [1.0, 0.0]);
    let folder = tempfile::tempdir().unwrap();
    let embeddings: Vec<f32> = (0..21).map(|k| (k as f32).sin()).collect();
    for (loss, quadrature) in [
        (LossKind::Nll, QuadratureRecipe::Fibonacci { points: 500 }),
        (LossKind::Nll, QuadratureRecipe::Pool { points: 600 }),
        (LossKind::KlPaper, QuadratureRecipe::None),
        (LossKind::Cosine, QuadratureRecipe::None),
        (LossKind::L2, QuadratureRecipe::None),
    ] {
        let model = model(loss, quadrature);
        model.save(folder.path()).unwrap();
        let back = Model::load(&Device::cpu(), folder.path()).unwrap();
        assert_eq!(back.config(), model.config());
        assert_eq!(back.params().to_vec().unwrap(), model.params().to_vec().unwrap());
        assert_eq!(back.standardisation(), model.standardisation());
        let options = SampleOptions { samples: 3, steps: 5, guidance: 0.5, seed: 4, ..SampleOptions::default() };
        let photos: Vec<_> = embeddings.chunks(7).map(|row| Embedding::new(row.to_vec(), None).unwrap()).collect();
        let codes = |model: &Model| -> Vec<f64> {
            let queries: Vec<Query<'_>> = photos.iter().map(Query::from).collect();
            let predictor = Predictor::new(model).unwrap();
            let found = predictor.predict(&queries, &options, Reading::default()).unwrap();
            found.into_iter().flat_map(|prediction| prediction.code.into_vec()).collect()
        };
        // A pool's points are stored in f32.
        let far = codes(&model).iter().zip(codes(&back)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-4, "{loss:?}: {far}");
    }
}

#[test]
fn damaged_folders_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let load = || Model::load(&Device::cpu(), folder.path()).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(load().contains("a model is a folder with config.json"), "{}", load());
    model(LossKind::Nll, QuadratureRecipe::Fibonacci { points: 500 }).save(folder.path()).unwrap();
    let (config, weights) = (folder.path().join(CONFIG_FILE), folder.path().join(WEIGHTS_FILE));
    let text = fs::read_to_string(&config).unwrap();
    for (from, to, part) in [
        ("\"version\": 1", "\"version\": 2", "version 2, but this program reads version 1"),
        ("\"width\": 8", "\"width\": 16", "the model wants"),
        ("\"loss\": \"nll\"", "\"loss\": \"guess\"", "guess"),
        ("\"fibonacci\"", "\"pool\"", "no tensor `quadrature.points`"),
        ("\"degree\": 5", "\"degree\": 0", "0"),
        ("{", "", "not JSON"),
    ] {
        fs::write(&config, text.replacen(from, to, 1)).unwrap();
        assert!(load().contains(part), "{part}: {}", load());
    }
    fs::write(&config, &text).unwrap();
    let whole = fs::read(&weights).unwrap();
    fs::write(&weights, &whole[..whole.len() - 9]).unwrap();
    assert!(load().contains(WEIGHTS_FILE), "{}", load());
    fs::remove_file(&weights).unwrap();
    assert!(load().contains(WEIGHTS_FILE), "{}", load());
}
