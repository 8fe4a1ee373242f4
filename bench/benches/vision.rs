//! From photo to embedding with an encoder: decode, resize, network. Items are photos.

use divan::{Bencher, black_box, counter::ItemsCount};
use locdiff_vision::{Encoder, Photo, PhotoLimits, resize::ResizeFilter, resize::resize_short_side};
use std::path::{Path, PathBuf};

fn main() {
    divan::main();
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

fn photo() -> Photo {
    Photo::open(&file("fixtures/vision/china.jpg"), &PhotoLimits::default()).expect("a photo")
}

/// The one whose folder the variable ENCODER names, or the bundled one.
fn encoder() -> Encoder {
    let folder = std::env::var_os("ENCODER").map_or_else(|| file("models/streetview-lite2"), PathBuf::from);
    Encoder::open(&folder).expect("an encoder")
}

#[divan::bench]
fn decode_jpeg() -> Photo {
    photo()
}

#[divan::bench]
fn resize(bencher: Bencher) {
    let photo = photo();
    bencher.bench_local(|| resize_short_side(black_box(&photo), 240, ResizeFilter::Bicubic).expect("a size"));
}

#[divan::bench]
fn preprocess(bencher: Bencher) {
    let (encoder, photo) = (encoder(), photo());
    bencher.bench_local(|| encoder.preprocess(black_box(&photo)).expect("a photo"));
}

#[divan::bench(args = [1, 16])]
fn network(bencher: Bencher, photos: usize) {
    let encoder = encoder();
    let pixels = encoder.preprocess(&photo()).expect("a photo").repeat(photos);
    bencher
        .counter(ItemsCount::new(photos))
        .bench_local(|| encoder.embed_pixels(black_box(&pixels)).expect("the right size"));
}
