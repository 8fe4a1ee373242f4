//! Milliseconds to decode 512 codes on a CUDA device and on the CPU: 21,000 anchors, and exactly.
//!
//!     cargo build --release -p locdiff-model --example decode_bench

use locdiff_model::{DeviceDecoder, ModelError, chance};
use locdiff_nn::{Device, Tensor};
use locdiff_shdd::{Anchors, Codec, Coefficients, Decoder};
use locdiff_sphere::{Degree, Grid};
use std::time::Instant;

const CODES: usize = 512;
const ANCHORS: usize = 21_000;

/// The median time of some runs, in ms.
fn time(runs: usize, mut work: impl FnMut()) -> f64 {
    work();
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[runs / 2]
}

fn main() -> Result<(), ModelError> {
    let device = Device::cuda(0)?;
    println!("{device}; CPU with {} threads", rayon::current_num_threads());
    for degree in [23, 47] {
        let codec = Codec::new(Degree::new(degree).expect("a degree"));
        let dim = codec.degree().dimension();
        let fields: Vec<Coefficients> = (0..CODES as u64)
            .map(|k| {
                let code = codec.harmonics().at(chance::point([1, 2, k]));
                let noisy =
                    |(j, v): (usize, f64)| f64::from((v + 0.1 * chance::normals([k, 3, j as u64]).0) as f32);
                Coefficients::new(code.into_iter().enumerate().map(noisy).collect()).expect("a code")
            })
            .collect();
        let codes: Vec<f32> = fields.iter().flat_map(|e| e.as_slice().iter().map(|v| *v as f32)).collect();
        let there = Tensor::from_slice(&device, CODES, dim, &codes)?;
        let grid = Grid::fibonacci(ANCHORS).expect("a grid");
        let mut anchors = DeviceDecoder::anchors(&device, degree, grid.points(), CODES)?;
        let mut exact = DeviceDecoder::exact(&device, degree, CODES)?;
        let on_cpu = Decoder::Anchors(Anchors::new(&grid, 0.0).expect("anchors"));
        for (name, decoder, host) in
            [("anchors", &mut anchors, on_cpu), ("exact", &mut exact, Decoder::Exact { window_rad: None })]
        {
            let on_device = time(50, || drop(decoder.decode_view(there.view()).expect("decoding")));
            let from_host = time(50, || drop(decoder.decode(&codes).expect("decoding")));
            let cpu = time(3, || drop(codec.decode_batch(&fields, &host).expect("decoding")));
            println!(
                "L={degree} {name}: codes on the device {on_device:.3} ms, on the host {from_host:.3} ms, CPU {cpu:.1} ms"
            );
        }
    }
    Ok(())
}
