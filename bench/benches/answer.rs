//! From a network's word to an answer at the default model's degree: density, regions, basins, the whole answer.

use divan::{Bencher, black_box};
use locdiff_answer::{Calibration, Density, Globe, Reader};
use locdiff_bench::noisy_codes;
use locdiff_shdd::Coefficients;
use locdiff_sphere::LatLon;
use std::sync::Arc;

const DEGREE: usize = 23;

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
    reader.density(evidence, None).expect("degrees fit")
}

fn home() -> LatLon {
    LatLon::new(48.86, 2.35).expect("a place")
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

/// Watershed basins and their peaks.
#[divan::bench]
fn basins(bencher: Bencher) {
    let (reader, evidence) = reader();
    let density = density_of(&reader, &evidence);
    bencher.bench_local(|| density.peaks(black_box(home()), 5));
}

#[divan::bench]
fn answer(bencher: Bencher) {
    let (reader, evidence) = reader();
    bencher.bench_local(|| reader.answer(black_box(&evidence), home(), None, 5).expect("degrees fit"));
}
