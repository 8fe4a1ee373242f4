//! From a network's word to an answer at the default model's degree: density, regions, places, the whole answer.

use divan::{Bencher, black_box};
use locdiff_bench::noisy_codes;
use locdiff_model::answer::{Calibration, Density, Globe, ModelOutput, ReadOptions, Reader};
use locdiff_shdd::Coefficients;
use std::sync::Arc;

const DEGREE: usize = 31;

fn main() {
    divan::main();
}

/// A reader without calibration, and what a network said about a photo.
fn reader() -> (Reader, Coefficients) {
    let globe = Arc::new(Globe::new(DEGREE).expect("a degree"));
    let evidence = noisy_codes(globe.codec(), 1).remove(0);
    let flat = Coefficients::new(vec![0.0; (DEGREE + 1) * (DEGREE + 1)]).expect("a square number");
    (Reader::new(globe, Calibration::none(flat)).expect("degrees fit"), evidence)
}

fn density_of(reader: &Reader, evidence: &Coefficients) -> Density {
    reader.density(ModelOutput::new(evidence), None).expect("degrees fit")
}

#[divan::bench]
fn density(bencher: Bencher) {
    let (reader, evidence) = reader();
    bencher.bench_local(|| density_of(&reader, black_box(&evidence)));
}

#[divan::bench]
fn region(bencher: Bencher) {
    let (reader, evidence) = reader();
    let density = density_of(&reader, &evidence);
    bencher.bench_local(|| density.region(black_box(0.9)));
}

/// Places through a window.
#[divan::bench]
fn peaks(bencher: Bencher) {
    let (reader, evidence) = reader();
    let density = density_of(&reader, &evidence);
    bencher.bench_local(|| density.peaks(black_box(750.0), 5));
}

#[divan::bench]
fn answer(bencher: Bencher) {
    let (reader, evidence) = reader();
    bencher.bench_local(|| {
        reader.answer(ModelOutput::new(black_box(&evidence)), None, &ReadOptions::default()).expect("degrees fit")
    });
}
