//! Our side of `scripts/clip_bench.py`: a CLIP tower on pictures of noise, a batch for each line of standard input.
//!
//! `cargo run --release -p locdiff-vision --example tower_bench FOLDER BATCH DEVICE`
//!
//! FOLDER as `scripts/clip_fixtures.py FOLDER NAME` writes it. Prints the first picture's embedding, then for each line
//! the milliseconds of a batch from pixels in memory to embeddings in memory, and on CUDA those of the pass alone, with
//! the pixels already on the device.

use locdiff_nn::{Device, DeviceSpec};
use locdiff_vision::{Encoder, Gelu, VisionError, VisionTransformerCuda, VitConfig};
use safetensors::SafeTensors;
use std::{error::Error, io::BufRead, path::Path, time::Instant};

/// The same formula stands in scripts/clip_bench.py.
fn noise(len: usize) -> Vec<f32> {
    (0..len as u32).map(|i| i.wrapping_mul(2_654_435_761) as f32 / 2_147_483_648.0 - 1.0).collect()
}

fn milliseconds<T>(call: impl FnOnce() -> Result<T, VisionError>) -> Result<f64, VisionError> {
    let start = Instant::now();
    std::hint::black_box(call()?);
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// The network without the encoder around it, so that its pass can be timed alone.
fn tower(folder: &Path, device: &Device) -> Result<VisionTransformerCuda, Box<dyn Error>> {
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("config.json"))?)?;
    let number = |name: &str| json[name].as_u64().unwrap_or(0) as usize;
    let config = VitConfig {
        side: number("image_size"),
        patch: number("patch_size"),
        width: number("hidden_size"),
        inner: number("intermediate_size"),
        layers: number("num_hidden_layers"),
        heads: number("num_attention_heads"),
        activation: Gelu::Quick,
        eps: 1e-5,
        projection: Some(number("projection_dim")),
    };
    let contents = std::fs::read(folder.join("model.safetensors"))?;
    let file = SafeTensors::deserialize(&contents)?;
    let tensor = |name: &str, _: &[usize]| {
        let prefix = if name.starts_with("visual_projection") { "" } else { "vision_model." };
        let tensor = file.tensor(&format!("{prefix}{name}"));
        let tensor = tensor.map_err(|error| VisionError::Architecture(error.to_string()))?;
        Ok(tensor.data().as_chunks::<4>().0.iter().map(|&four| f32::from_le_bytes(four)).collect())
    };
    Ok(VisionTransformerCuda::new(&config, device, tensor)?)
}

fn run(folder: &Path, batch: usize, device: DeviceSpec) -> Result<(), Box<dyn Error>> {
    let device = Device::open(device)?;
    let start = Instant::now();
    let encoder = Encoder::open_on(folder, &device)?;
    let opened = start.elapsed().as_secs_f64();
    let side = encoder.input_side();
    let pixels = noise(batch * side * side * 3);
    let embeddings = encoder.embed_pixels(&pixels)?;
    let network = if device.is_cuda() { Some(tower(folder, &device)?) } else { None };
    if let Some(network) = &network {
        if batch > network.batch() {
            return Err(format!("BATCH = {batch}: choose at most {} on CUDA", network.batch()).into());
        }
        for _ in 0..3 {
            network.forward(&pixels)?;
            encoder.embed_pixels(&pixels)?;
        }
    }
    println!("{:?}", embeddings[0]);
    eprintln!("{} on {device}: opened in {opened:.1} s", encoder.architecture());
    for line in std::io::stdin().lock().lines() {
        line?;
        let whole = milliseconds(|| encoder.embed_pixels(&pixels))?;
        match &network {
            Some(network) => println!("{whole} {}", milliseconds(|| network.run_again(batch))?),
            None => println!("{whole}"),
        }
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parsed = match arguments.as_slice() {
        [folder, batch, device] => batch.parse().ok().zip(device.parse().ok()).map(|(b, d)| (folder, b, d)),
        _ => None,
    };
    let Some((folder, batch, device)) = parsed else {
        eprintln!("usage: tower_bench FOLDER BATCH DEVICE");
        std::process::exit(2);
    };
    if let Err(error) = run(Path::new(folder), batch, device) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
