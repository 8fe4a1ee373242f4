//! A calibration finds what is wrong with a model, a gallery counts as much as it is worth, and densities say what holds.

use locdiff_model::answer::{Calibration, Factors, FitOptions, GalleryMix, Globe, KernelSettings, Kernels, LEVELS};
use locdiff_model::answer::{ModelOutput, ModelShape, Neighbour, Observation, OutOfDomain, Probe, ReadOptions, Reader};
use locdiff_model::answer::{Sureness, fit, fit_gallery};
use locdiff_shdd::{Coefficients, sphere::EARTH_RADIUS_KM, sphere::LatLon};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

const DEGREE: usize = 7;

/// Photos whose places are drawn from the densities that a calibrated model would give; the model shouts twice as loud.
fn observations(globe: &Globe, loud: f64, n: usize) -> Vec<Observation> {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let observation = |_| {
        let around = anywhere(&mut random);
        let strength = random.random_range(0.3..1.2);
        let exact = globe.codec().encode(around).as_slice().iter().map(|value| strength * value).collect();
        let code = Coefficients::new(exact).unwrap();
        let truth = globe.codec().density(&code).unwrap().sample(1, &mut random)[0].to_latlon();
        let evidence = code.combine(loud, &code, 0.0).unwrap();
        Observation { evidence, truth, embedding: vec![0.0], group: 0, neighbours: Vec::new(), places: None }
    };
    (0..n).map(observation).collect()
}

/// The model that the calibrations of these tests belong to.
fn shape(degree: usize) -> ModelShape<'static> {
    ModelShape { degree, embedding_dim: 1, encoder: None }
}

#[test]
fn a_loud_model_is_turned_down() {
    let (globe, flat) = (Arc::new(Globe::new(DEGREE).unwrap()), flat());
    let seen = observations(&globe, 2.0, 400);
    let found = fit(&globe, &flat, &seen, &[], FitOptions::default()).unwrap();
    assert!((found.factors.evidence - 0.5).abs() < 0.11, "{}", found.factors.evidence);
    let report = found.fit.as_ref().unwrap();
    // 400 photos: a standard error of 2.5 points at ½, and the largest of 18 deviations.
    assert!(report.worst_deviation() < 0.07, "{report:?}");
    assert!(report.nll_nats < report.background_nll_nats);
    // Radii say what holds by construction; here, where answers are calibrated, they need little help.
    for (level, said) in found.radius_levels.iter().zip(LEVELS) {
        let share = found.radius_share(*level, 0.0, Sureness::default());
        assert!((level - said).abs() < 0.08 && (share - said).abs() < 1e-9, "{found:?}");
    }
    assert!(
        fit(&globe, &flat, &seen[..10], &[], FitOptions::default()).unwrap_err().to_string().contains("50 or more")
    );

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
    let factors = |evidence, background_weight| Factors { evidence, background_weight, floor: 0.0, map_exponent: 0.0 };
    let [factors, other] = [factors(0.5, 0.25), factors(0.1, 2.0)];
    let probe = Probe { weights: vec![0.0], bias: 0.0 };
    let out_of_domain =
        Some(OutOfDomain { probe, factors: other, map_exponents: None, radius_levels: LEVELS, window_km: None });
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

fn anywhere(random: &mut ChaCha8Rng) -> LatLon {
    LatLon::new(random.random_range(-60.0..60.0), random.random_range(-180.0..180.0)).unwrap()
}

/// Photos of which the model knows the continent and the gallery, where it is `useful`, the town.
fn photos(globe: &Globe, useful: bool, n: usize) -> Vec<Observation> {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let photo = |_| {
        let truth = anywhere(&mut random);
        let near = truth.to_unit().step(random.random_range(-0.02..0.02), random.random_range(-0.02..0.02));
        let neighbour = |k| {
            let place = if useful && k == 0 { near } else { anywhere(&mut random).to_unit() };
            Neighbour { place, similarity: 0.9 - 0.01 * f64::from(k) }
        };
        let neighbours = (0..20).map(neighbour).collect();
        let code = globe.codec().encode(truth);
        let evidence = code.combine(0.4, &code, 0.0).unwrap();
        Observation { evidence, truth, embedding: vec![0.0], group: 0, neighbours, places: None }
    };
    (0..n).map(photo).collect()
}

fn flat() -> Coefficients {
    Coefficients::new(vec![0.0; (DEGREE + 1) * (DEGREE + 1)]).unwrap()
}

#[test]
fn a_gallery_counts_as_much_as_it_is_worth() {
    let globe = Arc::new(Globe::new(DEGREE).unwrap());
    let plain = Calibration::none(flat());
    let good = fit_gallery(&globe, &plain, &photos(&globe, true, 60), &[], "towns", 0.05).unwrap();
    let mix = good.gallery.clone().unwrap();
    assert!(mix.share >= 0.5 && mix.key == "towns" && mix.is_fitted(), "{mix:?}");
    let useless = fit_gallery(&globe, &plain, &photos(&globe, false, 60), &[], "noise", 0.05).unwrap();
    assert!(useless.gallery.as_ref().unwrap().share <= 0.1, "{useless:?}");
    assert!(mix.nll_nats < useless.gallery.as_ref().unwrap().nll_nats - 0.5);
    // OutOfDomain have a share of their own.
    let out_of_domain = photos(&globe, false, 50);
    let apart = fit_gallery(&globe, &plain, &photos(&globe, true, 60), &out_of_domain, "towns", 0.05).unwrap();
    let apart = apart.gallery.unwrap();
    assert!(apart.share >= 0.5 && apart.out_of_domain_share <= 0.1, "{apart:?}");
    assert!(apart.share_for(0.5) < apart.share && apart.share_for(0.5) > apart.out_of_domain_share);

    let folder = tempfile::tempdir().unwrap();
    good.save(folder.path()).unwrap();
    assert_eq!(Calibration::load(folder.path(), &shape(DEGREE)).unwrap(), Some(good));
    // A gallery that holds the very photos would be believed blindly.
    let mut same = photos(&globe, true, 60);
    for seen in &mut same {
        seen.neighbours[0] = Neighbour { place: seen.truth.to_unit(), similarity: 1.0 };
    }
    let error = fit_gallery(&globe, &plain, &same, &[], "same", 0.05).unwrap_err().to_string();
    assert!(error.contains("holds the photos that it is fitted on"), "{error}");
}

#[test]
fn one_mixed_density_is_read_for_everything() {
    let globe = Arc::new(Globe::new(DEGREE).unwrap());
    let calibration =
        fit_gallery(&globe, &Calibration::none(flat()), &photos(&globe, true, 60), &[], "towns", 0.05).unwrap();
    let mix = calibration.gallery.clone().unwrap();
    let reader = Reader::new(globe.clone(), calibration.with_gallery(mix)).unwrap();
    for seen in photos(&globe, true, 8) {
        let said = ModelOutput::new(&seen.evidence).with_neighbours(&seen.neighbours);
        let answer = reader.answer(said, None, &ReadOptions::default()).unwrap();
        let (density, window_km) = (answer.density().unwrap(), answer.from_density.as_ref().unwrap().window_km);
        let total = density.point_log_density().iter().map(|v| v.exp()).sum::<f64>() * density.pixel_area_sr();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        assert_eq!(answer.best, answer.hypotheses[0].at);
        assert!(answer.radius_50_km < answer.radius_90_km);
        assert!(answer.hypotheses.iter().map(|h| h.probability).sum::<f64>() <= 1.0 + 1e-9);
        let of_gallery = density.gallery_mass_within_km(answer.best, window_km).unwrap();
        let of_all = density.mass_within_km(answer.best, window_km);
        assert!(of_gallery > 0.0 && of_gallery <= of_all, "{of_gallery} {of_all}");
        // Without neighbours it is the model's own density.
        let alone = reader.answer(ModelOutput::new(&seen.evidence), None, &ReadOptions::default()).unwrap();
        assert!(alone.density().unwrap().gallery_mass_within_km(alone.best, 100.0).is_none());
        assert!(alone.radius_50_km > answer.radius_50_km);
    }
}

#[test]
fn kernels_integrate_to_one() {
    let globe = Globe::new(15).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(9);
    assert_eq!(Globe::new(23).unwrap().pixels().len(), 49_152);
    let mix = GalleryMix::unfitted(0.05, 750.0);
    assert!(!mix.is_fitted() && mix.share_for(1.0) < mix.share_for(0.0));
    let place = anywhere(&mut random).to_unit();
    // A Gaussian's height: 1 / (2π·σ²).
    let settings = KernelSettings { neighbours: 5, temperature: 0.05, width_km: 250.0 };
    let height = settings.kernels(&[Neighbour { place, similarity: 0.9 }]).density(place);
    assert!((height * std::f64::consts::TAU * (250.0 / EARTH_RADIUS_KM).powi(2) - 1.0).abs() < 1e-6);
    for width_km in [400.0, 3000.0, 20_000.0] {
        let places = (0..5).map(|k| (anywhere(&mut random).to_unit(), 1.0 + f64::from(k))).collect();
        let kernels = Kernels::new(places, width_km);
        let pixels = globe.pixels();
        let sum: f64 = kernels.log_densities(pixels.points()).into_iter().map(f64::exp).sum();
        assert!((sum * pixels.area_sr() - 1.0).abs() < 2e-3, "{width_km}: {}", sum * pixels.area_sr());
    }
}
