//! Small networks against PyTorch in f64.

use crate::common::{bytes, cuda, floats, relative_error};
use locdiff_nn::Precision;
use locdiff_vision::{EfficientNetLite, EfficientNetLiteConfig, EfficientNetLiteCuda, Stage, VisionError};
use safetensors::SafeTensors;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Case {
    stem: usize,
    head: usize,
    embed: usize,
    size: [usize; 2],
    blocks: Vec<[usize; 5]>,
}

impl Case {
    fn config(&self) -> EfficientNetLiteConfig {
        let stage = |&[repeat, kernel, stride, expand, out]: &[usize; 5]| Stage { repeat, kernel, stride, expand, out };
        EfficientNetLiteConfig {
            stem: self.stem,
            stages: self.blocks.iter().map(stage).collect(),
            head: self.head,
            embedding: self.embed,
        }
    }
}

#[test]
fn small_networks_agree_with_pytorch() {
    let cases: BTreeMap<String, Case> = serde_json::from_slice(&bytes("networks.json")).unwrap();
    let contents = bytes("networks.safetensors");
    let file = SafeTensors::deserialize(&contents).unwrap();
    assert!(cases.len() >= 4);
    let device = cuda();
    if let Some(device) = &device {
        device.set_precision(Precision::F32);
    }
    for (name, case) in cases {
        let tensor = |tensor: &str, shape: &[usize]| {
            let path = format!("{name}/{tensor}");
            assert_eq!(file.tensor(&path).unwrap().shape(), shape, "{path}");
            Ok(floats(&file, &path))
        };
        let network = EfficientNetLite::new(&case.config(), tensor).unwrap();
        let [height, width] = case.size;
        let [input, output] = ["input", "output"].map(|part| floats(&file, &format!("{name}/{part}")));
        let got = network.forward(&input, height, width).unwrap();
        assert_eq!(got.len(), 2);
        let error = relative_error(&got.concat(), &output);
        assert!(error < 1e-5, "{name}: {error:e}");
        if let Some(device) = &device {
            let network = EfficientNetLiteCuda::new(&case.config(), device, tensor).unwrap();
            assert_eq!(height, width);
            let error = relative_error(&network.forward(&input, height).unwrap().concat(), &output);
            println!("{device}, {name}: {error:.1e} relative");
            assert!(error < 1e-5, "{device}, {name}: {error:e}");
        }
    }
}

/// Parameters are counted as they are published: with batch norms (each channel a factor and a summand) and 1000 classes.
#[test]
fn every_version_runs_and_has_its_published_parameters() {
    // Published as 4.7, 5.4, 6.1, 8.2 and 13.0 millions.
    for (version, published) in [4_652_008, 5_416_680, 6_092_072, 8_197_096, 13_006_568].into_iter().enumerate() {
        let config = EfficientNetLiteConfig::lite(version, 1000).unwrap();
        let mut count = 0;
        let made_up = |name: &str, shape: &[usize]| {
            let len: usize = shape.iter().product();
            // A convolution's bias stands for the norm's summand; its factor is inside the weights here.
            count += if shape.len() == 1 && !name.starts_with("embed") { 2 * len } else { len };
            let inputs: usize = shape[1..].iter().product();
            let value = |i: usize| ((i * 2_654_435_761 % 1013) as f32 / 506.0 - 1.0) / (inputs as f32).sqrt();
            Ok((0..len).map(value).collect())
        };
        let network = EfficientNetLite::new(&config, made_up).unwrap();
        assert_eq!(count, published, "Lite{version}");
        let picture: Vec<f32> = (0..2 * 40 * 40 * 3).map(|i| (i % 255) as f32 / 128.0 - 1.0).collect();
        let got = network.forward(&picture, 40, 40).unwrap();
        assert!(got.len() == 2 && got.iter().flatten().all(|value| value.is_finite()));
        assert!(got[0].len() == 1000 && got[0].iter().any(|&value| value != got[0][0]));
    }
}

#[test]
fn wrong_shapes_are_refused() {
    let stage = Stage { repeat: 1, kernel: 3, stride: 1, expand: 1, out: 8 };
    let config = EfficientNetLiteConfig { stem: 8, stages: vec![stage], head: 8, embedding: 4 };
    let zeros = |_: &str, shape: &[usize]| Ok(vec![0.0; shape.iter().product()]);
    let network = EfficientNetLite::new(&config, zeros).unwrap();
    assert_eq!(network.forward(&[0.0; 12], 2, 2).unwrap(), [[0.0; 4]]);
    assert!(matches!(network.forward(&[0.0; 13], 2, 2), Err(VisionError::InputSize { .. })));
    assert!(matches!(network.forward(&[], 0, 2), Err(VisionError::InputSize { .. })));
    assert!(network.forward(&[], 2, 2).unwrap().is_empty());
    let short = EfficientNetLite::new(&config, |_: &str, _: &[usize]| Ok(vec![0.0; 3]));
    assert!(matches!(short, Err(VisionError::InputSize { .. })));
    for stage in [Stage { kernel: 7, ..stage }, Stage { stride: 0, ..stage }, Stage { out: 0, ..stage }] {
        let config = EfficientNetLiteConfig { stages: vec![stage], ..config.clone() };
        assert!(matches!(EfficientNetLite::new(&config, zeros), Err(VisionError::Architecture(_))));
    }
}
