//! A calibration finds what is wrong with a model, and densities say what holds.

use locdiff_model::answer::{
    Calibration, Factors, Globe, LEVELS, ModelOutput, Observation, OutOfDomain, Probe, Sureness, fit,
};
use locdiff_shdd::{Coefficients, sphere::LatLon};
use rand::{RngExt, SeedableRng};
use std::sync::Arc;

const DEGREE: usize = 7;

/// Photos whose places are drawn from the densities that a calibrated model would give; the model shouts twice as loud.
fn observations(globe: &Globe, loud: f64, n: usize) -> Vec<Observation> {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    (0..n)
        .map(|_| {
            let around = LatLon::new(random.random_range(-60.0..60.0), random.random_range(-180.0..180.0)).unwrap();
            let strength = random.random_range(0.3..1.2);
            let exact: Vec<f64> =
                globe.codec().encode(around).as_slice().iter().map(|value| strength * value).collect();
            let code = Coefficients::new(exact).unwrap();
            let truth = globe.codec().density(&code).unwrap().sample(1, &mut random)[0].to_latlon();
            let evidence = code.combine(loud, &code, 0.0).unwrap();
            Observation { evidence, truth, embedding: vec![0.0], group: 0, neighbours: Vec::new(), places: None }
        })
        .collect()
}

/// The model that the calibrations of these tests belong to.
fn shape(degree: usize) -> locdiff_model::answer::ModelShape<'static> {
    locdiff_model::answer::ModelShape { degree, embedding_dim: 1, encoder: None }
}

#[test]
fn a_loud_model_is_turned_down() {
    let globe = Arc::new(Globe::new(DEGREE).unwrap());
    let flat = Coefficients::new(vec![0.0; (DEGREE + 1) * (DEGREE + 1)]).unwrap();
    let seen = observations(&globe, 2.0, 400);
    let found = fit(&globe, &flat, &seen, &[], 1, 0).unwrap();
    assert!((found.factors.evidence - 0.5).abs() < 0.11, "{}", found.factors.evidence);
    let report = found.fit.as_ref().unwrap();
    // 400 photos: a standard error of 2.5 points at ½, and the largest of 18 deviations.
    assert!(report.worst_deviation() < 0.07, "{report:?}");
    assert!(report.nll_nats < report.background_nll_nats);
    // Radii say what holds by construction; here, where answers are calibrated, they need little help.
    for (level, said) in found.radius_levels.iter().zip(LEVELS) {
        assert!(
            (level - said).abs() < 0.08 && (found.radius_share(*level, 0.0, Sureness::default()) - said).abs() < 1e-9,
            "{found:?}"
        );
    }
    assert!(fit(&globe, &flat, &seen[..10], &[], 1, 0).unwrap_err().to_string().contains("50 or more"));

    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Calibration::load(folder.path(), &shape(DEGREE)).unwrap(), None);
    found.save(folder.path()).unwrap();
    assert_eq!(Calibration::load(folder.path(), &shape(DEGREE)).unwrap(), Some(found));
    let other = Calibration::load(folder.path(), &shape(9)).unwrap_err().to_string();
    assert!(other.contains("locdiff calibrate"), "{other}");
}

/// Samples of `exp(e·Y)` tilted so are of the calibrated density; as many of another kind's as the photo probably is of one.
#[test]
fn tilts_turn_the_networks_density_into_the_calibrated_one() {
    let [said, nothing] = [0.7, -0.2].map(|value| Coefficients::new(vec![value; 16]).unwrap());
    let plain = Calibration::none(nothing.clone());
    let said = ModelOutput { ood: 0.25, ..ModelOutput::new(&said) };
    assert!(plain.tilts(said, 8).unwrap().is_empty());
    let [factors, other] = [(0.5, 0.25), (0.1, 2.0)].map(|(evidence, background_weight)| Factors {
        evidence,
        background_weight,
        floor: 0.0,
    });
    let probe = Probe { weights: vec![0.0], bias: 0.0 };
    let out_of_domain = Some(OutOfDomain { probe, factors: other, radius_levels: LEVELS });
    let tilts = Calibration { factors, out_of_domain, ..plain }.tilts(said, 8).unwrap();
    assert_eq!(tilts.len(), 8);
    for (sample, tilt) in tilts.iter().enumerate() {
        let own = if sample < 6 { factors } else { other };
        let natural = said.coefficients.combine(1.0, tilt, 1.0).unwrap();
        let wanted = said.coefficients.combine(own.evidence, &nothing, own.background_weight).unwrap();
        let apart = natural.combine(1.0, &wanted, -1.0).unwrap();
        assert!(apart.as_slice().iter().all(|value| value.abs() < 1e-12), "{sample}");
    }
}
