//! `locdiff-bench OPERATION --degree L [--seconds S] [--points N]`: times one hot function on one thread and prints one JSON line.
//!
//! `bench/codec.py` runs it in turns with the peers, so that both sides see the same machine.

use locdiff_shdd::{Anchors, Codec, Coefficients, Decoder};
use locdiff_sphere::{Degree, FieldPlan, FieldPlanF32, Grid, Harmonics, JetPlan, UnitVec};
use pulp::{Simd, WithSimd};
use rand::{RngExt, SeedableRng};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option =
        |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1)).cloned();
    let degree = option("--degree").map_or(47, |v| v.parse().expect("--degree takes a number"));
    let seconds = option("--seconds").map_or(0.5, |v| v.parse().expect("--seconds takes a number"));
    let degree = Degree::new(degree).expect("degree");
    let scattered = option("--points").map_or(4096, |v| v.parse().expect("--points takes a number"));
    let operation = arguments.first().map_or("", String::as_str);
    let Some((unit, value)) = measure(operation, degree, seconds, scattered) else {
        eprintln!(
            "usage: locdiff-bench encode-f64|encode-f32|field-f64|field-f32|jet|decode|decode-anchors|density|fma-f64|fma-f32 --degree L --seconds S"
        );
        std::process::exit(2);
    };
    println!(r#"{{"operation":"{operation}","degree":{degree},"unit":"{unit}","value":{value:.5}}}"#);
}

fn measure(operation: &str, degree: Degree, seconds: f64, scattered: usize) -> Option<(&'static str, f64)> {
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
            let run = || {
                harmonics.write_single_thread(black_box(&points), black_box(&mut out)).expect("lengths fit");
            };
            ("ns/coefficient", best_seconds(seconds, run) * per_coefficient(count))
        }
        "encode-f32" => {
            let (points, mut out) = (points(count), vec![0f32; count * dimension]);
            let run = || {
                harmonics.write_single_thread(black_box(&points), black_box(&mut out)).expect("lengths fit");
            };
            ("ns/coefficient", best_seconds(seconds, run) * per_coefficient(count))
        }
        "field-f64" => {
            let (points, mut out) = (points(scattered), vec![0.0; scattered]);
            let (plan, e) = (FieldPlan::new(degree), harmonics.at(UnitVec::NORTH));
            let run = || {
                plan.values_single_thread(black_box(&e), &points, black_box(&mut out)).expect("lengths fit");
            };
            ("ns/coefficient", best_seconds(seconds, run) * per_coefficient(scattered))
        }
        "field-f32" => {
            let (points, mut out) = (points(scattered), vec![0.0; scattered]);
            let (plan, e) = (FieldPlanF32::new(degree).ok()?, harmonics.at(UnitVec::NORTH));
            let run = || {
                plan.values_single_thread(black_box(&e), &points, black_box(&mut out)).expect("lengths fit");
            };
            ("ns/coefficient", best_seconds(seconds, run) * per_coefficient(scattered))
        }
        "jet" => {
            let points = points(256);
            let plan = JetPlan::new(degree);
            let mut field = plan.field(&harmonics.at(UnitVec::NORTH)).expect("lengths fit");
            let run = || {
                for point in &points {
                    black_box(plan.jet(&mut field, *point));
                }
            };
            ("ns/coefficient", best_seconds(seconds, run) * per_coefficient(256))
        }
        "decode" => {
            let codec = Codec::new(degree);
            let codes: Vec<Coefficients> = points(64).iter().map(|p| noisy(&codec, *p)).collect();
            let run = || {
                black_box(
                    codec.decode_single_thread(black_box(&codes), &Decoder::default()).expect("degrees fit"),
                );
            };
            ("us/vector", best_seconds(seconds, run) * 1e6 / 64.0)
        }
        "decode-anchors" => {
            let codec = Codec::new(degree);
            let codes: Vec<Coefficients> = points(4).iter().map(|p| noisy(&codec, *p)).collect();
            let grid = Grid::fibonacci(21_000).expect("a size");
            let decoder = Decoder::Anchors(Anchors::new(&grid, 0.0).expect("a radius"));
            let run = || {
                black_box(codec.decode_single_thread(black_box(&codes), &decoder).expect("degrees fit"));
            };
            ("us/vector", best_seconds(seconds, run) * 1e6 / 4.0)
        }
        // The fused evaluation needs 5 vector instructions (2 products, 3 multiply-adds) for the 2 coefficients ±m.
        "fma-f64" => ("ns/coefficient", 2.5 * fma_ns_per_lane(seconds, f64::fma_chain)),
        "fma-f32" => ("ns/coefficient", 2.5 * fma_ns_per_lane(seconds, f32::fma_chain)),
        "density" => {
            let codec = Codec::new(degree);
            let codes: Vec<Coefficients> = points(16).iter().map(|p| noisy(&codec, *p)).collect();
            let run = || {
                for e in &codes {
                    black_box(codec.density(e).expect("degrees fit"));
                }
            };
            ("us/vector", best_seconds(seconds, run) * 1e6 / 16.0)
        }
        _ => return None,
    })
}

/// A peak probe: independent multiply-adds on all lanes; returns how many lanes' worth were done.
trait FmaChain {
    fn fma_chain(rounds: usize) -> usize;
}

macro_rules! fma_chain {
    ($t:ty, $splat:ident, $mul_add:ident, $lanes:ident, $sum:ident) => {
        impl FmaChain for $t {
            fn fma_chain(rounds: usize) -> usize {
                struct Chain(usize);
                impl WithSimd for Chain {
                    type Output = usize;
                    #[inline(always)]
                    fn with_simd<S: Simd>(self, simd: S) -> usize {
                        let (x, y) = (simd.$splat(black_box(0.999)), simd.$splat(black_box(0.001)));
                        let mut a = [simd.$splat(0.5); 12];
                        for _ in 0..self.0 {
                            for a in &mut a {
                                *a = simd.$mul_add(*a, x, y);
                            }
                        }
                        for a in a {
                            black_box(simd.$sum(a));
                        }
                        12 * self.0 * S::$lanes
                    }
                }
                pulp::Arch::new().dispatch(Chain(rounds))
            }
        }
    };
}
fma_chain!(f64, splat_f64s, mul_add_e_f64s, F64_LANES, reduce_sum_f64s);
fma_chain!(f32, splat_f32s, mul_add_e_f32s, F32_LANES, reduce_sum_f32s);

fn fma_ns_per_lane(seconds: f64, chain: fn(usize) -> usize) -> f64 {
    const ROUNDS: usize = 100_000;
    let lanes = chain(ROUNDS);
    best_seconds(seconds, || {
        black_box(chain(ROUNDS));
    }) * 1e9
        / lanes as f64
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
