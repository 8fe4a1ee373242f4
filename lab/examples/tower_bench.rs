//! Our side of `lab/scripts/clip_bench.py`: a CLIP tower on pictures of noise, a batch for each line of standard input.
//!
//! `cargo run --release --manifest-path lab/Cargo.toml --example tower_bench FOLDER BATCH DEVICE [PRECISION]`
//!
//! FOLDER as `scripts/clip_fixtures.py FOLDER NAME` writes it. Prints the first picture's embedding, then for each line
//! the milliseconds of a batch from pixels in memory to embeddings in memory, and on CUDA those of the pass alone, with
//! the pixels already on the device.

use locdiff_nn::{Device, DeviceSpec, Precision};
use locdiff_vision::{Encoder, VisionError};
use std::{error::Error, io::BufRead, path::Path, time::Instant};

/// The same formula stands in lab/scripts/clip_bench.py.
fn noise(len: usize) -> Vec<f32> {
    (0..len as u32).map(|i| i.wrapping_mul(2_654_435_761) as f32 / 2_147_483_648.0 - 1.0).collect()
}

fn milliseconds<T>(call: impl FnOnce() -> Result<T, VisionError>) -> Result<f64, VisionError> {
    let start = Instant::now();
    std::hint::black_box(call()?);
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

fn run(folder: &Path, batch: usize, device: DeviceSpec, precision: Option<Precision>) -> Result<(), Box<dyn Error>> {
    let device = Device::open_with(device, precision)?;
    let start = Instant::now();
    let encoder = Encoder::open_on(folder, &device)?;
    let opened = start.elapsed().as_secs_f64();
    let side = encoder.input_side();
    let pixels = noise(batch * side * side * 3);
    let embeddings = encoder.embed_pixels(&pixels)?;
    if device.is_cuda() {
        for _ in 0..3 {
            encoder.embed_pixels(&pixels)?;
            encoder.run_again(batch)?;
        }
    }
    println!("{:?}", embeddings[0]);
    eprintln!("{} on {device}: opened in {opened:.1} s", encoder.architecture());
    for line in std::io::stdin().lock().lines() {
        line?;
        let whole = milliseconds(|| encoder.embed_pixels(&pixels))?;
        if device.is_cuda() {
            println!("{whole} {}", milliseconds(|| encoder.run_again(batch))?);
        } else {
            println!("{whole}");
        }
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parsed = match arguments.as_slice() {
        [folder, batch, device, rest @ ..] if rest.len() < 2 => {
            let precision = rest.first().map(|name| name.parse::<Precision>()).transpose().ok();
            precision.and_then(|p| Some((folder, batch.parse().ok()?, device.parse().ok()?, p)))
        }
        _ => None,
    };
    let Some((folder, batch, device, precision)) = parsed else {
        eprintln!("usage: tower_bench FOLDER BATCH DEVICE [PRECISION]");
        std::process::exit(2);
    };
    if let Err(error) = run(Path::new(folder), batch, device, precision) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
