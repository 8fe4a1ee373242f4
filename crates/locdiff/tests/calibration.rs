//! A calibration finds what is wrong with a model, and densities say what holds.

use locdiff::{Calibration, Globe, Knowledge, LocateOptions, Locator, Observation, SampleOptions, fit};
use locdiff_model::{Model, ModelConfig};
use locdiff_nn::Device;
use locdiff_shdd::Coefficients;
use locdiff_sphere::LatLon;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;

const DEGREE: usize = 7;

/// Photos whose places are drawn from the densities that an honest model would give; the model shouts twice as loud.
fn observations(globe: &Globe, loud: f64, n: usize) -> Vec<Observation> {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    (0..n)
        .map(|_| {
            let around =
                LatLon::new(random.random_range(-60.0..60.0), random.random_range(-180.0..180.0)).unwrap();
            let strength = random.random_range(0.3..1.2);
            let honest: Vec<f64> =
                globe.codec().encode(around).as_slice().iter().map(|value| strength * value).collect();
            let code = Coefficients::new(honest.clone()).unwrap();
            let truth = globe.codec().density(&code).unwrap().sample(1, &mut random)[0].to_latlon();
            Observation { evidence: honest.iter().map(|value| loud * value).collect(), answer: around, truth }
        })
        .collect()
}

#[test]
fn a_loud_model_is_turned_down() {
    let globe = Globe::coarse(DEGREE).unwrap();
    let flat = vec![0.0; (DEGREE + 1) * (DEGREE + 1)];
    let seen = observations(&globe, 2.0, 400);
    let found = fit(&globe, &flat, &seen, 1, 0).unwrap();
    assert!((found.evidence - 0.5).abs() < 0.11, "{}", found.evidence);
    let report = found.fit.as_ref().unwrap();
    // 400 photos: a standard error of 2.5 points at ½, and the largest of 18 deviations.
    assert!(report.worst_deviation() < 0.07, "{report:?}");
    assert!(report.nll_nats < report.background_nll_nats);
    // Radii say what holds by construction; here, where answers are honest, they need little help.
    for (level, said) in found.radius_levels.iter().zip(locdiff::LEVELS) {
        assert!((level - said).abs() < 0.08 && (found.radius_share(*level) - said).abs() < 1e-9, "{found:?}");
    }
    assert!(fit(&globe, &flat, &seen[..10], 1, 0).unwrap_err().to_string().contains("50 or more"));

    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Calibration::load(folder.path(), DEGREE).unwrap(), None);
    found.save(folder.path()).unwrap();
    assert_eq!(Calibration::load(folder.path(), DEGREE).unwrap(), Some(found));
    let other = Calibration::load(folder.path(), 9).unwrap_err().to_string();
    assert!(other.contains("locdiff calibrate"), "{other}");
}

fn toy(calibration: Option<Calibration>) -> Locator {
    let config = ModelConfig { width: 16, ..ModelConfig::new(DEGREE, 5) };
    Locator::new((Model::new(&Device::cpu(), config).unwrap(), calibration), None).unwrap()
}

#[test]
fn answers_agree_with_their_densities() {
    let locator = toy(None);
    let options = LocateOptions {
        sampling: SampleOptions { samples: 4, steps: 5, ..SampleOptions::default() },
        ..LocateOptions::default()
    };
    let mut session = locator.session(options.clone()).unwrap();
    let findings = session.find(0, &[0.5, -1.0, 2.0, 0.0, 1.0]).unwrap();
    let (answer, density) = session.answer(&findings[0]).unwrap();
    let best = LatLon::new(answer.best.lat, answer.best.lon).unwrap();
    for (radius_km, share) in [(answer.radius_50_km, 0.5), (answer.radius_90_km, 0.9)] {
        let inside = density.mass_within_km(best, radius_km);
        assert!((inside - share).abs() < 0.02, "{radius_km}: {inside}");
    }
    assert!(answer.area_50_km2 < answer.area_90_km2 && answer.area_90_km2 < 5.2e8);
    let total: f64 = answer.hypotheses.iter().map(|h| h.probability).sum();
    assert!(answer.hypotheses[0].place == answer.best && total <= 1.0 + 1e-9, "{answer:?}");
    // The region's rim has the density that the region says, and what is denser holds its probability.
    let region = density.region(0.5);
    let denser = density.pixel_log_density().iter().filter(|v| **v >= region.log_density);
    let held: f64 = denser.map(|v| v.exp()).sum::<f64>() * locator.globe().pixels().area_sr();
    assert!((held - 0.5).abs() < 0.01, "{held}");
    assert!((answer.locatability - density.mass_within_km(best, 750.0)).abs() < 1e-12);
    assert!(answer.information_nats >= 0.0 && answer.can_tell);

    // Knowledge moves all of the probability; impossible knowledge is an error.
    let south = |weight: f64| {
        let known = Knowledge::new().weight(move |p| if p.lat_deg() < -30.0 { weight } else { 0.0 });
        LocateOptions { knowledge: Some(Arc::new(known)), ..options.clone() }
    };
    let session = locator.session(south(3.0)).unwrap();
    let (answer, density) = session.answer(&findings[0]).unwrap();
    assert!(answer.best.lat < -30.0);
    let north = LatLon::new(45.0, 0.0).unwrap();
    assert_eq!(density.log_density(&[north.to_unit()])[0], f64::NEG_INFINITY);
    let error = locator.session(south(0.0)).unwrap().answer(&findings[0]).unwrap_err();
    assert!(error.to_string().contains("no place is left"), "{error}");

    let views = LocateOptions { views: 5, ..options };
    assert!(locator.session(views).err().unwrap().to_string().contains("views 5"));
}

/// A calibration that scales nothing and adds nothing gives the network's own density, but for the floor.
#[test]
fn the_floor_is_the_least_density_anywhere() {
    let locator = toy(None);
    let options = SampleOptions { samples: 2, steps: 3, ..SampleOptions::default() };
    let mut session =
        locator.session(LocateOptions { sampling: options, ..LocateOptions::default() }).unwrap();
    let finding = session.find(0, &[3.0, -4.0, 2.0, 9.0, 1.0]).unwrap().remove(0);
    let (_, density) = session.answer(&finding).unwrap();
    let least = density.pixel_log_density().iter().copied().fold(f64::INFINITY, f64::min);
    let floor = (locator.calibration().floor / (4.0 * std::f64::consts::PI)).ln();
    assert!(least >= floor - 1e-9, "{least} {floor}");
    let total: f64 = density.pixel_log_density().iter().map(|v| v.exp()).sum::<f64>();
    assert!((total * locator.globe().pixels().area_sr() - 1.0).abs() < 1e-9);
}
