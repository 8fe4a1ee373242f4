//! What an encoder's fingerprint depends on, and what it does not.

use crate::common::{cuda, fixtures};
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
