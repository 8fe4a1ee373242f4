//! Is int8 worth it for the bundled encoder? All of its 1×1 convolutions on one thread, in f32 as it has them, and in int8 without what
//! else they do (ReLU6, residual, border): what int8 could take at the least.
//!
//! `cargo run --release --manifest-path lab/Cargo.toml --example int8_bench [ROUNDS]`

use locdiff_nn::inference::{Aligned, Finish, PackedLinear, PixelGrid, Pointwise, padded};
use locdiff_vision::{EfficientNetLiteConfig, VisionError};
use std::time::Instant;

/// The side of the bundled encoder's input.
const SIDE: usize = 256;

/// Inputs, outputs and pixels of each 1×1 convolution of Lite2.
fn shapes() -> Result<Vec<[usize; 3]>, VisionError> {
    let config = EfficientNetLiteConfig::lite(2, 512)?;
    let (mut side, mut channels, mut shapes) = (SIDE / 2, config.stem, Vec::new());
    for stage in &config.stages {
        for number in 0..stage.repeat {
            let inner = channels * stage.expand;
            if stage.expand > 1 {
                shapes.push([channels, inner, side * side]);
            }
            side = if number == 0 { side.div_ceil(stage.stride) } else { side };
            shapes.push([inner, stage.out, side * side]);
            channels = stage.out;
        }
    }
    shapes.push([channels, config.head, side * side]);
    Ok(shapes)
}

fn noise(len: usize) -> Vec<f32> {
    (0..len as u32).map(|i| i.wrapping_mul(2_654_435_761) as f32 / 2_147_483_648.0 - 1.0).collect()
}

fn main() -> Result<(), VisionError> {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(21);
    let mut fastest = [0.0; 2];
    for [inputs, outputs, pixels] in shapes()? {
        let (weights, bias) = (noise(inputs * outputs), noise(outputs));
        let float = Pointwise::new(inputs, &weights, &bias, true);
        let int8 = PackedLinear::int8(inputs, &weights, &bias);
        let (stride, width) = (padded(inputs), padded(outputs));
        let mut input = Aligned::zeros(pixels * stride);
        input.copy_from_slice(&noise(pixels * stride));
        let mut output = Aligned::zeros(pixels * width);
        let mut best = [f64::INFINITY; 2];
        for _ in 0..rounds {
            for (k, best) in best.iter_mut().enumerate() {
                let start = Instant::now();
                match k {
                    0 => float.run(&input, stride, &mut output, PixelGrid::packed(pixels), None),
                    _ => int8.run(pixels, &input, stride, &mut output, width, Finish::Store),
                }
                *best = best.min(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        println!("{inputs:>5} → {outputs:>5}, {pixels:>6} pixels: f32 {:6.3} ms, int8 {:6.3} ms", best[0], best[1]);
        fastest.iter_mut().zip(best).for_each(|(sum, best)| *sum += best);
    }
    println!("all: f32 {:.2} ms, int8 {:.2} ms (fastest of {rounds} each)", fastest[0], fastest[1]);
    Ok(())
}
