//! Decoding at the theoretical limit.

use crate::common;

use common::{codec, noisy, random_place, rng};
use locdiff_shdd::sphere::{EARTH_RADIUS_KM, Grid, LatLon, UnitVec, haversine_km};
use locdiff_shdd::{Anchors, Coefficients, Decoder};
use std::f64::consts::FRAC_PI_2;

fn awkward_places() -> Vec<LatLon> {
    let poles = [(90.0, 0.0), (-90.0, 33.0), (89.9999, 100.0), (-89.99, -120.0), (0.0, 0.0)];
    let antimeridian = [(0.0, 180.0), (0.0, -180.0), (12.0, 179.9999999), (-12.0, -179.9999999)];
    poles.into_iter().chain(antimeridian).map(|(lat, lon)| LatLon::new(lat, lon).unwrap()).collect()
}

#[test]
fn clean_codes_decode_to_within_a_metre() {
    for l in [1, 2, 3, 15, 23, 47, 127, 255] {
        let codec = codec(l);
        let mut rng = rng(l as u64);
        let n = if l <= 47 { 2_000 } else { 50_000 / l };
        let places: Vec<LatLon> = awkward_places().into_iter().chain((0..n).map(|_| random_place(&mut rng))).collect();
        let mut worst = 0f64;
        for places in places.chunks(512) {
            let codes: Vec<Coefficients> = places.iter().map(|p| codec.encode(*p)).collect();
            let answers = codec.decode_batch(&codes, &Decoder::default()).unwrap();
            for (place, answer) in places.iter().zip(answers) {
                worst = worst.max(haversine_km(*place, answer.place()));
            }
        }
        println!("L={l}: worst of {} clean decodes {:.2e} m", places.len(), worst * 1000.0);
        assert!(worst < 0.001, "L={l}: {worst} km");
    }
}

#[test]
fn noisy_codes_drift_as_little_as_cramer_and_rao_allow() {
    for (l, n) in [(15, 3000), (23, 3000), (47, 3000), (127, 600)] {
        let codec = codec(l);
        let mut rng = rng(100 + l as u64);
        let sigma = 0.1; // variance 0.01, as in the paper's table
        let limit_km = sigma * FRAC_PI_2.sqrt() * EARTH_RADIUS_KM / codec.degree().curvature().sqrt();
        let mut sum = 0.0;
        for _ in 0..n / 100 {
            let places: Vec<LatLon> = (0..100).map(|_| random_place(&mut rng)).collect();
            let codes: Vec<_> = places.iter().map(|p| noisy(&codec, *p, 1.0, sigma, &mut rng)).collect();
            let answers = codec.decode_batch(&codes, &Decoder::default()).unwrap();
            sum += places.iter().zip(answers).map(|(p, a)| haversine_km(*p, a.place())).sum::<f64>();
        }
        let drift_km = sum / f64::from(n);
        println!("L={l}: mean drift {drift_km:.3} km, Cramér–Rao {limit_km:.3} km, n={n}");
        assert!((drift_km / limit_km - 1.0).abs() < 0.10, "L={l}: {drift_km} against {limit_km}");
    }
}

#[test]
fn batches_agree_with_single_vectors_to_the_bit() {
    let codec = codec(31);
    let mut rng = rng(5);
    let mut code = || {
        let place = random_place(&mut rng);
        noisy(&codec, place, 1.0, 0.3, &mut rng)
    };
    let codes: Vec<_> = (0..40).map(|_| code()).collect();
    let batch = codec.decode_batch(&codes, &Decoder::default()).unwrap();
    let single: Vec<_> = codes.iter().map(|code| codec.decode(code, &Decoder::default()).unwrap()).collect();
    assert_eq!(batch, single);
}

#[test]
fn the_exact_decoder_finds_the_global_maximum_of_noise() {
    // Pure noise has hundreds of peaks; no point of a fine grid may be higher than the answer.
    let codec = codec(23);
    let mut rng = rng(9);
    let grid = Grid::fibonacci(60_000).unwrap();
    for _ in 0..30 {
        let place = random_place(&mut rng);
        let e = noisy(&codec, place, 0.0, 1.0, &mut rng);
        // A tiny window ranks peaks by height.
        let answer = codec.decode(&e, &Decoder::Exact { window_rad: Some(1e-9) }).unwrap();
        let highest = codec.field(&e).unwrap().values(grid.points()).into_iter().fold(f64::MIN, f64::max);
        assert!(answer.value >= highest - 1e-9, "{} {highest}", answer.value);
    }
}

#[test]
fn the_window_chooses_between_a_sharp_and_a_broad_peak() {
    // A sharp high peak beside a broad one that holds more mass within 1000 km.
    let codec = codec(31);
    let (sharp, broad) = (LatLon::new(10.0, 10.0).unwrap(), LatLon::new(-30.0, 120.0).unwrap());
    let mut e: Vec<f64> = codec.encode(sharp).into_vec().iter().map(|v| 0.25 * v).collect();
    let other = codec.encode(broad).into_vec();
    for l in 0..=31usize {
        for k in l * l..(l + 1) * (l + 1) {
            e[k] += if l <= 8 { 2.9 * other[k] } else { 0.0 };
        }
    }
    let e = Coefficients::new(e).unwrap();
    let narrow = codec.decode(&e, &Decoder::Exact { window_rad: Some(1e-6) }).unwrap();
    let wide = codec.decode(&e, &Decoder::Exact { window_rad: None }).unwrap();
    assert!(haversine_km(narrow.place(), sharp) < 200.0, "{:?}", narrow.place());
    assert!(haversine_km(wide.place(), broad) < 200.0, "{:?}", wide.place());
}

#[test]
fn the_kl_decoder_minimises_the_divergence() {
    let codec = codec(15);
    let mut rng = rng(11);
    for sigma in [0.05, 0.4] {
        let place = random_place(&mut rng);
        let e = noisy(&codec, place, 1.0, sigma, &mut rng);
        let answer = codec.decode(&e, &Decoder::Kl).unwrap();
        // KL(q_e ‖ p) = (e − y)·E_q[Y] − log Z_q + log Z_p, and log Z_p is that of every clean code.
        let density = codec.density(&e).unwrap();
        let (mean, log_z) = (density.mean_parameters(), density.log_z());
        let kl = |p: UnitVec| {
            let apart: Vec<f64> = e.as_slice().iter().zip(codec.harmonics().at(p)).map(|(e, y)| e - y).collect();
            common::dot(&apart, mean.as_slice()) - log_z
        };
        let best = kl(answer.point);
        for (a, b) in [(0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), (0.0, -0.01), (0.5, 0.3), (1.5, -0.4)] {
            assert!(kl(answer.point.step(a, b)) > best);
        }
        if sigma < 0.1 {
            assert!(haversine_km(place, answer.place()) < 60.0);
        }
    }
}

#[test]
fn anchors_answer_with_the_best_anchor() {
    let codec = codec(23);
    let mut rng = rng(13);
    let grid = Grid::fibonacci(5000).unwrap();
    for _ in 0..10 {
        let place = random_place(&mut rng);
        let e = noisy(&codec, place, 1.0, 0.1, &mut rng);
        let values = codec.field(&e).unwrap().values(grid.points());
        let plain = codec.decode(&e, &Decoder::Anchors(Anchors::new(&grid, 0.0).unwrap())).unwrap();
        assert!(values.iter().all(|v| *v <= plain.value + 1e-9));
        // The window's mass by brute force.
        let rho = 0.06;
        let windowed = codec.decode(&e, &Decoder::Anchors(Anchors::new(&grid, rho).unwrap())).unwrap();
        let mass = |c: locdiff_shdd::sphere::UnitVec| -> f64 {
            let inside = grid.points().iter().zip(&values).filter(|(p, _)| p.dot(c) > rho.cos());
            inside.map(|(_, v)| (v - plain.value).exp()).sum()
        };
        let best = mass(windowed.point);
        assert!(grid.points().iter().all(|p| mass(*p) <= best * (1.0 + 1e-9)));
    }
    assert!(Anchors::new(&grid, -1.0).is_err() && Anchors::new(&grid, f64::NAN).is_err());
}

#[test]
fn vectors_of_another_degree_are_refused_and_flat_ones_survive() {
    let codec = codec(15);
    let other = Coefficients::new(vec![0.0; 576]).unwrap();
    assert!(codec.decode(&other, &Decoder::default()).is_err());
    assert!(codec.decode_batch(&[other], &Decoder::default()).is_err());
    let zero = Coefficients::new(vec![0.0; 256]).unwrap();
    let answer = codec.decode(&zero, &Decoder::default()).unwrap();
    assert_eq!(answer.value, 0.0);
}
