//! What an encoder's fingerprint depends on, and what it does not.

use crate::common::{copied, cuda, fixtures, replace};
use locdiff_vision::Encoder;
use std::{fs, path::Path};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/streetview-lite2");

#[test]
fn a_folder_its_bytes_and_every_device_agree() {
    let folder = Encoder::open(Path::new(FOLDER)).unwrap();
    let read = |name: &str| fs::read(Path::new(FOLDER).join(name)).unwrap();
    let (description, weights) = (read("encoder.json"), read("model.safetensors"));
    let name = Path::new("somewhere/streetview-lite2");
    let bytes =
        Encoder::from_bytes((&name.join("encoder.json"), &description), (&name.join("model.safetensors"), &weights))
            .unwrap();
    assert_eq!(folder.fingerprint(), bytes.fingerprint());
    let spelled = Encoder::open(&Path::new(FOLDER).join("../streetview-lite2/.")).unwrap();
    assert_eq!(folder.fingerprint(), spelled.fingerprint());
    if let Some(device) = cuda() {
        for folder in [Path::new(FOLDER), &fixtures("clip/whole"), &fixtures("clip/tower")] {
            let (cpu, cuda) = (Encoder::open(folder), Encoder::open_on(folder, &device));
            assert_eq!(cpu.unwrap().fingerprint(), cuda.unwrap().fingerprint());
        }
    }
}

/// Whether an encoder changed so is still the same one.
fn still_the_same(folder: &Path, change: impl FnOnce(&Path)) -> bool {
    let copy = copied(folder);
    change(copy.path());
    let (before, after) = (Encoder::open(folder).unwrap(), Encoder::open(copy.path()).unwrap());
    assert_ne!(before.fingerprint().name(), after.fingerprint().name());
    before.fingerprint().is_same_encoder(after.fingerprint())
}

#[test]
fn the_name_and_what_is_not_used_do_not_matter() {
    let (own, clip) = (Path::new(FOLDER), fixtures("clip/whole"));
    assert!(still_the_same(own, |_| {}));
    assert!(still_the_same(own, |copy| replace(copy, "encoder.json", "\"licence\": \"", "\"licence\": \"not ")));
    assert!(still_the_same(&clip, |copy| fs::write(copy.join("README.md"), "changed").unwrap()));
}

#[test]
fn preprocessing_settings_and_weights_matter() {
    let (own, clip) = (Path::new(FOLDER), fixtures("clip/whole"));
    for (from, to) in [("\"centre_crop\": 256", "\"centre_crop\": 255"), ("bicubic", "bilinear")] {
        assert!(!still_the_same(own, |copy| replace(copy, "encoder.json", from, to)), "{to}");
    }
    assert!(!still_the_same(&clip, |copy| replace(copy, "config.json", "\"quick_gelu\"", "\"gelu\"")));
    // The lowest bit of one weight of the last tensor of the file.
    let flip = |copy: &Path| {
        let path = copy.join("model.safetensors");
        let mut contents = fs::read(&path).unwrap();
        let last = contents.len() - 2;
        contents[last] ^= 1;
        fs::write(path, contents).unwrap();
    };
    assert!(!still_the_same(own, flip));
}
