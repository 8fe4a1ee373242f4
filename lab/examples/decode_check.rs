//! Photos decoded and resized by a CUDA device, beside the same on the CPU: what the network sees, and what it makes of that.
//!
//! `cargo run --release --manifest-path lab/Cargo.toml --example decode_check FOLDER PHOTO...`
//!
//! For each photo: how many of the network's input values differ (none where the CPU decoded it), the distance between the embeddings of both
//! inputs by the network in f32 on the CPU, and by the network in bf16 on the device, whose rounding alone is in the third.

use locdiff_nn::Device;
use locdiff_vision::{Encoder, Photo, PhotoLimits};
use std::{error::Error, path::Path};

fn distance(a: &[f32], b: &[f32]) -> f64 {
    let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|v| f64::from(v).powi(2)).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, photos @ ..] = arguments.as_slice() else { return Err("FOLDER PHOTO...".into()) };
    let limits = PhotoLimits::default();
    let (cpu, cuda) = (Encoder::open(Path::new(folder))?, Encoder::open_on(Path::new(folder), &Device::cuda(0)?)?);
    let mut worst = 0.0_f64;
    for path in photos {
        let contents = std::fs::read(path)?;
        let (photo, prepared) = match (Photo::decode(&contents, path, &limits), cuda.prepare(contents, path, &limits)) {
            (Ok(photo), Ok((prepared, _))) => (photo, prepared),
            (Err(one), Err(other)) if one.to_string() == other.to_string() => {
                println!("{path}: both say: {one}");
                continue;
            }
            _ => return Err(format!("{path}: one fails and the other does not").into()),
        };
        let bf16 = cuda.begin(vec![prepared])?.finish()?.remove(0)?;
        let rounded = |value: f32| half::bf16::from_f32(value).to_f32();
        let expected: Vec<f32> = cuda.preprocess(&photo)?.into_iter().map(rounded).collect();
        let seen = &cuda.last_pixels()?[..expected.len()];
        let differ = seen.iter().zip(&expected).filter(|(a, b)| a != b).count() as f64 / seen.len() as f64;
        let [got, wanted] = [seen, &expected].map(|pixels| cpu.embed_pixels(pixels).map(|all| all.concat()));
        let (got, wanted) = (got?, wanted?);
        let plain = cuda.embed_pixels(&expected)?.concat();
        println!(
            "{path}: {:.2} % of the input differ; embeddings: f32 {:.1e}, bf16 {:.1e}, bf16 and f32 of the same input {:.1e}",
            100.0 * differ,
            distance(&got, &wanted),
            distance(&bf16, &plain),
            distance(&plain, &wanted)
        );
        worst = worst.max(distance(&got, &wanted));
    }
    println!("worst in f32: {worst:.2e}: {}", if worst <= 1e-3 { "within 1e-3" } else { "MISSES 1e-3" });
    Ok(())
}
