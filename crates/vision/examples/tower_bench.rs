//! Our side of `scripts/clip_bench.py`: an encoder's network on pictures of noise, a batch for each line of standard input.
//!
//! `cargo run --release -p locdiff-vision --example tower_bench FOLDER BATCH DEVICE`
//!
//! Prints the first picture's embedding, then for each line the milliseconds of a batch, from pixels in memory to
//! embeddings in memory.

use locdiff_nn::{Device, DeviceSpec};
use locdiff_vision::Encoder;
use std::{io::BufRead, path::PathBuf, time::Instant};

/// The same formula stands in scripts/clip_bench.py.
fn noise(len: usize) -> Vec<f32> {
    (0..len as u32).map(|i| i.wrapping_mul(2_654_435_761) as f32 / 2_147_483_648.0 - 1.0).collect()
}

fn run(folder: PathBuf, batch: usize, device: DeviceSpec) -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open(device)?;
    let start = Instant::now();
    let encoder = Encoder::open_on(&folder, &device)?;
    let opened = start.elapsed().as_secs_f64();
    let side = encoder.input_side();
    let pixels = noise(batch * side * side * 3);
    let embeddings = encoder.embed_pixels(&pixels)?;
    println!("{:?}", embeddings[0]);
    eprintln!("{} on {device}: opened in {opened:.1} s", encoder.architecture());
    for line in std::io::stdin().lock().lines() {
        line?;
        let start = Instant::now();
        std::hint::black_box(encoder.embed_pixels(&pixels)?);
        println!("{}", start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parsed = match arguments.as_slice() {
        [folder, batch, device] => {
            batch.parse().ok().zip(device.parse().ok()).map(|(b, d)| (folder.into(), b, d))
        }
        _ => None,
    };
    let Some((folder, batch, device)) = parsed else {
        eprintln!("usage: tower_bench FOLDER BATCH DEVICE");
        std::process::exit(2);
    };
    if let Err(error) = run(folder, batch, device) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
