//! The bundled encoder against PyTorch, and folders that are no encoder.

mod common;

use common::{bytes, fixture, floats, relative_error};
use locdiff_nn::Device;
use locdiff_vision::{Encoder, Photo, PhotoLimits, VisionError};
use safetensors::SafeTensors;
use std::{fs, path::Path};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/streetview-lite0");

fn expected(name: &str) -> Vec<f32> {
    let contents = bytes("embeddings.safetensors");
    floats(&SafeTensors::deserialize(&contents).unwrap(), name)
}

/// R = 127 + 100·sin(x/17), G = 127 + 100·cos(y/23), B = 127 + 100·sin((x+y)/31), normalised.
fn formula(side: usize) -> Vec<f32> {
    let pixel = |i: usize| {
        let (x, y) = ((i % side) as f64, (i / side) as f64);
        [(x / 17.0).sin(), (y / 23.0).cos(), ((x + y) / 31.0).sin()].map(|wave| (100.0 * wave / 128.0) as f32)
    };
    (0..side * side).flat_map(pixel).collect()
}

#[test]
fn agrees_with_the_check_vector_and_with_pytorch_on_a_photo() {
    agrees_on(&Device::cpu(), 1e-3);
    match Device::cuda(0) {
        // Products in tf32, the default.
        Ok(device) => agrees_on(&device, 3e-3),
        Err(error) => println!("skipping CUDA: {error}"),
    }
}

fn agrees_on(device: &Device, bound: f64) {
    let encoder = Encoder::open_on(Path::new(FOLDER), device).unwrap();
    assert_eq!((encoder.architecture(), encoder.embedding()), ("efficientnet-lite0", 512));
    let got = encoder.embed_pixels(&formula(encoder.input_side())).unwrap();
    let error = relative_error(&got[0], &expected("check"));
    println!("{device}: check vector: {error:.2e} relative");
    assert!(error < bound, "{error:e}");

    let photo = Photo::open(&fixture("china.jpg"), &PhotoLimits::default()).unwrap();
    let other = Photo::open(&fixture("rgb.png"), &PhotoLimits::default()).unwrap();
    let got = encoder.embed(&[photo.clone(), other, photo]).unwrap();
    let error = relative_error(got[0].values(), &expected("china"));
    println!("{device}: china.jpg: {error:.2e} relative");
    assert!(error < 1e-2, "{error:e}");
    assert!(got[0] == got[2] && got[0] != got[1], "a picture must not depend on its neighbours");
}

#[test]
fn a_folder_that_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Encoder::open(folder.path()).err().unwrap().to_string();
    let json = fs::read_to_string(Path::new(FOLDER).join("encoder.json")).unwrap();
    let describe = |from: &str, to: &str| {
        assert!(json.contains(from));
        fs::write(folder.path().join("encoder.json"), json.replace(from, to)).unwrap();
    };
    assert!(open().contains("encoder.json"));
    for (from, to, words) in [
        ("lite0", "lite7", "Lite7"),
        ("efficientnet-lite0", "efficientnet-lite", "unknown architecture `efficientnet-lite`"),
        ("efficientnet-lite0", "efficientnet-lite+2", "unknown architecture `efficientnet-lite+2`"),
        ("efficientnet-lite0", "efficientnet-lite-1", "unknown architecture `efficientnet-lite-1`"),
        ("efficientnet-lite0", "resnet50", "unknown architecture `resnet50`"),
        ("\"centre_crop\": 240", "\"centre_crop\": 300", "exceeds short_side"),
        ("\"input_side\": 224", "\"input_side\": 0", "input_side = 0"),
        ("[128, 128, 128]", "[128, 0, 128]", "std must be above 0"),
        ("bicubic", "nearest", "nearest"),
        ("\"mean\"", "\"means\"", "means"),
    ] {
        describe(from, to);
        let message = open();
        assert!(message.contains("encoder.json") && message.contains(words), "{message}");
    }
    describe("512", "512");
    assert!(open().contains("model.safetensors"));
    let model = fs::read(Path::new(FOLDER).join("model.safetensors")).unwrap();
    fs::write(folder.path().join("model.safetensors"), &model[..model.len() / 2]).unwrap();
    assert!(open().contains("not a whole safetensors file"));
    fs::write(folder.path().join("model.safetensors"), &model).unwrap();
    assert!(Encoder::open(folder.path()).is_ok());
    describe("512", "256");
    assert!(open().contains("`embed.weight` has the shape [512, 1280]"), "{}", open());
    describe("lite0", "lite1");
    assert!(matches!(Encoder::open(folder.path()), Err(VisionError::Encoder { .. })));
}
