//! SHDD-KL, exactly and over the paper's anchors, with its gradient, against brute-force quadrature.

use crate::zonal::Zonal;
use locdiff_shdd::sphere::{Degree, FieldPlan, Grid, LatLon, Rings, UnitVec};
use locdiff_shdd::{Codec, Coefficients};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::TAU;

/// A loss between a coefficient vector e and the code y of the true place, and its gradient ∂loss/∂e.
pub(crate) struct Loss {
    pub(crate) value: f64,
    gradient: Vec<f64>,
}

/// `−log q_e(x0) = log Z_q − e·y`; gradient `E_q[Y] − y`.
fn nll(codec: &Codec, e: &Coefficients, truth: UnitVec) -> Loss {
    let (density, code) = (codec.density(e).unwrap(), codec.harmonics().at(truth));
    let mut gradient = density.mean_parameters().into_vec();
    gradient.iter_mut().zip(&code).for_each(|(g, y)| *g -= y);
    Loss { value: density.log_z() - dot(e.as_slice(), &code), gradient }
}

/// The paper's SHDD-KL as an integral: `KL(q_e ‖ p) = E_q[D] − log Z_q + log Z_p` with `D = (e − y)·Y`; gradient `Cov_q(D, Y)`.
pub(crate) fn reverse_kl(codec: &Codec, e: &Coefficients, truth: UnitVec) -> Loss {
    let (density, code) = (codec.density(e).unwrap(), codec.harmonics().at(truth));
    let (points, masses): (Vec<UnitVec>, Vec<f64>) =
        density.nodes().filter(|(_, _, mass)| *mass > 1e-18).map(|(point, _, mass)| (point, mass)).unzip();
    let difference: Vec<f64> = e.as_slice().iter().zip(&code).map(|(a, b)| a - b).collect();
    let values = codec.field(&Coefficients::new(difference).unwrap()).unwrap().values(&points);
    let mean = dot(&masses, &values) / masses.iter().sum::<f64>();
    let weights: Vec<f64> = masses.iter().zip(&values).map(|(mass, value)| mass * (value - mean)).collect();
    let gradient = codec.harmonics().weighted_sum(&points, &weights).unwrap();
    Loss { value: mean - density.log_z() + Zonal::new(codec.degree()).log_z, gradient }
}

/// The paper's SHDD-KL over anchors, by which both densities are normalised: `Σ q log(q/p)`, each weighted by its area.
fn anchored_kl(codec: &Codec, e: &Coefficients, truth: UnitVec, grid: &Grid) -> Loss {
    let log_softmax = |code: &Coefficients| {
        let values = codec.field(code).unwrap().values(grid.points());
        let values: Vec<f64> = values.iter().zip(grid.weights()).map(|(v, w)| v + w.ln()).collect();
        let top = values.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        let log_sum = top + values.iter().map(|v| (v - top).exp()).sum::<f64>().ln();
        values.into_iter().map(move |value| value - log_sum).collect::<Vec<f64>>()
    };
    let (log_q, log_p) = (log_softmax(e), log_softmax(&codec.encode(truth.to_latlon())));
    let value = log_q.iter().zip(&log_p).map(|(q, p)| q.exp() * (q - p)).sum::<f64>();
    let weights: Vec<f64> = log_q.iter().zip(&log_p).map(|(q, p)| q.exp() * (q - p - value)).collect();
    Loss { value, gradient: codec.harmonics().weighted_sum(grid.points(), &weights).unwrap() }
}

pub(crate) fn codec(degree: usize) -> Codec {
    Codec::new(Degree::new(degree).unwrap())
}

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Standard normal, by Box–Muller.
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (a, b): (f64, f64) = (rng.random_range(1e-12..1.0), rng.random_range(0.0..TAU));
    (-2.0 * a.ln()).sqrt() * b.cos()
}

/// `scale·Y(place) + sigma·noise`.
fn noisy(codec: &Codec, place: LatLon, scale: f64, sigma: f64, rng: &mut ChaCha8Rng) -> Coefficients {
    let clean = codec.encode(place).into_vec();
    Coefficients::new(clean.into_iter().map(|v| scale * v + sigma * normal(rng)).collect()).unwrap()
}

fn random_place(rng: &mut ChaCha8Rng) -> LatLon {
    UnitVec::random(rng).to_latlon()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// log Z, E_q[Y] and the reverse-KL gradient on a ring grid finer than the sharpest peak.
struct BruteForce {
    log_z: f64,
    mean: Vec<f64>,
    reverse_value: f64,
    reverse_gradient: Vec<f64>,
}

fn brute_force(codec: &Codec, e: &Coefficients, code: &[f64]) -> BruteForce {
    let plan = FieldPlan::new(codec.degree());
    let step = 0.8 / codec.degree().curvature().sqrt();
    let rings = (std::f64::consts::PI / step).ceil() as usize;
    let rings = Rings::gauss_legendre(rings, 2 * rings);
    let values = rings.synthesize(&plan.field(e.as_slice()).unwrap());
    let clean = rings.synthesize(&plan.field(code).unwrap());
    let weights = rings.point_weights();
    let log_sum = |v: &[f64]| {
        let top = v.iter().fold(f64::MIN, |a, b| a.max(*b));
        top + v.iter().zip(&weights).map(|(v, w)| w * (v - top).exp()).sum::<f64>().ln()
    };
    let (log_z, log_z_clean) = (log_sum(&values), log_sum(&clean));
    let q: Vec<f64> = values.iter().map(|v| (v - log_z).exp()).collect();
    let mean = rings.analyze(&plan, &q).unwrap();
    let ratio: Vec<f64> = values.iter().zip(&clean).map(|(q, p)| (q - log_z) - (p - log_z_clean)).collect();
    let reverse_value = q.iter().zip(&weights).zip(&ratio).map(|((q, w), r)| q * w * r).sum();
    let weighted: Vec<f64> = q.iter().zip(&ratio).map(|(q, r)| q * (r - reverse_value)).collect();
    BruteForce { log_z, mean, reverse_value, reverse_gradient: rings.analyze(&plan, &weighted).unwrap() }
}

/// What the loss meets in training: clean, noisy and shifted codes, and pure noise.
fn inputs(codec: &Codec, place: LatLon) -> Vec<(&'static str, Coefficients)> {
    let mut rng = rng(17);
    let near = place.to_unit().step(0.02, 0.01).to_latlon();
    let far = place.to_unit().step(-0.9, 1.1).to_latlon();
    vec![
        ("clean", codec.encode(place)),
        ("clean, half as sharp", noisy(codec, place, 0.5, 0.0, &mut rng)),
        ("noisy 0.1", noisy(codec, place, 1.0, 0.1, &mut rng)),
        ("noisy 0.3", noisy(codec, place, 1.0, 0.3, &mut rng)),
        ("shifted 140 km", codec.encode(near)),
        ("shifted 9000 km", codec.encode(far)),
        ("shifted and noisy", noisy(codec, near, 0.8, 0.2, &mut rng)),
        ("pure noise 0.28", noisy(codec, place, 0.0, 0.2821, &mut rng)),
        ("pure noise 1", noisy(codec, place, 0.0, 1.0, &mut rng)),
        ("faint noise", noisy(codec, place, 0.0, 0.02, &mut rng)),
    ]
}

#[test]
fn gradients_match_brute_force() {
    for l in [23, 47] {
        let codec = codec(l);
        let place = LatLon::new(48.2, 16.37).unwrap();
        let code = codec.encode(place).into_vec();
        // The sum over the sphere at L = 47 takes a second: every fourth input.
        for (name, e) in inputs(&codec, place).into_iter().step_by(if l > 23 { 4 } else { 1 }) {
            let exact = brute_force(&codec, &e, &code);
            let (reverse, nll) = (reverse_kl(&codec, &e, place.to_unit()), nll(&codec, &e, place.to_unit()));
            let exact_nll: Vec<f64> = exact.mean.iter().zip(&code).map(|(a, b)| a - b).collect();
            let size = dot(&code, &code).sqrt();
            for (kind, ours, reference) in
                [("reverse", &reverse.gradient, &exact.reverse_gradient), ("nll", &nll.gradient, &exact_nll)]
            {
                if dot(reference, reference).sqrt() < 1e-6 * size {
                    // A clean code: the gradient of the KL vanishes, and so must ours.
                    assert!(dot(ours, ours).sqrt() < 1e-6 * size, "{name} {kind}");
                } else {
                    let cos = cosine(ours, reference);
                    let norm = (dot(ours, ours) / dot(reference, reference)).sqrt();
                    assert!(cos > 0.999_999 && (norm - 1.0).abs() < 1e-4, "L={l} {name} {kind}: {cos} {norm}");
                }
            }
            assert!((nll.value + dot(e.as_slice(), &code) - exact.log_z).abs() < 1e-6, "L={l} {name}: log Z");
            assert!((reverse.value - exact.reverse_value).abs() < 1e-5 * (1.0 + exact.reverse_value), "L={l} {name}");
            assert!(reverse.value > -1e-7, "KL must not be negative");
        }
    }
}

#[test]
fn the_papers_random_anchors_miss_the_gradient() {
    // The paper's 2048 uniform anchors against a 20 km peak. This is why the exact terms exist.
    let codec = codec(47);
    let mut rng = rng(31);
    let mut cosine_of_random = || {
        let truth = random_place(&mut rng);
        let e = noisy(&codec, truth, 0.8, 0.1, &mut rng);
        let exact = reverse_kl(&codec, &e, truth.to_unit());
        let grid = Grid::uniform_random(2048, &mut rng).unwrap();
        let anchored = anchored_kl(&codec, &e, truth.to_unit(), &grid);
        cosine(&exact.gradient, &anchored.gradient)
    };
    let mean = (0..10).map(|_| cosine_of_random()).sum::<f64>() / 10.0;
    println!("mean cosine of the anchored gradient with the exact one: {mean:.3}");
    assert!(mean < 0.9);
}

#[test]
fn many_anchors_converge_to_the_exact_divergence() {
    let codec = codec(15);
    let mut rng = rng(37);
    let truth = random_place(&mut rng);
    let e = noisy(&codec, truth, 0.6, 0.15, &mut rng);
    let exact = reverse_kl(&codec, &e, truth.to_unit());
    let grid = Grid::fibonacci(60_000).unwrap();
    let anchored = anchored_kl(&codec, &e, truth.to_unit(), &grid);
    assert!((exact.value - anchored.value).abs() < 1e-4 * exact.value, "{} {}", exact.value, anchored.value);
    assert!(cosine(&exact.gradient, &anchored.gradient) > 0.999_999);
}
