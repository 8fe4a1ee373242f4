//! PRDC against the PyPI package `prdc` (`scripts/eval_fixtures.py` wrote the numbers), densities by quadrature, and
//! intervals that hold the truth as often as they say: many worlds are drawn, each gets its interval.

use crate::eval::truths_in_densities;
use crate::eval::{Bootstrap, DistanceScores, Likelihood, Paired, Prdc, ReliabilityCurve, Rules, TruthInDensity};
use locdiff_shdd::{Codec, Coefficients, sphere::Degree, sphere::LatLon, sphere::UnitVec};
use locdiff_testing::fixture_bytes;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

fn places(list: &Value) -> Vec<LatLon> {
    let pair = |place: &Value| LatLon::new(place[0].as_f64().unwrap(), place[1].as_f64().unwrap()).unwrap();
    list.as_array().unwrap().iter().map(pair).collect()
}

#[track_caller]
fn assert_is(found: Prdc, expected: &Value, what: &str) {
    let Prdc { precision, recall, density, coverage } = found;
    for (name, value) in [("precision", precision), ("recall", recall), ("density", density), ("coverage", coverage)] {
        let expected = expected[name].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-12, "{what}, {name}: {value} for {expected}");
    }
}

#[test]
fn as_the_package_defines_it() {
    let fixture: Value = serde_json::from_slice(&fixture_bytes("eval/prdc.json")).unwrap();
    let (real, fake) = (places(&fixture["real"]), places(&fixture["fake"]));
    for k in [1, 3, 5] {
        let expected = &fixture["whole"][k.to_string()];
        assert_is(Prdc::new(&real, &fake, k).unwrap(), expected, &format!("k = {k}"));
    }
    let chunked = Prdc::chunked(&real, &fake, 3, 8).unwrap();
    assert_is(chunked, &fixture["chunks_8_k_3"], "in chunks");
}

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
    let sharp = truths_in_densities(&codec, &[codec.encode(truths[0])], &truths[..1]).unwrap()[0];
    assert!(sharp.region_level < 0.01 && sharp.log_density > 2.0 && sharp.region_area_km2 < 10_000.0, "{sharp:?}");
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
    let levels = |level: fn(&TruthInDensity) -> f64| found.iter().map(level).collect::<Vec<f64>>();
    for (what, levels) in [("region", levels(|f| f.region_level)), ("radius", levels(|f| f.radius_level))] {
        let calibration = ReliabilityCurve::of_levels(&levels);
        // 400 truths: a standard error of 2.5 points at most.
        assert!(calibration.largest_error < 0.075 && calibration.mean_absolute_error < 0.04, "{what}: {calibration:?}");
    }
    let nats = Likelihood::new(&levels(|f| f.log_density), &Bootstrap::default()).nats;
    assert!(nats.low < entropy && entropy < nats.high, "{nats:?} {entropy}");
}

const WORLDS: u64 = 400;
/// Of 400 worlds 380 should be covered, give or take 4.4; bootstrap intervals of 200 photos are a little short.
const LEAST: f64 = 0.915;
const MOST: f64 = 0.98;

/// Errors in km whose logarithm is uniform from 1 to e^10.
fn errors(n: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..n).map(|_| rng.random_range(0.0..10.0f64).exp()).collect()
}

#[test]
fn scores_are_covered() {
    let rules = Rules::default();
    let bootstrap = Bootstrap { replicates: 400, ..Bootstrap::default() };
    // What the distribution says itself: P(d < r) = ln r / 10, median e^5, and E[geoscore] by the midpoint rule.
    let share = |radius: f64| radius.ln() / 10.0;
    let steps = 20_000;
    let at = |k: i32| rules.geoscore((10.0 * (f64::from(k) + 0.5) / f64::from(steps)).exp());
    let geoscore = (0..steps).map(at).sum::<f64>() / f64::from(steps);
    let mut covered = [0u32; 4];
    for world in 0..WORLDS {
        let mut rng = ChaCha8Rng::seed_from_u64(world);
        let bootstrap = Bootstrap { seed: world, ..bootstrap.clone() };
        let scores = DistanceScores::new(&errors(200, &mut rng), rules, &bootstrap);
        let estimates = [
            (scores.radii[1].share, share(25.0)),
            (scores.radii[3].share, share(750.0)),
            (scores.median_km(), 5f64.exp()),
            (scores.geoscore, geoscore),
        ];
        for (count, (estimate, truth)) in covered.iter_mut().zip(estimates) {
            *count += u32::from(estimate.low <= truth && truth <= estimate.high);
        }
    }
    for (count, what) in covered.into_iter().zip(["25 km", "750 km", "median", "GeoScore"]) {
        let coverage = f64::from(count) / WORLDS as f64;
        println!("{what}: {coverage:.3} of {WORLDS} intervals hold the truth (95 % promised)");
        assert!((LEAST..=MOST).contains(&coverage), "{what}: {coverage}");
    }
}

/// Equally good systems are told apart in 1 world of 20 or fewer; a difference of 10 points is nearly always found.
#[test]
fn differences_are_found_and_not_invented() {
    let rules = Rules::default();
    let bootstrap = Bootstrap { replicates: 400, ..Bootstrap::default() };
    let (mut invented, mut covered, mut found) = (0, 0, 0);
    for world in 0..WORLDS {
        let mut rng = ChaCha8Rng::seed_from_u64(1000 + world);
        let base = errors(300, &mut rng);
        let mut other = |worse: f64| -> Vec<f64> {
            // A fifth of the photos are drawn again; the worse system loses a tenth of all.
            let own = |km: &f64| match rng.random_range(0.0..1.0) {
                0.0..0.2 => rng.random_range(0.0..10.0f64).exp(),
                chance if chance < 0.2 + worse => 19_000.0,
                _ => *km,
            };
            base.iter().map(own).collect()
        };
        let alike = Paired::new(&base, &other(0.0), rules, &bootstrap).unwrap();
        invented += u32::from(alike.radii[3].p_value < 0.05);
        let difference = alike.radii[3].difference;
        covered += u32::from(difference.low <= 0.0 && 0.0 <= difference.high);
        let worse = Paired::new(&base, &other(0.15), rules, &bootstrap).unwrap();
        found += u32::from(worse.radii[3].p_value < 0.05);
    }
    let share = |count: u32| f64::from(count) / WORLDS as f64;
    println!("invented {:.3}, covered {:.3}, found {:.3}", share(invented), share(covered), share(found));
    assert!(share(invented) < 0.075, "{invented}");
    assert!((LEAST..=MOST).contains(&share(covered)), "{covered}");
    assert!(share(found) > 0.9, "{found}");
}

/// Photos in forty regions that err alike: intervals over blocks hold the truth as often as they say, those over photos do not.
#[test]
fn regions_that_err_alike_are_covered_by_blocks() {
    let rules = Rules::default();
    let mut covered = [0u32; 2];
    for world in 0..WORLDS {
        let mut rng = ChaCha8Rng::seed_from_u64(world);
        let (mut places, mut errors) = (Vec::new(), Vec::new());
        for region in 0..40 {
            let is_easy = rng.random_bool(0.4);
            for k in 0..10 {
                let (lat, lon) = (f64::from(region / 8) * 15.0 + 1.0, f64::from(region % 8) * 15.0 + 1.0);
                places.push(LatLon::new(lat + 0.1 * f64::from(k), lon).unwrap());
                let is_right = rng.random_bool(if is_easy { 0.8 } else { 0.1 });
                errors.push(if is_right { 100.0 } else { 5000.0 });
            }
        }
        let by_photos = Bootstrap { replicates: 400, seed: world, ..Bootstrap::default() };
        for (count, bootstrap) in covered.iter_mut().zip([by_photos.by_places(&places), by_photos]) {
            let share = DistanceScores::new(&errors, rules, &bootstrap).radii[3].share;
            let truth = 0.4 * 0.8 + 0.6 * 0.1;
            *count += u32::from(share.low <= truth && truth <= share.high);
        }
    }
    let [blocks, photos] = covered.map(|count| f64::from(count) / WORLDS as f64);
    println!("blocks {blocks:.3}, photos {photos:.3} of {WORLDS} intervals hold the truth (95 % promised)");
    assert!((LEAST..=MOST).contains(&blocks), "{blocks}");
    assert!(photos < 0.75, "{photos}");
}
