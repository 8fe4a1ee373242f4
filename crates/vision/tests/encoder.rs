//! Folders that are an encoder, and folders that are none.

use crate::common::{copied, replace};
use locdiff_vision::{Encoder, Photo, VisionError};
use std::{fs, path::Path};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/streetview-lite2");

/// Crop, then bilinear between pixel centres: a ramp stays a ramp.
#[test]
fn a_crop_of_another_size_than_the_input_is_resized() {
    let folder = copied(Path::new(FOLDER));
    for (key, from, to) in [("short_side", 256, 240), ("centre_crop", 256, 240), ("input_side", 256, 224)] {
        replace(folder.path(), "encoder.json", &format!("\"{key}\": {from}"), &format!("\"{key}\": {to}"));
    }
    let ramp: Vec<u8> = (0..240).flat_map(|y: u8| (0..=255_u8).flat_map(move |x| [x, y, 7])).collect();
    let photo = Photo::from_rgb(256, 240, ramp).unwrap();
    let pixels = Encoder::open(folder.path()).unwrap().preprocess(&photo).unwrap();
    assert_eq!(pixels.len(), 224 * 224 * 3);
    for (k, pixel) in pixels.chunks_exact(3).enumerate() {
        let at = |i: usize| (i as f32 + 0.5) * 240.0 / 224.0 - 0.5;
        let expected = [at(k % 224) + 8.0, at(k / 224), 7.0].map(|value| (value - 127.0) / 128.0);
        for (got, expected) in pixel.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-5, "pixel {k}: {pixel:?}, {expected:?}");
        }
    }
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
        ("lite2", "lite7", "Lite7"),
        ("efficientnet-lite2", "efficientnet-lite", "unknown architecture `efficientnet-lite`"),
        ("efficientnet-lite2", "efficientnet-lite+1", "unknown architecture `efficientnet-lite+1`"),
        ("efficientnet-lite2", "efficientnet-lite-1", "unknown architecture `efficientnet-lite-1`"),
        ("efficientnet-lite2", "resnet50", "unknown architecture `resnet50`"),
        ("\"centre_crop\": 256", "\"centre_crop\": 300", "exceeds short_side"),
        ("\"input_side\": 256", "\"input_side\": 0", "input_side = 0"),
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
    describe("\"embedding\": 512", "\"embedding\": 256");
    assert!(open().contains("`embed.weight` has the shape [512, 1280]"), "{}", open());
    describe("lite2", "lite1");
    assert!(matches!(Encoder::open(folder.path()), Err(VisionError::Encoder { .. })));
}
