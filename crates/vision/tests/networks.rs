//! Small networks against PyTorch in f64.

mod common;

use common::{bytes, floats, relative_error};
use locdiff_nn::{Device, Precision};
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
        let stage = |&[repeat, kernel, stride, expand, out]: &[usize; 5]| Stage {
            repeat,
            kernel,
            stride,
            expand,
            out,
        };
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
    let cuda = Device::cuda(0).inspect_err(|error| println!("skipping CUDA: {error}")).ok();
    if let Some(device) = &cuda {
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
        let got = network.forward(&floats(&file, &format!("{name}/input")), height, width).unwrap();
        assert_eq!(got.len(), 2);
        let error = relative_error(&got.concat(), &floats(&file, &format!("{name}/output")));
        assert!(error < 1e-5, "{name}: {error:e}");
        if let Some(device) = &cuda {
            let network = EfficientNetLiteCuda::new(&case.config(), device, tensor).unwrap();
            assert_eq!(height, width);
            let got = network.forward(&floats(&file, &format!("{name}/input")), height).unwrap();
            let error = relative_error(&got.concat(), &floats(&file, &format!("{name}/output")));
            println!("{device}, {name}: {error:.1e} relative");
            assert!(error < 1e-5, "{device}, {name}: {error:e}");
        }
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
