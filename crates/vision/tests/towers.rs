//! DINOv2 and SigLIP folders against PyTorch (scripts/tower_fixtures.py), on every device.

use crate::common::{copied, cuda, fixtures, floats, pictures, relative_error, replace, worst};
use locdiff_nn::{Device, Precision};
use locdiff_vision::{Encoder, Photo};
use safetensors::SafeTensors;
use std::{fs, path::Path};

const NAMES: [&str; 2] = ["wide", "small"];

fn expected(names: &[&str]) -> Vec<f32> {
    let contents = fs::read(fixtures("towers/expected.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&contents).unwrap();
    names.iter().flat_map(|name| floats(&file, name)).collect()
}

/// A folder's embeddings on the CPU to 1e-5, in int8 to a cosine of 0.999, and on the first CUDA device to bf16's rounding where there is
/// one; the same alone and among others.
fn agrees(folder: &Path, parts: &[&str]) {
    let int8 = Device::cpu().with_precision(Precision::Int8).unwrap();
    let mut devices = vec![(Device::cpu(), 1e-5), (int8, 0.002_f64.sqrt())];
    devices.extend(cuda().map(|device| (device, 1e-2)));
    for (device, bound) in devices {
        let encoder = Encoder::open_on(folder, &device).unwrap();
        let photos = pictures();
        let got = encoder.embed(&photos).unwrap();
        for (name, got) in NAMES.iter().zip(&got) {
            let parts: Vec<String> = parts.iter().map(|part| part.replace("NAME", name)).collect();
            let wanted = expected(&parts.iter().map(String::as_str).collect::<Vec<_>>());
            let error = relative_error(got.values(), &wanted);
            println!("{device}, {}, {name}: {error:.1e} relative", encoder.architecture());
            assert!(error < bound, "{device}, {parts:?}: {error:e}");
        }
        let many: Vec<Photo> = photos.iter().cycle().take(5).cloned().collect();
        for (i, embedding) in encoder.embed(&many).unwrap().iter().enumerate() {
            assert!(relative_error(embedding.values(), got[i % 2].values()) < 1e-6, "{device}, {i}");
        }
    }
}

fn sees(folder: &str) {
    let encoder = Encoder::open(&fixtures(folder)).unwrap();
    for (name, picture) in NAMES.iter().zip(pictures()) {
        let wanted = expected(&[&format!("{}/{name}/pixels", encoder.fingerprint().name())]);
        let worst = worst(&encoder.preprocess(&picture).unwrap(), &wanted);
        assert!(worst < 1e-5, "{folder}, {name}: {worst}");
    }
}

#[test]
fn a_convolutional_network_has_no_int8() {
    let int8 = Device::cpu().with_precision(Precision::Int8).unwrap();
    let error = Encoder::open_on(&fixtures("../models/streetview-lite2"), &int8).err().unwrap().to_string();
    assert!(error.contains("no products in int8"), "{error}");
}

fn refused(folder: &Path, words: &str) {
    let message = Encoder::open(folder).err().unwrap().to_string();
    assert!(!message.contains('\n') && message.contains(words), "{message}");
}

/// A folder with text changed, refused with these words.
fn changed(folder: &str, file: &str, (from, to): (&str, &str), words: &str) {
    let copy = copied(&fixtures(folder));
    replace(copy.path(), file, from, to);
    refused(copy.path(), words);
}

#[test]
fn dinov2_by_class_token_mean_and_both() {
    let folder = fixtures("towers/dinov2");
    agrees(&folder, &["dinov2/NAME/class"]);
    let pooled = |pooling: &str| {
        let copy = copied(&folder);
        replace(copy.path(), "config.json", "{\n", &format!("{{\n  \"pooling\": \"{pooling}\",\n"));
        copy
    };
    agrees(pooled("class").path(), &["dinov2/NAME/class"]);
    agrees(pooled("mean").path(), &["dinov2/NAME/mean"]);
    agrees(pooled("both").path(), &["dinov2/NAME/class", "dinov2/NAME/mean"]);
    refused(pooled("max").path(), "choose class, mean (of the patches) or both");

    let encoder = Encoder::open(&folder).unwrap();
    assert_eq!((encoder.embedding(), encoder.input_side(), encoder.licence()), (24, 20, "apache-2.0"));
    assert_eq!(encoder.architecture(), "dinov2-vit-width24-patch5-20");
    assert_eq!(encoder.family(), "DINOv2 vision transformer");
    let mean = Encoder::open(pooled("mean").path()).unwrap();
    assert!(!mean.fingerprint().is_same_encoder(encoder.fingerprint()));
    changed("towers/dinov2", "config.json", ("\"use_swiglu_ffn\": false", "\"use_swiglu_ffn\": true"), "giant");
    let (from, to) = ("\"height\": 20", "\"height\": 25");
    changed("towers/dinov2", "preprocessor_config.json", (from, to), "20×25 pixels, config.json wants squares");
}

/// Both spellings of a DINOv2's attention, whichever the fixture has.
#[test]
fn dinov2_in_both_spellings() {
    const SPELLINGS: [(&str, &str); 4] = [
        (".attention.attention.query.", ".attention.q_proj."),
        (".attention.attention.key.", ".attention.k_proj."),
        (".attention.attention.value.", ".attention.v_proj."),
        (".attention.output.dense.", ".attention.o_proj."),
    ];
    let folder = copied(&fixtures("towers/dinov2"));
    let path = folder.path().join("model.safetensors");
    let contents = fs::read(&path).unwrap();
    let file = SafeTensors::deserialize(&contents).unwrap();
    let is_newer = file.names().iter().any(|name| name.contains(".attention.o_proj."));
    let respelled = |name: String, (old, new): &(&str, &str)| {
        if is_newer { name.replace(new, old) } else { name.replace(old, new) }
    };
    let renamed = |name: &str| SPELLINGS.iter().fold(name.to_owned(), respelled);
    let tensors = file.tensors().into_iter().map(|(name, tensor)| (renamed(&name), tensor));
    fs::write(&path, safetensors::serialize(tensors, None).unwrap()).unwrap();
    agrees(folder.path(), &["dinov2/NAME/class"]);
}

#[test]
fn siglip_by_its_pooling_head() {
    agrees(&fixtures("towers/siglip"), &["siglip/NAME/features"]);
    sees("towers/siglip");
    let encoder = Encoder::open(&fixtures("towers/siglip")).unwrap();
    assert_eq!((encoder.embedding(), encoder.family()), (24, "SigLIP vision transformer"));
    let headless = ("\"vision_config\": {", "\"vision_config\": {\n    \"vision_use_head\": false,");
    changed("towers/siglip", "config.json", headless, "without its head");
    changed("towers/siglip", "config.json", ("{\n", "{\n  \"pooling\": \"mean\",\n"), "for DINOv2 only");
}
