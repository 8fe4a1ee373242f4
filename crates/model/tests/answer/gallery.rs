//! A gallery beside a model: it counts as much as it is worth, and what is said holds.

use locdiff_model::answer::{
    Calibration, Globe, Kernels, ModelOutput, Neighbour, Observation, ReadOptions, Reader, fit_gallery,
};
use locdiff_shdd::Coefficients;
use locdiff_shdd::sphere::{LatLon, UnitVec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

const DEGREE: usize = 7;

fn anywhere(random: &mut ChaCha8Rng) -> LatLon {
    LatLon::new(random.random_range(-60.0..60.0), random.random_range(-180.0..180.0)).unwrap()
}

/// Photos of which the model knows the continent and the gallery, where it is `useful`, the town.
fn photos(globe: &Globe, useful: bool, n: usize) -> Vec<Observation> {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    (0..n)
        .map(|_| {
            let truth = anywhere(&mut random);
            let near: UnitVec =
                truth.to_unit().step(random.random_range(-0.02..0.02), random.random_range(-0.02..0.02));
            let neighbours = (0..20)
                .map(|k| {
                    let place = if useful && k == 0 { near } else { anywhere(&mut random).to_unit() };
                    Neighbour { place, similarity: 0.9 - 0.01 * f64::from(k) }
                })
                .collect();
            let code = globe.codec().encode(truth);
            let evidence = code.combine(0.4, &code, 0.0).unwrap();
            Observation { evidence, truth, embedding: vec![0.0], group: 0, neighbours, places: None }
        })
        .collect()
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
    let shape = locdiff_model::answer::ModelShape { degree: DEGREE, embedding_dim: 1, encoder: None };
    assert_eq!(Calibration::load(folder.path(), &shape).unwrap(), Some(good));
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
        let total: f64 = answer.density().unwrap().point_log_density().iter().map(|v| v.exp()).sum::<f64>()
            * answer.density().unwrap().pixel_area_sr();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        assert_eq!(answer.best, answer.hypotheses[0].at);
        assert!(answer.hypotheses.iter().map(|h| h.probability).sum::<f64>() <= 1.0 + 1e-9);
        let of_gallery = answer
            .density()
            .unwrap()
            .gallery_mass_within_km(answer.best, answer.from_density.as_ref().unwrap().window_km)
            .unwrap();
        let of_all =
            answer.density().unwrap().mass_within_km(answer.best, answer.from_density.as_ref().unwrap().window_km);
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
    for width_km in [400.0, 3000.0, 20_000.0] {
        let places = (0..5).map(|k| (anywhere(&mut random).to_unit(), 1.0 + f64::from(k))).collect();
        let kernels = Kernels::new(places, width_km);
        let pixels = globe.pixels();
        let sum: f64 = kernels.log_densities(pixels.points()).into_iter().map(f64::exp).sum();
        assert!((sum * pixels.area_sr() - 1.0).abs() < 2e-3, "{width_km}: {}", sum * pixels.area_sr());
    }
}
