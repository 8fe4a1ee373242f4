//! The codec: encode, fused fields, jets, decoders, densities. One thread is
//! `RAYON_NUM_THREADS=1`, as `bench/codec.py` sets it.

use divan::{Bencher, black_box, counter::ItemsCount};
use locdiff_bench::{degree, degrees, noisy_codes, points};
use locdiff_shdd::sphere::{FieldPlan, Grid, JetPlan, Scalar, SphericalHarmonics, UnitVec};
use locdiff_shdd::{Anchors, Codec, Decoder};

fn main() {
    divan::main();
}

/// Coefficients a second. 64 MiB (f64) of output: larger than any cache but the last.
fn encode<T: Scalar>(bencher: Bencher, l: usize) {
    let harmonics = SphericalHarmonics::new(degree(l));
    let points = points((8 << 20) / degree(l).dimension());
    let mut out = vec![T::default(); points.len() * degree(l).dimension()];
    bencher.counter(ItemsCount::new(out.len())).bench_local(|| {
        harmonics.write(black_box(&points), black_box(&mut out)).expect("lengths fit");
    });
}

#[divan::bench(args = degrees())]
fn encode_f64(bencher: Bencher, l: usize) {
    encode::<f64>(bencher, l);
}

#[divan::bench(args = degrees())]
fn encode_f32(bencher: Bencher, l: usize) {
    encode::<f32>(bencher, l);
}

/// Coefficients a second of the fused product e·Y at N points.
#[divan::bench(args = degrees(), consts = [256, 4096])]
fn field_f64<const N: usize>(bencher: Bencher, l: usize) {
    let (plan, e) = (FieldPlan::new(degree(l)), SphericalHarmonics::new(degree(l)).at(UnitVec::NORTH));
    let points = points(N);
    bencher
        .counter(ItemsCount::new(N * degree(l).dimension()))
        .bench_local(|| plan.values(black_box(&e), &points).expect("lengths fit"));
}

/// Coefficients a second of value, gradient and Hessian.
#[divan::bench(args = degrees())]
fn jet(bencher: Bencher, l: usize) {
    let plan = JetPlan::new(degree(l));
    let mut field = plan.field(&SphericalHarmonics::new(degree(l)).at(UnitVec::NORTH)).expect("lengths fit");
    let points = points(256);
    bencher.counter(ItemsCount::new(256 * degree(l).dimension())).bench_local(|| {
        for point in &points {
            black_box(plan.jet(&mut field, *point));
        }
    });
}

/// Vectors a second.
fn decode(bencher: Bencher, l: usize, count: usize, decoder: &Decoder) {
    let codec = Codec::new(degree(l));
    let codes = noisy_codes(&codec, count);
    bencher
        .counter(ItemsCount::new(count))
        .bench_local(|| codec.decode_batch(black_box(&codes), decoder).expect("degrees fit"));
}

#[divan::bench(args = degrees())]
fn decode_exact(bencher: Bencher, l: usize) {
    decode(bencher, l, 64, &Decoder::default());
}

#[divan::bench(args = degrees())]
fn decode_anchors(bencher: Bencher, l: usize) {
    let grid = Grid::fibonacci(21_000).expect("a size");
    decode(bencher, l, 4, &Decoder::Anchors(Anchors::new(&grid, 0.0).expect("a radius")));
}

/// Densities a second: the search for maxima, the cubature, log Z.
#[divan::bench(args = degrees())]
fn density(bencher: Bencher, l: usize) {
    let codec = Codec::new(degree(l));
    let codes = noisy_codes(&codec, 16);
    bencher.counter(ItemsCount::new(16_usize)).bench_local(|| {
        for e in &codes {
            black_box(codec.density(black_box(e)).expect("degrees fit"));
        }
    });
}

/// 90 % regions a second, of densities made before.
#[divan::bench(args = degrees())]
fn region(bencher: Bencher, l: usize) {
    let codec = Codec::new(degree(l));
    let codes = noisy_codes(&codec, 16);
    let densities: Vec<_> = codes.iter().map(|e| codec.density(e).expect("degrees fit")).collect();
    bencher.counter(ItemsCount::new(16_usize)).bench_local(|| {
        for density in &densities {
            black_box(density.credible_region(black_box(0.9)).expect("a share"));
        }
    });
}
