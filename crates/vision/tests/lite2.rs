//! The encoder streetview-lite2 against PyTorch in f64, on the check picture and on 20 others of many sizes.

use crate::common::{bytes, cuda, fixture, floats, relative_error};
use locdiff_nn::{Device, Precision};
use locdiff_vision::{Encoder, Photo, PhotoLimits};
use safetensors::SafeTensors;
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/streetview-lite2");

/// The bound of the project, with f16 weights on both sides.
const BOUND: f64 = 1e-3;
/// `check` is the output of the weights before they were rounded to f16, which alone is 2.4e-3 (PyTorch in f64).
const ROUNDING: f64 = 2.5e-3;

fn expected(name: &str) -> Vec<f32> {
    let contents = bytes("lite2.safetensors");
    floats(&SafeTensors::deserialize(&contents).unwrap(), name)
}

/// Picture `k` of scripts/lite2_reference.py.
fn picture(k: u64) -> Photo {
    let (width, height) = (256 + k * 61 % 300, 256 + k * 97 % 260);
    let triangle = |t: u64, period: u64| {
        let m = t % (2 * period);
        (if m < period { m } else { 2 * period - m }) * 255 / period
    };
    let byte = |i: u64| {
        let (y, x, c) = (i / 3 / width, i / 3 % width, i % 3);
        let wave =
            triangle(x * (k % 5 + 1) + y * (c + 1), 90 + 13 * c) * 2 + triangle(y * (k % 3 + 1) + x * c, 60 + 7 * k);
        let board = (x / (20 + k) + y / (15 + 2 * c)) % 2 * (8 * (k % 7));
        let mixed = x * 7919 + y * 104_729 + c * 1_299_709 + k * 15_485_863;
        let grain = ((mixed * 2_654_435_761) & 0xffff_ffff) >> 27;
        (wave / 3 + board + grain).min(255) as u8
    };
    Photo::from_rgb(width as u32, height as u32, (0..3 * width * height).map(byte).collect()).unwrap()
}

/// R = 127 + 100·sin(x/17), G = 127 + 100·cos(y/23), B = 127 + 100·sin((x+y)/31), normalised.
fn formula(side: usize) -> Vec<f32> {
    let pixel = |i: usize| {
        let (x, y) = ((i % side) as f64, (i / side) as f64);
        [(x / 17.0).sin(), (y / 23.0).cos(), ((x + y) / 31.0).sin()].map(|wave| (100.0 * wave / 128.0) as f32)
    };
    (0..side * side).flat_map(pixel).collect()
}

fn agrees_on(device: &Device, bound: f64) {
    let encoder = Encoder::open_on(Path::new(FOLDER), device).unwrap();
    assert_eq!((encoder.architecture(), encoder.embedding()), ("efficientnet-lite2", 512));
    assert_eq!(encoder.input_side(), 256);
    let got = encoder.embed_pixels(&formula(256)).unwrap();
    for (name, bound) in [("check", bound + ROUNDING), ("check_f16", bound)] {
        let error = relative_error(&got[0], &expected(name));
        println!("{device}: {name}: {error:.2e} relative");
        assert!(error <= bound, "{name}: {error:e}");
    }
    let photos: Vec<Photo> = (0..20).map(picture).collect();
    let (got, wanted) = (encoder.embed(&photos).unwrap(), expected("pictures"));
    let errors = got.iter().zip(wanted.chunks_exact(512)).map(|(got, want)| relative_error(got.values(), want));
    let worst = errors.fold(0.0, f64::max);
    println!("{device}: 20 pictures: at most {worst:.2e} relative");
    assert!(got.len() == 20 && wanted.len() == 20 * 512 && worst <= bound, "{worst:e}");
    // Beside the network, another JPEG decoder.
    let photo = Photo::open(&fixture("china.jpg"), &PhotoLimits::default()).unwrap();
    let error = relative_error(encoder.embed(&[photo]).unwrap()[0].values(), &expected("china"));
    println!("{device}: china.jpg: {error:.2e} relative");
    assert!(error < 1e-2, "{error:e}");
}

#[test]
fn agrees_with_the_check_vector_and_with_pytorch_on_twenty_pictures() {
    agrees_on(&Device::cpu(), BOUND);
    if let Some(device) = cuda() {
        // Products in tf32, the default.
        agrees_on(&device, 3e-3);
        device.set_precision(Precision::F32);
        agrees_on(&device, BOUND);
    }
}

#[test]
fn it_keeps_its_fingerprint() {
    // Embeddings and models carry this text: a change here makes all of yesterday's useless.
    let encoder = Encoder::open(Path::new(FOLDER)).unwrap();
    assert_eq!(encoder.fingerprint().to_string(), "streetview-lite2@013d377426ead84939267965434f2545");
}
