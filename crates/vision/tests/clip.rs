//! CLIP folders against transformers, on every device, and folders that are no CLIP.

use crate::common::{copied, cuda, fixtures, floats, pictures, relative_error, worst};
use locdiff_nn::Device;
use locdiff_vision::{Encoder, Photo};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{fs, path::Path, path::PathBuf};

fn fixture(name: &str) -> PathBuf {
    fixtures("clip").join(name)
}

fn expected() -> Vec<u8> {
    fs::read(fixture("expected.safetensors")).unwrap()
}

#[test]
fn features_agree_with_transformers() {
    let contents = expected();
    let expected = SafeTensors::deserialize(&contents).unwrap();
    // On a CUDA device the bound is that of bf16.
    let devices = [(Device::cpu(), 1e-4)].into_iter().chain(cuda().map(|device| (device, 1e-2)));
    for (device, bound) in devices {
        for folder in ["whole", "tower"] {
            let encoder = Encoder::open_on(&fixture(folder), &device).unwrap();
            let photos = pictures();
            let got = encoder.embed(&photos).unwrap();
            for (name, got) in ["wide", "small"].iter().zip(&got) {
                let error = relative_error(got.values(), &floats(&expected, &format!("{folder}/{name}/features")));
                println!("{device}, {folder}, {name}: {error:.1e} relative");
                assert!(error < bound, "{device}, {folder}, {name}: {error:e}");
            }
            // Many pictures at once, as many as threads and fewer, give what one gives.
            let many: Vec<Photo> = photos.iter().cycle().take(19).cloned().collect();
            for count in [1, 2, 3, 19] {
                let again = encoder.embed(&many[..count]).unwrap();
                for (i, embedding) in again.iter().enumerate() {
                    let error = relative_error(embedding.values(), got[i % 2].values());
                    assert!(error < 1e-6, "{device}, {folder}, {count}, {i}");
                }
            }
            assert!(encoder.embed(&[]).unwrap().is_empty());
        }
    }
}

#[test]
fn a_folder_says_what_it_is() {
    let whole = Encoder::open(&fixture("whole")).unwrap();
    assert_eq!(whole.architecture(), "clip-vit-width32-patch8-32");
    assert_eq!((whole.licence(), whole.embedding(), whole.input_side()), ("mit", 24, 32));
    // Patches, class, positions, norms; three layers; the projection.
    let layer = 4 * (32 * 32 + 32) + 4 * 32 + 2 * 32 * 72 + 72 + 32;
    assert_eq!(whole.parameters(), Some(32 * 192 + 32 + 17 * 32 + 4 * 32 + 3 * layer + 24 * 32));
    let tower = Encoder::open(&fixture("tower")).unwrap();
    assert_eq!((tower.embedding(), tower.input_side()), (40, 30));
    assert!(tower.licence().contains("not stated"));
}

#[test]
fn preprocessing_agrees_with_transformers() {
    let contents = expected();
    let expected = SafeTensors::deserialize(&contents).unwrap();
    let encoder = Encoder::open(&fixture("whole")).unwrap();
    let got = encoder.preprocess(&pictures()[0]).unwrap();
    let worst = worst(&got, &floats(&expected, "whole/wide/pixels"));
    assert!(worst < 1e-5, "{worst}");

    let plain = r#""do_rescale": false, "do_normalize": false"#;
    for (variant, options) in [
        ("short", r#""size": {"shortest_edge": 36}, "crop_size": 32"#),
        ("short", r#""size": 36, "crop_size": {"height": 32, "width": 32}, "resample": 3"#),
        ("short", r#""size": [36], "crop_size": [32, 32]"#),
        ("exact", r#""size": {"height": 32, "width": 32}, "do_center_crop": false, "resample": 2"#),
        ("padded", r#""do_resize": false, "crop_size": 32"#),
        ("narrow", r#""size": {"height": 25, "width": 47}, "crop_size": 32"#),
    ] {
        for file in ["preprocessor_config.json", "processor_config.json"] {
            let folder = copied(&fixture("whole"));
            fs::remove_file(folder.path().join("preprocessor_config.json")).unwrap();
            let text = format!("{{{plain}, {options}}}");
            let nested = format!(r#"{{"image_processor": {text}}}"#);
            let text = if file == "processor_config.json" { nested } else { text };
            fs::write(folder.path().join(file), text).unwrap();
            let encoder = Encoder::open(folder.path()).unwrap();
            for (name, picture) in ["wide", "small"].iter().zip(pictures()) {
                let got = encoder.preprocess(&picture).unwrap();
                let wanted = expected.tensor(&format!("variant/{variant}/{name}")).unwrap();
                assert_eq!(got.len(), wanted.data().len());
                let same = got.iter().zip(wanted.data()).all(|(got, &wanted)| *got == f32::from(wanted));
                assert!(same, "{variant}, {name}: {options}");
            }
        }
    }
}

/// `whole`'s weights with one tensor's values and type changed.
fn rewrite(folder: &Path, change: impl Fn(&str, &mut Vec<f32>), dtype: Dtype) {
    let path = folder.join("model.safetensors");
    let contents = fs::read(&path).unwrap();
    let file = SafeTensors::deserialize(&contents).unwrap();
    let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = file
        .tensors()
        .into_iter()
        .filter(|(_, tensor)| tensor.dtype() == Dtype::F16)
        .map(|(name, tensor)| {
            let halves = tensor.data().as_chunks::<2>().0.iter();
            let mut values: Vec<f32> = halves.map(|&b| half::f16::from_le_bytes(b).to_f32()).collect();
            change(&name, &mut values);
            let bytes = values.iter().flat_map(|value| match dtype {
                Dtype::F32 => value.to_le_bytes().to_vec(),
                Dtype::F64 => f64::from(*value).to_le_bytes().to_vec(),
                _ => half::f16::from_f32(*value).to_le_bytes().to_vec(),
            });
            (name, tensor.shape().to_vec(), bytes.collect())
        })
        .collect();
    let view = |shape: &[usize], bytes| TensorView::new(dtype, shape.to_vec(), bytes).unwrap();
    let views = tensors.iter().map(|(name, shape, bytes)| (name, view(shape, bytes)));
    fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

#[test]
fn f32_weights_give_the_same_features() {
    let folder = copied(&fixture("whole"));
    rewrite(folder.path(), |_, _| {}, Dtype::F32);
    let photos = pictures();
    let (a, b) = (Encoder::open(&fixture("whole")).unwrap(), Encoder::open(folder.path()).unwrap());
    assert_eq!(a.embed(&photos).unwrap()[0].values(), b.embed(&photos).unwrap()[0].values());
    assert!(!a.fingerprint().is_same_encoder(b.fingerprint()), "the fingerprint is of the file's own numbers");
    assert!(b.file_bytes() > a.file_bytes());
}

#[test]
fn folders_that_do_not_fit_are_refused() {
    let refused = |folder: &Path, words: &[&str]| {
        let message = Encoder::open(folder).err().unwrap().to_string();
        assert!(!message.contains('\n') && words.iter().all(|word| message.contains(word)), "{message}");
    };
    let folder = copied(&fixture("whole"));
    let model = folder.path().join("model.safetensors");
    let contents = fs::read(&model).unwrap();
    for length in [0, 5, 8, 100, contents.len() / 2, contents.len() - 1] {
        fs::write(&model, &contents[..length]).unwrap();
        refused(folder.path(), &["model.safetensors", "not a whole safetensors file", "copy it again"]);
    }
    let mut hostile = contents.clone();
    hostile[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    fs::write(&model, &hostile).unwrap();
    refused(folder.path(), &["not a whole safetensors file"]);

    let folder = copied(&fixture("whole"));
    let spoil = |name: &str, values: &mut Vec<f32>| {
        if name == "vision_model.encoder.layers.1.mlp.fc1.weight" {
            values[7] = f32::NAN;
        }
    };
    rewrite(folder.path(), spoil, Dtype::F16);
    refused(folder.path(), &["layers.1.mlp.fc1.weight", "NaN", "damaged"]);
    let folder = copied(&fixture("whole"));
    rewrite(folder.path(), |_, _| {}, Dtype::F64);
    refused(folder.path(), &["F64", "save it as"]);
}
