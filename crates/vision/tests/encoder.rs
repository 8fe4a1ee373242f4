//! What the settings of a folder do.

use crate::common::{copied, replace};
use locdiff_vision::{Encoder, Photo};
use std::path::Path;

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
