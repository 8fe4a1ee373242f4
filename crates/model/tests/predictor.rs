//! What a predictor gives, alone or among others: views, the way there, the density at pure noise; and halved weights.

use locdiff_io::data::Embedding;
use locdiff_model::{LossKind, Model, ModelConfig, NetworkKind, Pooling, Prediction, Predictor, Query, Reading};
use locdiff_model::{SampleOptions, WEIGHTS_FILE, diffusion::Sampler};
use locdiff_nn::Device;
use locdiff_shdd::{Coefficients, sphere::LatLon};
use std::sync::Arc;

const OPTIONS: SampleOptions =
    SampleOptions { samples: 4, steps: 6, seed: 3, sampler: Sampler::DpmSolverPlusPlus2M, guidance: 0.0 };
const EVERY: Reading = Reading { pooling: Pooling::Pool, window_km: 250.0, every_sample: true };

fn model(loss: LossKind) -> Model {
    Model::new(&Device::cpu(), ModelConfig { width: 8, seed: 3, loss, ..ModelConfig::new(5, 7) }).unwrap()
}

fn predictor(loss: LossKind) -> Predictor {
    Predictor::new(Arc::new(model(loss))).unwrap()
}

fn query(views: &[Embedding]) -> Query<'_> {
    Query { views, key: 0, tilts: &[] }
}

fn embedding(k: usize) -> Embedding {
    Embedding::new((0..7).map(|c| ((k * 7 + c) as f32).sin()).collect(), None).unwrap()
}

fn predict(predictor: &Predictor, photos: &[Embedding], options: SampleOptions) -> Vec<Prediction> {
    let queries: Vec<Query<'_>> = photos.iter().map(Query::from).collect();
    predictor.predict(&queries, &options, EVERY).unwrap()
}

#[test]
fn a_photo_is_the_same_alone_among_others_and_in_any_order() {
    let predictor = predictor(LossKind::Nll);
    let photos: Vec<Embedding> = (0..9).map(embedding).collect();
    for sampler in [Sampler::DpmSolverPlusPlus2M, Sampler::Ddpm] {
        let options = SampleOptions { sampler, guidance: 0.5, ..OPTIONS };
        let all = predict(&predictor, &photos, options);
        for (k, photo) in photos.iter().enumerate() {
            assert_eq!(predict(&predictor, std::slice::from_ref(photo), options)[0], all[k], "photo {k}");
        }
        let turned: Vec<Embedding> = photos.iter().rev().cloned().collect();
        let mut back = predict(&self::predictor(LossKind::Nll), &turned, options);
        back.reverse();
        assert_eq!(back, all);
        assert!(predict(&predictor, &vec![embedding(2); 40], options).iter().all(|found| *found == all[2]));
        // Fewer threads split the products in other ways.
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(one_thread.install(|| predict(&predictor, &photos, options)), all);
    }
}

#[test]
fn keys_and_seeds_draw_other_noise() {
    let predictor = predictor(LossKind::Nll);
    let photo = [embedding(0)];
    let of = |key, seed| {
        let query = Query { views: &photo, key, tilts: &[] };
        predictor.predict(&[query], &SampleOptions { seed, ..OPTIONS }, EVERY).unwrap().remove(0)
    };
    let own = Query::from(&photo[0]).key;
    assert_eq!(of(own, 3), predict(&predictor, &photo, OPTIONS)[0]);
    assert_ne!(own, Query::from(&embedding(1)).key);
    assert_ne!(of(0, 3).code, of(1, 3).code);
    assert_ne!(of(0, 3).code, of(0, 4).code);
}

#[test]
fn samples_are_spread_over_views() {
    let predictor = predictor(LossKind::Nll);
    let views = [embedding(0), embedding(1)];
    let spread = predictor.predict(&[query(&views)], &OPTIONS, EVERY).unwrap().remove(0).samples;
    // Sample k is drawn for view k mod 2, with the noise it has anyway.
    let alone = views.each_ref().map(|view| query(std::slice::from_ref(view)));
    let alone = predictor.predict(&alone, &OPTIONS, EVERY).unwrap();
    for (k, place) in spread.iter().enumerate() {
        let expected = alone[k % 2].samples[k];
        assert!(locdiff_shdd::sphere::haversine_km(*place, expected) < 0.1, "sample {k}: {place:?} {expected:?}");
    }
    let many: Vec<Embedding> = (0..5).map(embedding).collect();
    for views in [&many[..0], &many[..]] {
        let error = predictor.predict(&[query(views)], &OPTIONS, EVERY).unwrap_err().to_string();
        assert!(error.contains("views") && error.contains("1 to the number of samples, 4"), "{error}");
    }
    let short = [Embedding::new(vec![0.5; 6], None).unwrap()];
    let error = predictor.predict(&[query(&short)], &OPTIONS, EVERY).unwrap_err();
    assert!(error.to_string().contains("6 numbers, the model takes 7"), "{error}");
}

#[test]
fn a_trace_ends_in_the_sample() {
    let predictor = predictor(LossKind::Nll);
    let photo = embedding(0);
    let code = predict(&predictor, std::slice::from_ref(&photo), OPTIONS).remove(0).code;
    let steps = predictor.trace((&photo).into(), &OPTIONS).unwrap();
    assert_eq!(steps.len(), 7);
    assert!(steps.windows(2).all(|pair| pair[0].t > pair[1].t) && steps[6].t == 0);
    let number = |step: usize, k: usize| steps[step].samples.iter().map(|code| code.as_slice()[k]).sum::<f64>() / 4.0;
    assert!((0..code.as_slice().len()).all(|k| (number(6, k) - code.as_slice()[k]).abs() < 1e-5));
    // The first is noise of unit variance in the diffusion's scale.
    let numbers = || steps[0].samples.iter().flat_map(Coefficients::as_slice);
    let variance =
        4.0 * std::f64::consts::PI * numbers().map(|value| value * value).sum::<f64>() / numbers().count() as f64;
    assert!((0.6..1.6).contains(&variance), "{variance}");
}

#[test]
fn evidence_is_that_of_pure_noise_and_needs_a_density() {
    let nll = predictor(LossKind::Nll);
    let photos = [embedding(0), embedding(1)];
    // Evidence is read with one noise for all photos; the number of steps does not matter: the first is at pure noise.
    let queries: Vec<Query<'_>> = photos.iter().map(|photo| query(std::slice::from_ref(photo))).collect();
    let many = nll.predict(&queries, &OPTIONS, EVERY).unwrap();
    let quick = nll.coefficients(&queries, &OPTIONS).unwrap();
    assert_eq!(many[0].evidence.as_ref(), Some(&quick[0]));
    assert_ne!(quick[0], quick[1]);
    // No photo is the mean photo, whose standardised embedding is zero.
    assert_eq!(nll.background(4).unwrap().degree().get(), 5);

    let l2 = predictor(LossKind::L2);
    assert_eq!(predict(&l2, &photos, OPTIONS)[0].evidence, None);
    let error = l2.coefficients(&queries, &OPTIONS).unwrap_err().to_string();
    assert!(error.contains("nll or kl"), "{error}");
}

#[test]
fn half_the_size_is_the_same_to_three_digits() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, half) = (folder.path().join("whole"), folder.path().join("half"));
    let model = model(LossKind::Nll);
    model.save(&whole).unwrap();
    model.save_half(&half).unwrap();
    let size = |path: &std::path::Path| std::fs::metadata(path.join(WEIGHTS_FILE)).unwrap().len() as f64;
    assert!(size(&half) < 0.6 * size(&whole), "{} {}", size(&half), size(&whole));
    let back = Model::load(&Device::cpu(), &half).unwrap();
    assert_eq!(back.standardisation(), model.standardisation());
    let (a, b) = (model.params().to_vec().unwrap(), back.params().to_vec().unwrap());
    for (a, b) in a.iter().zip(&b) {
        assert!((a - b).abs() <= 5e-4 * a.abs() + 1e-7, "{a} {b}");
    }
    // What is rounded already stays as it is.
    back.save_half(&whole).unwrap();
    let read = |path: &std::path::Path| std::fs::read(path.join(WEIGHTS_FILE)).unwrap();
    assert_eq!(read(&half), read(&whole));
}

fn bayes() -> Predictor {
    let (network, hidden, low_pass_km) = (NetworkKind::Bayes, Some(16), Some(300.0));
    let config = ModelConfig { network, hidden, low_pass_km, seed: 5, ..ModelConfig::new(11, 7) };
    let mut model = Model::new(&Device::cpu(), config).unwrap();
    // Fresh weights say little: larger ones give a density with places of its own.
    let louder: Vec<f32> = model.params().to_vec().unwrap().iter().map(|weight| 4.0 * weight).collect();
    model.params_mut().upload(&louder).unwrap();
    Predictor::new(Arc::new(model)).unwrap()
}

#[test]
fn by_bayes_rule_the_evidence_knows_no_noise_and_views_weigh_alike() {
    let predictor = bayes();
    let views: Vec<Embedding> = (0..3).map(embedding).collect();
    let evidence = |views: &[Embedding], seed| {
        let options = SampleOptions { seed, ..OPTIONS };
        predictor.coefficients(&[Query { views, key: seed, tilts: &[] }], &options).unwrap().remove(0).into_vec()
    };
    assert_eq!(evidence(&views[..1], 1), evidence(&views[..1], 2));
    let each: Vec<Vec<f64>> = views.iter().map(|view| evidence(std::slice::from_ref(view), 0)).collect();
    for (k, together) in evidence(&views, 0).into_iter().enumerate() {
        let mean = each.iter().map(|code| code[k]).sum::<f64>() / 3.0;
        assert!((together - mean).abs() < 1e-5, "{together} {mean}");
    }
}

/// Samples drawn through the whole backward process have the mean that the density at pure noise has: the rule is the exact
/// denoiser of the photo's density, tilted or not. (Compared up to degree 4: the last step's estimate is a little blurred.)
#[test]
fn by_bayes_rule_samples_follow_the_photos_own_density() {
    let predictor = bayes();
    let photo = [embedding(1)];
    // Its own density, and that times another: pulled towards a place.
    let place = predictor.codec().encode(LatLon::new(40.0, 10.0).unwrap());
    let tilts = [place.combine(1.5, &place, 0.0).unwrap()];
    let mean = |tilts: &[Coefficients], steps: usize, samples: usize| {
        let options = SampleOptions { samples, steps, sampler: Sampler::Ddpm, ..OPTIONS };
        let found = predictor.predict(&[Query::of(&photo).tilted(tilts)], &options, EVERY).unwrap().remove(0);
        (found.code.into_vec()[1..25].to_vec(), found.evidence)
    };
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    for tilts in [&[][..], &tilts] {
        // After one step the clean estimate is E_q[code] itself.
        let ((exact, _), (sampled, _)) = (mean(tilts, 1, 1), mean(tilts, 40, 400));
        let length = distance(&exact, &[0.0; 24]);
        assert!(length > 0.3, "{length}");
        assert!(distance(&exact, &sampled) < 0.15 * length, "{} of {length}", distance(&exact, &sampled));
    }
    let (plain, tilted) = (mean(&[], 6, 4), mean(&tilts, 6, 4));
    assert_eq!(mean(&[predictor.nothing().unwrap()], 6, 4), plain);
    assert!(distance(&plain.0, &tilted.0) > 0.3);
    // What the network says is its own all the same.
    assert_eq!(plain.1, tilted.1);
    let wrong = [Coefficients::new(vec![0.0; 16]).unwrap()];
    let refused = |predictor: &Predictor, tilts: &[Coefficients]| {
        predictor.predict(&[Query::of(&photo).tilted(tilts)], &OPTIONS, EVERY).unwrap_err().to_string()
    };
    assert!(refused(&predictor, &wrong).contains("the model's degree"));
    assert!(refused(&self::predictor(LossKind::L2), &wrong).contains("trained with nll"));
}
