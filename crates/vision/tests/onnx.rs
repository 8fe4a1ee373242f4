//! ONNX encoders against PyTorch, and folders that do not fit. These need the ONNX Runtime library (pip's onnxruntime, or
//! ORT_DYLIB_PATH); what happens without it is tested with the command, in a process of its own.
#![cfg(feature = "onnx")]

use crate::common::{self, relative_error, skipped};
use locdiff_vision::Encoder;
use std::{fs, path::Path};

fn folder() -> std::path::PathBuf {
    common::fixtures("onnx")
}

/// Whether there is a library to test with.
fn runtime() -> bool {
    let missing = |message: &str| message.contains("ONNX Runtime library, which was not found");
    let found = !Encoder::open(&folder()).is_err_and(|error| missing(&error.to_string()));
    if !found {
        skipped("ONNX encoders: there is no ONNX Runtime library (pip install onnxruntime, or set ORT_DYLIB_PATH)");
    }
    found
}

#[test]
fn agrees_with_pytorch() {
    if !runtime() {
        return;
    }
    let encoder = Encoder::open(&folder()).unwrap();
    assert_eq!((encoder.family(), encoder.embedding(), encoder.input_side()), ("ONNX", 12, 20));
    assert_eq!(encoder.parameters(), None);
    let side = encoder.input_side();
    let value = |i: usize| (((i / 3 % side) * 7 + (i / 3 / side) * 13 + (i % 3) * 50) % 256) as f32 / 128.0 - 1.0;
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
    if !runtime() {
        return;
    }
    let copy = || common::copied(&folder());
    let refused = |to: &Path, words: &[&str]| {
        let message = Encoder::open(to).err().unwrap().to_string();
        assert!(!message.contains('\n') && words.iter().all(|word| message.contains(word)), "{message}");
    };
    let json = fs::read_to_string(folder().join("encoder.json")).unwrap();
    for (from, to, words) in [
        ("\"embedding\": 12", "\"embedding\": 13", "12 values, encoder.json says 13"),
        ("\"output\": \"embedding\"", "\"output\": \"logits\"", "no output `logits`, only `pooled`, `embedding`"),
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
    refused(folder.path(), &["model.onnx", "ONNX Runtime cannot use this file"]);
    for contents in [&b""[..], b"no model", &[0xff; 100]] {
        fs::write(folder.path().join("model.onnx"), contents).unwrap();
        refused(folder.path(), &["model.onnx", "ONNX Runtime cannot use this file"]);
    }
    // Another size of pictures than the file's.
    let other = copy();
    fs::write(other.path().join("encoder.json"), json.replace("\"input_side\": 20", "\"input_side\": 19")).unwrap();
    refused(other.path(), &["model.onnx", "ONNX Runtime cannot use this file"]);
    fs::remove_file(folder.path().join("model.onnx")).unwrap();
    refused(folder.path(), &["model.onnx", "check the path"]);
}

/// One byte of the file changed, at many places: an error or another embedding, never a panic.
#[test]
fn damaged_files_give_errors() {
    if !runtime() {
        return;
    }
    let copy = common::copied(&folder());
    let model = fs::read(copy.path().join("model.onnx")).unwrap();
    let mut refused = 0;
    for place in (0..model.len()).step_by(7) {
        let mut damaged = model.clone();
        damaged[place] ^= 0x55;
        fs::write(copy.path().join("model.onnx"), &damaged).unwrap();
        refused += usize::from(Encoder::open(copy.path()).is_err());
    }
    assert!(refused > 20, "{refused}");
}
