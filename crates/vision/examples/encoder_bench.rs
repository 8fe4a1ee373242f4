//! Milliseconds of one thread for decoding, resizing and encoding a photo with an encoder.
//!
//! `cargo run --release -p locdiff-vision --example encoder_bench [PHOTO] [ROUNDS] [ENCODER]`
//!
//! The peer, onnxruntime with Pillow: `scripts/vision_bench.py`. The machine is shared: the median of the rounds is
//! printed beside the fastest.

use locdiff_vision::{Encoder, Photo, PhotoLimits, Result};
use std::{
    hint::black_box,
    path::{Path, PathBuf},
    time::Instant,
};

/// Times `rounds` calls and prints their median and minimum.
fn time<T>(what: &str, rounds: usize, mut call: impl FnMut() -> Result<T>) -> Result<T> {
    let mut result = call()?; // warm
    let mut times_ms = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        result = black_box(call()?);
        times_ms.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times_ms.sort_by(f64::total_cmp);
    println!("{what:<10} median {:8.2} ms   fastest {:8.2} ms", times_ms[rounds / 2], times_ms[0]);
    Ok(result)
}

fn run(path: &Path, rounds: usize, encoder: &Path) -> Result<()> {
    let encoder = Encoder::open(encoder)?;
    let photo = time("decode", rounds, || Photo::open(path, &PhotoLimits::default()))?;
    let pixels = time("resize", rounds, || encoder.preprocess(&photo))?;
    time("encode", rounds, || encoder.embed_pixels(&pixels))?;
    let batch = pixels.repeat(16);
    time("encode 16", rounds.div_ceil(8), || encoder.embed_pixels(&batch))?;
    println!("{}: {}×{} pixels, one thread, {rounds} rounds", path.display(), photo.width(), photo.height());
    Ok(())
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let china = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vision/china.jpg");
    let path = PathBuf::from(arguments.next().unwrap_or_else(|| china.to_owned()));
    let rounds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(50).max(1);
    let lite2 = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/streetview-lite2");
    let encoder = PathBuf::from(arguments.next().unwrap_or_else(|| lite2.to_owned()));
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    if let Err(error) = one_thread.install(|| run(&path, rounds, &encoder)) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
