//! Intervals hold the truth as often as they say: many worlds are drawn, each gets its interval.

use locdiff_model::eval::{Bootstrap, DistanceScores, Paired, Rules};
use locdiff_shdd::sphere::LatLon;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WORLDS: u64 = 400;
/// Of 400 worlds 380 should be covered, give or take 4.4; bootstrap intervals of 200 photos are known to be a little
/// short.
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
    let geoscore =
        (0..steps).map(|k| rules.geoscore((10.0 * (f64::from(k) + 0.5) / f64::from(steps)).exp())).sum::<f64>()
            / f64::from(steps);
    let mut covered = [0u32; 4];
    for world in 0..WORLDS {
        let mut rng = ChaCha8Rng::seed_from_u64(world);
        let scores =
            DistanceScores::new(&errors(200, &mut rng), rules, &Bootstrap { seed: world, ..bootstrap.clone() });
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

/// Two systems that share most of their errors: equally good ones are told apart in 1 world of 20 or fewer, and a
/// difference of 10 points is nearly always found.
#[test]
fn differences_are_found_and_not_invented() {
    let rules = Rules::default();
    let bootstrap = Bootstrap { replicates: 400, ..Bootstrap::default() };
    let (mut invented, mut covered, mut found) = (0, 0, 0);
    for world in 0..WORLDS {
        let mut rng = ChaCha8Rng::seed_from_u64(1000 + world);
        let base = errors(300, &mut rng);
        let mut other = |worse: f64| -> Vec<f64> {
            // A fifth of the photos come out anew; the worse system loses a tenth of all.
            base.iter()
                .map(|km| {
                    let chance = rng.random_range(0.0..1.0);
                    if chance < 0.2 {
                        rng.random_range(0.0..10.0f64).exp()
                    } else if chance < 0.2 + worse {
                        19_000.0
                    } else {
                        *km
                    }
                })
                .collect()
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
                let (lat, lon) = (f64::from(region / 8) * 10.0 + 1.0, f64::from(region % 8) * 10.0 + 1.0);
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
