//! Likelihood and calibration of densities, by quadrature.

use locdiff_model::eval::{Bootstrap, Likelihood, ReliabilityCurve, truths_in_densities};
use locdiff_shdd::sphere::{Degree, LatLon, UnitVec};
use locdiff_shdd::{Codec, Coefficients};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

#[test]
fn the_uniform_density_has_its_known_figures() {
    let codec = Codec::new(Degree::new(23).unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let truths: Vec<LatLon> = (0..20).map(|_| UnitVec::random(&mut rng).to_latlon()).collect();
    let flat = vec![Coefficients::new(vec![0.0; 576]).unwrap(); truths.len()];
    let found = truths_in_densities(&codec, &flat, &truths).unwrap();
    let logs: Vec<f64> = found.iter().map(|f| f.log_density).collect();
    let likelihood = Likelihood::new(&logs, &Bootstrap::default());
    assert_eq!(format!("{:.3} {:.3}", likelihood.nats.value, likelihood.plonk), "2.531 1.217");
    assert!(found.iter().all(|f| (f.region_level - 0.5).abs() < 1e-9), "{found:?}");
}

/// Truths drawn from the densities: regions and radii are calibrated, and the likelihood is the entropy.
#[test]
fn densities_that_are_true_are_calibrated() {
    let codec = Codec::new(Degree::new(11).unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (mut codes, mut truths, mut entropy) = (Vec::new(), Vec::new(), 0.0);
    for _ in 0..40 {
        // Two places at once: not a plain bump.
        let [a, b] = [(); 2].map(|()| codec.encode(UnitVec::random(&mut rng).to_latlon()).into_vec());
        let mixed = a.iter().zip(&b).map(|(x, y)| 0.5 * x + 0.45 * y).collect();
        let code = Coefficients::new(mixed).unwrap();
        let density = codec.density(&code).unwrap();
        entropy += density.entropy() / 40.0;
        for place in density.sample(10, &mut rng) {
            codes.push(code.clone());
            truths.push(place.to_latlon());
        }
    }
    let found = truths_in_densities(&codec, &codes, &truths).unwrap();
    let levels = |level: fn(&locdiff_model::eval::TruthInDensity) -> f64| found.iter().map(level).collect::<Vec<f64>>();
    for (what, levels) in [("region", levels(|f| f.region_level)), ("radius", levels(|f| f.radius_level))] {
        let calibration = ReliabilityCurve::of_levels(&levels);
        // 400 truths: a standard error of 2.5 points at most.
        assert!(calibration.largest_error < 0.075 && calibration.mean_absolute_error < 0.04, "{what}: {calibration:?}");
    }
    let nats = Likelihood::new(&levels(|f| f.log_density), &Bootstrap::default()).nats;
    assert!(nats.low < entropy && entropy < nats.high, "{nats:?} {entropy}");
}
