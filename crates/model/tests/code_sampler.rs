//! What a sampler gives besides samples: views, the way there, the density at pure noise; and weights of half the size.

use locdiff_model::{CodeSampler, LossKind, Model, ModelConfig, SampleOptions, WEIGHTS_FILE};
use locdiff_nn::Device;

const OPTIONS: fn() -> SampleOptions =
    || SampleOptions { samples: 4, steps: 6, seed: 3, ..SampleOptions::default() };

fn model(loss: LossKind) -> Model {
    Model::new(&Device::cpu(), ModelConfig { width: 8, seed: 3, loss, ..ModelConfig::new(5, 7) }).unwrap()
}

fn embedding(k: usize) -> Vec<f32> {
    (0..7).map(|c| ((k * 7 + c) as f32).sin()).collect()
}

#[test]
fn samples_are_spread_over_views() {
    let model = model(LossKind::Nll);
    let mut sampler = CodeSampler::new(&model, OPTIONS()).unwrap();
    let size = 4 * 36;
    let views = [embedding(0), embedding(1), embedding(2), embedding(3)].concat();
    let spread = sampler.sample_views(0, &views, 2).unwrap(); // two images of two views
    assert_eq!(spread.len(), 2 * size);
    // Sample k of an image is drawn for view k mod 2, with the noise it has anyway.
    let alone = sampler.sample_block(0, &[embedding(0), embedding(2)].concat()).unwrap();
    let other = sampler.sample_block(0, &[embedding(1), embedding(3)].concat()).unwrap();
    for (row, code) in spread.chunks_exact(36).enumerate() {
        let expected = if row % 2 == 0 { &alone } else { &other };
        let far = code.iter().zip(&expected[row * 36..]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 1e-5, "row {row}: {far}");
    }
    for (views, count) in [(0, 4), (5, 10), (3, 4)] {
        assert!(sampler.sample_views(0, &embedding(0).repeat(count), views).is_err(), "{views} {count}");
    }
}

#[test]
fn a_trace_ends_in_the_sample() {
    let model = model(LossKind::Nll);
    let mut sampler = CodeSampler::new(&model, OPTIONS()).unwrap();
    let codes = sampler.sample_block(0, &embedding(0)).unwrap();
    let steps = sampler.trace(0, &embedding(0), 1).unwrap();
    assert_eq!(steps.len(), 6);
    assert!(steps.windows(2).all(|pair| pair[0].0 > pair[1].0) && steps[5].0 == 0);
    assert_eq!(steps[5].1, codes);
    assert_ne!(steps[0].1, codes);
}

#[test]
fn evidence_is_that_of_pure_noise_and_needs_a_density() {
    let nll = model(LossKind::Nll);
    let mut sampler = CodeSampler::new(&nll, OPTIONS()).unwrap();
    assert!(sampler.evidence().unwrap_err().to_string().contains("sample one first"));
    sampler.sample_block(0, &[embedding(0), embedding(1)].concat()).unwrap();
    let many = sampler.evidence().unwrap();
    // The number of steps does not matter: the first is at pure noise.
    let mut quick = CodeSampler::new(&nll, SampleOptions { steps: 1, ..OPTIONS() }).unwrap();
    quick.sample_block(0, &[embedding(0), embedding(1)].concat()).unwrap();
    assert_eq!(many, quick.evidence().unwrap());
    assert_ne!(many[0], many[1]);
    // No photo is the mean photo, whose standardised embedding is zero.
    quick.sample_block(0, &[0.0; 7]).unwrap();
    let nothing =
        CodeSampler::new(&nll, SampleOptions { seed: 0, ..OPTIONS() }).unwrap().background(4).unwrap();
    assert_eq!(nothing.len(), 36);

    let l2 = model(LossKind::L2);
    let mut sampler = CodeSampler::new(&l2, OPTIONS()).unwrap();
    sampler.sample_block(0, &embedding(0)).unwrap();
    assert!(sampler.evidence().unwrap_err().to_string().contains("nll or kl"));
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
