//! Divergences and their gradients against brute-force quadrature and finite differences.

use crate::common::{self, codec, cosine, dot, noisy, random_place, rng};
use locdiff_shdd::sphere::{FieldPlan, Grid, LatLon, Rings, UnitVec};
use locdiff_shdd::{Codec, Coefficients, Divergence, Loss};

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
            let loss = |kind: Divergence| codec.divergence(&kind, &e, place.to_unit()).unwrap();
            let (reverse, forward, nll) =
                (loss(Divergence::ReverseKl), loss(Divergence::ForwardKl), loss(Divergence::Nll));
            let shift = |target: &[f64]| -> Vec<f64> { exact.mean.iter().zip(target).map(|(a, b)| a - b).collect() };
            let exact_nll = shift(&code);
            let exact_forward = shift(&codec.zonal().mean_parameters(&code));
            let size = dot(&code, &code).sqrt();
            for (kind, ours, reference) in [
                ("reverse", &reverse.gradient, &exact.reverse_gradient),
                ("forward", &forward.gradient, &exact_forward),
                ("nll", &nll.gradient, &exact_nll),
            ] {
                if dot(reference, reference).sqrt() < 1e-6 * size {
                    // A clean code: the gradient of both KLs vanishes, and so must ours.
                    assert!(dot(ours, ours).sqrt() < 1e-6 * size, "{name} {kind}");
                } else {
                    let cos = cosine(ours, reference);
                    let norm = (dot(ours, ours) / dot(reference, reference)).sqrt();
                    assert!(cos > 0.999_999 && (norm - 1.0).abs() < 1e-4, "L={l} {name} {kind}: {cos} {norm}");
                }
            }
            assert!((nll.value + dot(e.as_slice(), &code) - exact.log_z).abs() < 1e-6, "L={l} {name}: log Z");
            assert!((reverse.value - exact.reverse_value).abs() < 1e-5 * (1.0 + exact.reverse_value), "L={l} {name}");
            assert!(reverse.value > -1e-7 && forward.value > -1e-7, "KL must not be negative");
        }
    }
}

/// Central differences of the loss along random directions.
fn check_by_differences(codec: &Codec, kind: &Divergence, e: &Coefficients, truth: UnitVec, tolerance: f64) {
    let Loss { gradient, .. } = codec.divergence(kind, e, truth).unwrap();
    let mut rng = rng(23);
    for _ in 0..4 {
        let direction: Vec<f64> = (0..gradient.len()).map(|_| common::normal(&mut rng)).collect();
        let h = 1e-5;
        let at = |sign: f64| {
            let moved = e.as_slice().iter().zip(&direction).map(|(e, d)| e + sign * h * d).collect();
            codec.divergence(kind, &Coefficients::new(moved).unwrap(), truth).unwrap().value
        };
        let slope = (at(1.0) - at(-1.0)) / (2.0 * h);
        let expected = dot(&gradient, &direction);
        let scale = dot(&gradient, &gradient).sqrt().max(1e-9);
        assert!((slope - expected).abs() < tolerance * scale, "{kind:?}: {slope} {expected} {scale}");
    }
}

#[test]
fn gradients_match_finite_differences() {
    let codec = codec(15);
    let mut rng = rng(29);
    let truth = random_place(&mut rng);
    let e = noisy(&codec, truth, 0.7, 0.2, &mut rng);
    let anchors = Grid::uniform_random(2048, &mut rng).unwrap();
    use Divergence::{AnchoredReverseKl, Cosine, ForwardKl, L1, L2, Nll, ReverseKl};
    for kind in [ReverseKl, ForwardKl, Nll, AnchoredReverseKl(anchors), Cosine, L2, L1] {
        check_by_differences(&codec, &kind, &e, truth.to_unit(), 1e-3);
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
        let exact = codec.divergence(&Divergence::ReverseKl, &e, truth.to_unit()).unwrap();
        let grid = Grid::uniform_random(2048, &mut rng).unwrap();
        let anchored = codec.divergence(&Divergence::AnchoredReverseKl(grid), &e, truth.to_unit()).unwrap();
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
    let exact = codec.divergence(&Divergence::ReverseKl, &e, truth.to_unit()).unwrap();
    let grid = Grid::fibonacci(60_000).unwrap();
    let anchored = codec.divergence(&Divergence::AnchoredReverseKl(grid), &e, truth.to_unit()).unwrap();
    assert!((exact.value - anchored.value).abs() < 1e-4 * exact.value, "{} {}", exact.value, anchored.value);
    assert!(cosine(&exact.gradient, &anchored.gradient) > 0.999_999);
}

#[test]
fn simple_losses_have_their_closed_forms() {
    let codec = codec(7);
    let truth = LatLon::new(1.0, 2.0).unwrap();
    let double = noisy(&codec, truth, 2.0, 0.0, &mut rng(1));
    let loss = |kind| codec.divergence(&kind, &double, truth.to_unit()).unwrap();
    assert!(loss(Divergence::Cosine).value.abs() < 1e-12);
    // Every code has RMS 1/√4π, and the difference to its double is the code itself.
    assert!((loss(Divergence::L2).value - 1.0 / (4.0 * std::f64::consts::PI)).abs() < 1e-12);
    assert!(loss(Divergence::L1).value > 0.0);
    let zero = Coefficients::new(vec![0.0; 64]).unwrap();
    assert!(codec.divergence(&Divergence::Cosine, &zero, truth.to_unit()).is_err());
}
