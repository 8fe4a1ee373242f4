//! `locdiff-bench OPERATION --degree L [--seconds S]`: times one hot function on one thread and prints one JSON line.
//!
//! `bench/codec.py` runs it in turns with the peers, so that both sides see the same machine.

use locdiff_shdd::{Codec, Coefficients, Decoder};
use locdiff_sphere::{Degree, FieldPlan, FieldPlanF32, Harmonics, JetPlan, UnitVec};
use rand::{RngExt, SeedableRng};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1)).cloned();
    let degree = option("--degree").map_or(47, |v| v.parse().expect("--degree takes a number"));
    let seconds = option("--seconds").map_or(0.5, |v| v.parse().expect("--seconds takes a number"));
    let degree = Degree::new(degree).expect("degree");
    let operation = arguments.first().map_or("", String::as_str);
    let Some((unit, value)) = measure(operation, degree, seconds) else {
        eprintln!("usage: locdiff-bench encode-f64|encode-f32|field-f64|field-f32|jet|decode|density --degree L --seconds S");
        std::process::exit(2);
    };
    println!(r#"{{"operation":"{operation}","degree":{degree},"unit":"{unit}","value":{value:.5}}}"#);
}

fn measure(operation: &str, degree: Degree, seconds: f64) -> Option<(&'static str, f64)> {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let mut points = |n: usize| -> Vec<UnitVec> { (0..n).map(|_| UnitVec::random(&mut rng)).collect() };
    let dimension = degree.dimension();
    // The peers get the same 64 MiB (f64) of output: larger than any cache but the last.
    let count = (8 << 20) / dimension;
    let harmonics = Harmonics::new(degree);
    let per_coefficient = |n: usize| 1e9 / (n * dimension) as f64;
    Some(match operation {
        "encode-f64" => {
            let (points, mut out) = (points(count), vec![0f64; count * dimension]);
            let run = || harmonics.write_single_thread(black_box(&points), black_box(&mut out)).expect("lengths fit");
            ("ns/coefficient", best_seconds(seconds, run) * per_coefficient(count))
        }
        "encode-f32" => {
            let (points, mut out) = (points(count), vec![0f32; count * dimension]);
            let run = || harmonics.write_single_thread(black_box(&points), black_box(&mut out)).expect("lengths fit");
            ("ns/coefficient", best_seconds(seconds, run) * per_coefficient(count))
        }
        "field-f64" => {
            let (points, mut out) = (points(4096), vec![0.0; 4096]);
            let (plan, e) = (FieldPlan::new(degree), harmonics.at(UnitVec::NORTH));
            let run = || plan.values_single_thread(black_box(&e), &points, black_box(&mut out)).expect("lengths fit");
            ("ns/coefficient", best_seconds(seconds, run) * per_coefficient(4096))
        }
        "field-f32" => {
            let (points, mut out) = (points(4096), vec![0.0; 4096]);
            let (plan, e) = (FieldPlanF32::new(degree).ok()?, harmonics.at(UnitVec::NORTH));
            let run = || plan.values_single_thread(black_box(&e), &points, black_box(&mut out)).expect("lengths fit");
            ("ns/coefficient", best_seconds(seconds, run) * per_coefficient(4096))
        }
        "jet" => {
            let points = points(256);
            let plan = JetPlan::new(degree);
            let mut field = plan.field(&harmonics.at(UnitVec::NORTH)).expect("lengths fit");
            let run = || points.iter().for_each(|p| { black_box(plan.jet(&mut field, *p)); });
            ("ns/coefficient", best_seconds(seconds, run) * per_coefficient(256))
        }
        "decode" => {
            let codec = Codec::new(degree);
            let codes: Vec<Coefficients> = points(64).iter().map(|p| noisy(&codec, *p)).collect();
            let run = || {
                black_box(codec.decode_single_thread(black_box(&codes), &Decoder::default()).expect("degrees fit"));
            };
            ("us/vector", best_seconds(seconds, run) * 1e6 / 64.0)
        }
        "density" => {
            let codec = Codec::new(degree);
            let codes: Vec<Coefficients> = points(16).iter().map(|p| noisy(&codec, *p)).collect();
            let run = || codes.iter().for_each(|e| { black_box(codec.density(e).expect("degrees fit")); });
            ("us/vector", best_seconds(seconds, run) * 1e6 / 16.0)
        }
        _ => return None,
    })
}

/// A code with the noise of the paper's drift table, variance 0.01.
fn noisy(codec: &Codec, point: UnitVec) -> Coefficients {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(2);
    let uniform_of_that_variance = 0.1 * 3f64.sqrt();
    let code = codec.harmonics().at(point);
    let noise = |y: f64| y + rng.random_range(-uniform_of_that_variance..uniform_of_that_variance);
    Coefficients::new(code.into_iter().map(noise).collect()).expect("finite")
}

/// The fastest of repeated runs: on a shared machine the noise is one-sided.
fn best_seconds(budget: f64, mut run: impl FnMut()) -> f64 {
    run();
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    while start.elapsed().as_secs_f64() < budget {
        let round = Instant::now();
        run();
        best = best.min(round.elapsed().as_secs_f64());
    }
    best
}
