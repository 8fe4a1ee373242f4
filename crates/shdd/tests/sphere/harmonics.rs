//! Properties of the harmonics, the fused evaluation and the transforms.

use locdiff_shdd::sphere::{Degree, FieldPlan, JetPlan, LatLon, Rings, SphericalHarmonics, UnitVec};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::PI;

fn degree(l: usize) -> Degree {
    Degree::new(l).unwrap()
}

fn random_points(n: usize, seed: u64) -> Vec<UnitVec> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..n).map(|_| UnitVec::random(&mut rng)).collect()
}

/// Both poles, a hair off them, the antimeridian from both sides, and axes.
fn awkward_points() -> Vec<UnitVec> {
    let poles = [(90.0, 0.0), (-90.0, 77.0), (89.999_999_9, 12.0), (-89.999_9, -170.0), (89.0, 45.0)];
    let others = [(0.0, 180.0), (0.0, -180.0), (0.0, 0.0), (0.0, 90.0), (45.0, 179.999_999_999)];
    poles.into_iter().chain(others).map(|(lat, lon)| LatLon::new(lat, lon).unwrap().to_unit()).collect()
}

fn coefficients(l: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..(l + 1) * (l + 1)).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn max_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |worst: f64, (x, y)| worst.max((x - y).abs()))
}

#[test]
fn every_degree_block_has_the_norm_of_the_addition_theorem() {
    for l in [1, 2, 7, 8, 9, 15, 16, 23, 47, 127, 255, 511] {
        let harmonics = SphericalHarmonics::new(degree(l));
        for point in random_points(20, 7).into_iter().chain(awkward_points()) {
            let y = harmonics.at(point);
            for block in 0..=l {
                let norm: f64 = y[block * block..(block + 1) * (block + 1)].iter().map(|v| v * v).sum();
                let exact = (2 * block + 1) as f64 / (4.0 * PI);
                assert!((norm / exact - 1.0).abs() < 1e-11, "L={l} block {block}: {norm} {exact}");
            }
        }
    }
}

#[test]
fn harmonics_are_orthonormal() {
    for l in [5, 12] {
        let harmonics = SphericalHarmonics::new(degree(l));
        let rings = Rings::gauss_legendre(l + 1, 2 * l + 2);
        let (points, weights) = (rings.points(), rings.point_weights());
        let dimension = degree(l).dimension();
        let mut gram = vec![0.0; dimension * dimension];
        for (p, w) in points.iter().zip(&weights) {
            let y = harmonics.at(*p);
            for i in 0..dimension {
                for j in 0..dimension {
                    gram[i * dimension + j] += w * y[i] * y[j];
                }
            }
        }
        for i in 0..dimension {
            gram[i * dimension + i] -= 1.0;
        }
        assert!(gram.iter().all(|g| g.abs() < 1e-13));
    }
}

#[test]
fn f32_output_is_the_f64_value_rounded_once() {
    for l in [15, 47, 127, 255] {
        let harmonics = SphericalHarmonics::new(degree(l));
        let points: Vec<_> = random_points(200, 3).into_iter().chain(awkward_points()).collect();
        let n = degree(l).dimension();
        let (mut exact, mut rounded) = (vec![0f64; points.len() * n], vec![0f32; points.len() * n]);
        harmonics.write(&points, &mut exact).unwrap();
        harmonics.write(&points, &mut rounded).unwrap();
        assert!(exact.iter().zip(&rounded).all(|(a, b)| (*a as f32).to_bits() == b.to_bits()));
    }
}

#[test]
fn one_and_many_points_on_one_and_many_threads_agree_to_the_bit() {
    let harmonics = SphericalHarmonics::new(degree(31));
    let points = random_points(500, 5);
    let n = degree(31).dimension();
    let (mut all, mut single) = (vec![0f64; 500 * n], vec![0f64; 500 * n]);
    harmonics.write(&points, &mut all).unwrap();
    for (points, rows) in points.chunks(50).zip(single.chunks_mut(50 * n)) {
        harmonics.write(points, rows).unwrap(); // as few are written on one thread
    }
    assert_eq!(all, single);
    assert_eq!(harmonics.at(points[321]), all[321 * n..322 * n]);
    assert!(harmonics.write(&points, &mut all[1..]).is_err());
}

#[test]
fn fused_values_equal_the_scalar_product_with_the_harmonics() {
    for l in [1, 8, 15, 47, 127, 255] {
        let (e, harmonics, plan) = (coefficients(l, 11), SphericalHarmonics::new(degree(l)), FieldPlan::new(degree(l)));
        let points: Vec<_> = random_points(301, 13).into_iter().chain(awkward_points()).collect();
        let values = plan.values(&e, &points).unwrap();
        let norm = dot(&e, &e).sqrt();
        for (p, v) in points.iter().zip(&values) {
            assert!((v - dot(&e, &harmonics.at(*p))).abs() < 1e-13 * norm * (l + 1) as f64, "L={l}");
        }
        assert!(plan.values(&e[1..], &points).is_err());
    }
}

#[test]
fn weighted_sum_is_the_adjoint_of_evaluation() {
    for l in [9, 47] {
        let (e, plan) = (coefficients(l, 23), FieldPlan::new(degree(l)));
        let points: Vec<_> = random_points(700, 29).into_iter().chain(awkward_points()).collect();
        let weights: Vec<f64> = (0..points.len()).map(|i| (i as f64).sin()).collect();
        let left = dot(&plan.values(&e, &points).unwrap(), &weights);
        let right = dot(&e, &SphericalHarmonics::new(degree(l)).weighted_sum(&points, &weights).unwrap());
        assert!((left - right).abs() < 1e-9, "{left} {right}");
    }
}

#[test]
fn jets_match_finite_differences_everywhere() {
    for l in [3, 15, 47, 127] {
        let (e, plan, jets) = (coefficients(l, 31), FieldPlan::new(degree(l)), JetPlan::new(degree(l)));
        let mut field = jets.field(&e).unwrap();
        let h = 1e-3 / l as f64;
        for point in random_points(10, 37).into_iter().chain(awkward_points()) {
            let jet = jets.jet(&mut field, point);
            let f = |a: f64, b: f64| plan.values(&e, &[point.step(a * h, b * h)]).unwrap()[0];
            let scale = dot(&e, &e).sqrt() * l as f64;
            assert!((jet.value - f(0.0, 0.0)).abs() < 1e-12 * scale);
            let gradient = [(f(1.0, 0.0) - f(-1.0, 0.0)) / (2.0 * h), (f(0.0, 1.0) - f(0.0, -1.0)) / (2.0 * h)];
            assert!(max_difference(&jet.gradient, &gradient) < 1e-5 * scale * l as f64, "L={l}");
            let second = |a: f64, b: f64| (f(a, b) - 2.0 * f(0.0, 0.0) + f(-a, -b)) / (h * h);
            let mixed = (f(1.0, 1.0) - f(1.0, -1.0) - f(-1.0, 1.0) + f(-1.0, -1.0)) / (4.0 * h * h);
            let hessian = [second(1.0, 0.0), mixed, second(0.0, 1.0)];
            assert!(max_difference(&jet.hessian, &hessian) < 1e-5 * scale * (l * l) as f64, "L={l}");
        }
    }
}

#[test]
fn synthesis_equals_evaluation_even_on_rings_too_coarse_for_the_field() {
    let gauss = [(7, Rings::gauss_legendre(20, 33)), (20, Rings::gauss_legendre(5, 1))];
    let rasters = [(47, 19, 36), (47, 40, 7), (63, 64, 128), (255, 21, 512)];
    let rasters = rasters.into_iter().map(|(l, rows, columns)| (l, Rings::raster(rows, columns)));
    for (l, rings) in gauss.into_iter().chain(rasters) {
        let (e, plan) = (coefficients(l, 41), FieldPlan::new(degree(l)));
        let fast = rings.synthesize(&plan.field(&e).unwrap());
        let slow = plan.values(&e, &rings.points()).unwrap();
        let worst = max_difference(&fast, &slow);
        assert!(worst < 1e-13 * dot(&e, &e).sqrt() * (l + 1) as f64, "L={l}: {worst:e}");
    }
}

#[test]
fn analysis_inverts_synthesis() {
    for l in [1, 15, 47, 127, 255] {
        let (e, plan) = (coefficients(l, 43), FieldPlan::new(degree(l)));
        for rings in [Rings::gauss_legendre(l + 1, 2 * l + 1), Rings::gauss_legendre(l + 18, 2 * l + 8)] {
            let back = rings.analyze(&plan, &rings.synthesize(&plan.field(&e).unwrap())).unwrap();
            let worst = max_difference(&e, &back);
            assert!(worst < 1e-11, "L={l}: {worst:e}");
        }
        assert!(Rings::gauss_legendre(l + 1, 2 * l).analyze(&plan, &vec![0.0; (l + 1) * 2 * l]).is_err());
    }
}

#[test]
fn raster_weights_are_the_area_of_the_sphere() {
    let total: f64 = Rings::raster(90, 180).point_weights().iter().sum();
    assert!((total - 4.0 * PI).abs() < 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Addition theorem: Y(a)·Y(b) depends on the angle alone, Σ (2l+1)/4π P_l(cos γ).
    #[test]
    fn addition_theorem(seed in 0u64..1000, l in 1usize..60) {
        let points = random_points(2, seed);
        let harmonics = SphericalHarmonics::new(degree(l));
        let product = dot(&harmonics.at(points[0]), &harmonics.at(points[1]));
        let t = points[0].dot(points[1]);
        let (mut before, mut now, mut sum) = (1.0, t, (1.0 + 3.0 * t) / (4.0 * PI));
        for n in 2..=l {
            let n_f = n as f64;
            (before, now) = (now, ((2.0 * n_f - 1.0) * t * now - (n_f - 1.0) * before) / n_f);
            sum += (2.0 * n_f + 1.0) * now / (4.0 * PI);
        }
        prop_assert!((product - sum).abs() < 1e-10);
    }

    /// Rotating every point leaves the Gram matrix of the codes unchanged.
    #[test]
    fn rotation_preserves_scalar_products(seed in 0u64..1000, angle in 0.0..6.0f64, tilt in 0.0..3.0f64) {
        let points = random_points(2, seed);
        let rotate = |p: UnitVec| {
            let (s, c) = angle.sin_cos();
            let (x, y, z) = (c * p.x() - s * p.y(), s * p.x() + c * p.y(), p.z());
            let (s, c) = tilt.sin_cos();
            UnitVec::new(c * x + s * z, y, c * z - s * x).unwrap()
        };
        let harmonics = SphericalHarmonics::new(degree(30));
        let product = |a: UnitVec, b: UnitVec| dot(&harmonics.at(a), &harmonics.at(b));
        let difference = product(points[0], points[1]) - product(rotate(points[0]), rotate(points[1]));
        prop_assert!(difference.abs() < 1e-10);
    }
}

/// A point's harmonics are the same bits alone, which goes by rows, and among others, which goes by lanes at low degrees.
#[test]
fn a_point_is_the_same_bits_alone_and_among_others() {
    let mut points = awkward_points();
    points.extend(random_points(101, 5));
    for l in [1, 2, 7, 9, 23, 31, 32] {
        let (harmonics, dimension) = (SphericalHarmonics::new(degree(l)), degree(l).dimension());
        for count in [4, 7, 8, 9, points.len()] {
            let mut rows = vec![f64::NAN; count * dimension];
            harmonics.write(&points[..count], &mut rows).unwrap();
            for (point, row) in points.iter().zip(rows.chunks_exact(dimension)) {
                assert_eq!(harmonics.at(*point), row, "degree {l}, {count} points");
            }
        }
    }
}
