//! ONNX encoders against PyTorch, and folders that do not fit.
#![cfg(feature = "onnx")]

mod common;

use common::relative_error;
use locdiff_vision::Encoder;
use std::{fs, path::Path};

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/onnx")
}

#[test]
fn agrees_with_pytorch() {
    let encoder = Encoder::open(&folder()).unwrap();
    assert_eq!((encoder.family(), encoder.embedding(), encoder.input_side()), ("ONNX", 12, 20));
    // Convolution, bias and the last product.
    assert_eq!(encoder.parameters(), 8 * 27 + 8 + 12 * 8);
    let side = encoder.input_side();
    let value =
        |i: usize| (((i / 3 % side) * 7 + (i / 3 / side) * 13 + (i % 3) * 50) % 256) as f32 / 128.0 - 1.0;
    let pixels: Vec<f32> = (0..side * side * 3).map(value).collect();
    let contents = fs::read(folder().join("expected.safetensors")).unwrap();
    let file = safetensors::SafeTensors::deserialize(&contents).unwrap();
    let got = encoder.embed_pixels(&pixels.repeat(3)).unwrap();
    assert_eq!(got.len(), 3);
    for got in &got {
        let error = relative_error(got, &common::floats(&file, "embedding"));
        assert!(error < 1e-5, "{error:e}");
    }
}

#[test]
fn folders_that_do_not_fit_are_refused() {
    let copy = || {
        let to = tempfile::tempdir().unwrap();
        for name in ["model.onnx", "encoder.json"] {
            fs::copy(folder().join(name), to.path().join(name)).unwrap();
        }
        to
    };
    let refused = |to: &Path, words: &[&str]| {
        let message = Encoder::open(to).err().unwrap().to_string();
        assert!(!message.contains('\n') && words.iter().all(|word| message.contains(word)), "{message}");
    };
    let json = fs::read_to_string(folder().join("encoder.json")).unwrap();
    for (from, to, words) in [
        ("\"embedding\": 12", "\"embedding\": 13", "12 values, encoder.json says 13"),
        ("\"output\": \"embedding\"", "\"output\": \"logits\"", "logits"),
        ("\"output\": \"embedding\"", "\"outputs\": \"embedding\"", "outputs"),
    ] {
        let folder = copy();
        assert!(json.contains(from), "{from}");
        fs::write(folder.path().join("encoder.json"), json.replace(from, to)).unwrap();
        refused(folder.path(), &[words]);
    }
    let folder = copy();
    let model = fs::read(folder.path().join("model.onnx")).unwrap();
    fs::write(folder.path().join("model.onnx"), &model[..model.len() / 2]).unwrap();
    refused(folder.path(), &["model.onnx", "tract cannot use this ONNX file"]);
    fs::remove_file(folder.path().join("model.onnx")).unwrap();
    refused(folder.path(), &["model.onnx", "check the path"]);
}
